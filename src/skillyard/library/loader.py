"""Loading the skills of an environment again and again, and telling what changed in between."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from skillyard.config.files import home_folder
from skillyard.config.paths import config_dir
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import index_dir
from skillyard.library.revisions import Revisions
from skillyard.library.switches import SwitchesFile, SwitchSource, WithSwitches

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.skill.library import Catalog, Problem


_new_info = cast("Callable[[type[SkillInfo], tuple[str, ...]], SkillInfo]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]
"""Makes one of the fields that it shares with an entry, without the cost of a call in Python."""


class SkillInfo(NamedTuple):
    """What an environment tells of a skill."""

    id: str
    """The name of its folder."""
    name: str
    description: str
    path: str
    """The absolute path of its `skill.md` or `SKILL.md`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What is different since the last look."""

    added: tuple[SkillInfo, ...] = ()
    removed: tuple[SkillInfo, ...] = ()
    updated: tuple[SkillInfo, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.updated)


class SkillLoader:
    """The skills in a folder that are on. One that cannot be read is left out and told in `problems`."""

    def __init__(self, skills_dir: str | Path, *, switches: SwitchSource | None = None) -> None:
        self.skills_dir = Path(skills_dir)
        self._folder = FolderLibrary(self.skills_dir, index_dir=index_dir(home_folder()))
        self.library = WithSwitches(
            self._folder,
            SwitchesFile(config_dir()) if switches is None else switches,
            root=self.skills_dir,
        )
        self.problems: tuple[Problem, ...] = ()
        self._catalog: Catalog | None = None
        self._known: dict[str, SkillInfo] = {}
        self._revisions = Revisions()
        self._numbers: dict[str, int] = {}

    def load_all(self) -> list[SkillInfo]:
        """All skills, by id. Quick when little changed since the last call."""
        self.refresh()
        return list(self.known)

    @property
    def known(self) -> tuple[SkillInfo, ...]:
        """The skills as they were at the last look."""
        return tuple(self._known.values())

    def refresh(self) -> Changes:
        """Look again, and tell what is different; a change of any file of a skill is one too."""
        catalog = self.library.catalog()
        if catalog is self._catalog:
            return Changes()
        self._catalog = catalog
        self.problems = tuple(catalog.problems)
        before, numbers = self._known, self._numbers
        self._known = {entry[0]: _new_info(SkillInfo, entry[:4]) for entry in catalog.entries}
        self._numbers = self._revisions.look(catalog.entries, self._folder.stamps())
        infos = self._known.items()
        if not before:
            return Changes(added=self.known)
        return Changes(
            added=tuple(info for skill_id, info in infos if skill_id not in before),
            removed=tuple(info for skill_id, info in before.items() if skill_id not in self._known),
            updated=tuple(
                info for skill_id, info in infos if skill_id in before and self._numbers[skill_id] != numbers[skill_id]
            ),
        )
