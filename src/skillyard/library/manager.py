"""The skills of one folder for an agent's tools: list, search and read them, and reach their files."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from skillyard.config.files import home_folder
from skillyard.config.paths import config_dir
from skillyard.errors import InputError, NotFoundError, SkillyardError
from skillyard.library.assets import SCRIPTS, as_text, list_assets, locate_asset, read_asset
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import index_dir
from skillyard.library.regular import read_regular
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches, switched_off
from skillyard.search.catalog import BUDGET, PromptCatalog, Shape
from skillyard.skill.library import Catalog, Problem, SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.names import nearest_name
from skillyard.skill.paths import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.library.searching import SkillSearch

README: Final = """\
# Skills

Every folder in here that holds a `SKILL.md` is a skill: instructions an agent loads when it needs them.

    my-skill/
      SKILL.md       frontmatter with `name` and `description`, then the instructions
      references/    texts to read when needed
      assets/        templates and other material
      scripts/       programs to run

The format is the open Agent Skills format: https://agentskills.io/specification

Start one with `skillyard init my-skill`, check them all with `skillyard validate -r .`
"""


class FoundSkill(TypedDict):
    """What a search tells of a skill."""

    name: str
    description: str


class SkillsManager:
    """The skills of a folder. Without one: the `skills` folder of `DOCUMENT_ROOT` or of Skillyard's home.

    What is missing or not allowed is answered with a text that a model can act on, or raised with `errors="raise"`.
    """

    def __init__(
        self,
        skills_root: str | Path | None = None,
        *,
        switches: SwitchSource | None = None,
        errors: Literal["text", "raise"] = "text",
    ) -> None:
        self.skills_root = default_skills_root() if skills_root is None else Path(skills_root).expanduser().absolute()
        self._raises = errors == "raise"
        self._library = WithSwitches(
            FolderLibrary(self.skills_root, index_dir=index_dir(home_folder())),
            SwitchesFile(config_dir()) if switches is None else switches,
            root=self.skills_root,
        )
        self._search: SkillSearch | None = None
        if skills_root is None:
            # On first use people find out where skills go; a disk that cannot be written to just has none yet.
            with suppress(OSError):
                self.ensure_root()

    def list_skills(self) -> list[str]:
        """The names of all skills: those of their folders."""
        return [entry.id for entry in self._library.catalog().entries]

    def get_skill_content(self, name: str) -> str:
        """The whole `SKILL.md` of a skill, frontmatter and instructions."""
        return self._answer(lambda: self._content(self._find(name)))

    def search_skills(self, query: str, n: int = 5) -> list[FoundSkill]:
        """The `n` skills that fit a query best, none when none fits; without a query the first `n`."""
        if query.strip():
            entries = [match.entry for match in self._searching().search(query, limit=n).best]
        else:
            entries = list(self._library.catalog().entries[: max(n, 0)])
        return [FoundSkill(name=entry.id, description=entry.description) for entry in entries]

    def catalog(
        self,
        query: str = "",
        budget: int = BUDGET,
        *,
        pins: Sequence[str] = (),
        format: str = Shape.XML,  # noqa: A002 -- the name it has everywhere
    ) -> PromptCatalog:
        """The skills as a text for a prompt of at most `budget` characters, what fits the query first.

        `format` is `xml` for a system prompt, `markdown` for the description of a tool.
        """
        return self._searching().catalog(query, budget=budget, pins=pins, shape=Shape.named(format))

    def get_skill_asset(self, skill_name: str, relative_path: str) -> str:
        """The text of a file below `references/`, `assets/` or `scripts/` of a skill."""
        return self._answer(lambda: read_asset(self._find(skill_name), relative_path))

    def get_skill_script_path(self, skill_name: str, script_name: str) -> str:
        """The absolute path of a file below `scripts/` of a skill, to be run."""
        return self._answer(lambda: self._script_path(self._find(skill_name), script_name))

    def list_skill_assets(self, skill_name: str) -> list[str]:
        """The files below `references/`, `assets/` and `scripts/` of a skill, as relative paths."""
        try:
            return list_assets(self._find(skill_name))
        except SkillyardError:
            if self._raises:
                raise
            return []

    def ensure_root(self) -> Path:
        """The folder, made if it was not there; an empty one gets a README that says what goes in."""
        self.skills_root.mkdir(parents=True, exist_ok=True)
        if not any(self.skills_root.iterdir()):
            (self.skills_root / "README.md").write_text(README, encoding="utf-8")
        return self.skills_root

    def _answer(self, ask: "Callable[[], str]") -> str:
        try:
            return ask()
        except SkillyardError as error:
            if self._raises:
                raise
            kind = "Not found" if isinstance(error, NotFoundError) else "Invalid"
            return f"{kind}: {error.message} {error.hint}".rstrip()

    def _content(self, entry: SkillEntry) -> str:
        # The listing only holds skill files that are in the root, by themselves or through a link.
        return as_text(read_regular(os.path.realpath(entry.location), MAX_SKILL_MD_BYTES), errors="replace")

    def _script_path(self, entry: SkillEntry, script_name: str) -> str:
        name = script_name.replace("\\", "/").removeprefix("./").removeprefix(f"{SCRIPTS}/")
        locate_asset(entry, f"{SCRIPTS}/{name}")
        return str(Path(entry.location).parent / SCRIPTS / name)

    def _searching(self) -> "SkillSearch":
        # The search engine takes longer to import than most calls take.
        from skillyard.library.searching import SkillSearch, search_folder  # noqa: PLC0415

        if self._search is None:
            self._search = SkillSearch(self._library, search_folder(home_folder(), [str(self.skills_root)]))
        return self._search

    def _find(self, name: str) -> SkillEntry:
        catalog = self._library.catalog()
        entry = catalog.find(name.strip())
        if entry is None:
            raise self._explained(name.strip(), catalog)
        return entry

    def _explained(self, name: str, catalog: Catalog) -> NotFoundError | InputError:
        for problem in catalog.problems:
            if problem.id.casefold() == name.casefold():
                return _broken(problem)
        off = switched_off(name, self._library.disabled)
        if off is not None:
            return off
        ids = [entry.id for entry in catalog.entries]
        near = nearest_name(name.casefold(), ids)
        hint = f"Did you mean {near!r}?" if near else _what_there_is(ids)
        return NotFoundError(
            f"There is no skill {printable(name)!r} in {self.skills_root}.",
            hint=hint,
            details={"field": "skill", "value": name, "nearest": near},
        )


def default_skills_root() -> Path:
    """`skills` in `DOCUMENT_ROOT` (or the setting of that name), else in Skillyard's home."""
    from skillyard.config.load import load_settings  # noqa: PLC0415 -- settings bring in pydantic

    settings = load_settings()
    return (settings.document_root or settings.home) / "skills"


def _broken(problem: Problem) -> InputError:
    reasons = " ".join(finding.message for finding in problem.findings)
    fixes = " ".join(dict.fromkeys(finding.fix for finding in problem.findings if finding.fix))
    return InputError(
        f"{problem.id!r} cannot be used as a skill: {reasons}",
        hint=fixes,
        details={"path": problem.location, "findings": [finding.as_dict() for finding in problem.findings]},
    )


def _what_there_is(names: list[str]) -> str:
    if not names:
        return "There are no skills here yet; start one with: skillyard init NAME"
    shown = names[:10]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"There are: {', '.join(shown)}{more}."
