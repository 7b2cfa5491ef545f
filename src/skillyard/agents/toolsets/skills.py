"""The `skills` toolset, which every agent gets: finding skills, loading them, and reaching their files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final, TypedDict

from pydantic import Field

from skillyard.agents.materialise import InSandbox, OnThisMachine, Place
from skillyard.agents.skill_tool import create_skill_tool_with_description
from skillyard.agents.source import HITS, Found, SkillSource, require
from skillyard.agents.tool import Tool, tool_of
from skillyard.agents.toolsets.bounds import window
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.errors import CapabilityError, InputError, NotAllowedError, SkillyardError
from skillyard.library.assets import ASSET_FOLDERS, SCRIPTS, as_text, no_file, require_asset
from skillyard.search.catalog import BRIEF, BUDGET
from skillyard.skill.limits import MAX_DESCRIPTION
from skillyard.skill.paths import printable
from skillyard.skill.prompt import shortened
from skillyard.usage.events import UsageKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.remote.client import YardClient

MAX_FOUND: Final = 50
"""Skills that one search may tell of."""
MAX_ASSETS: Final = 20_000
"""Characters of the paths that one list may have."""

SkillName = Annotated[str, Field(description="The id or the name of a skill, in any case.", max_length=400)]


class FoundSkill(TypedDict):
    """What a search tells of a skill."""

    name: str
    """What it is loaded by."""
    description: str


class SkillTools:
    """The five tools over one source, as plain functions.

    What is loaded is counted for `session` and `agent`; `place` is where the agent runs scripts, unless it names a
    sandbox, which is one of the `yard`.
    """

    def __init__(
        self,
        source: SkillSource,
        *,
        session: str = "",
        agent: str = "",
        place: Place | None = None,
        yard: "Callable[[], YardClient] | None" = None,
    ) -> None:
        self.source = source
        self._session = session
        self._agent = agent
        self._place = place or OnThisMachine()
        self._yard = yard

    def load_skill(self, skill_name: SkillName) -> str:
        """Load a skill: the whole SKILL.md, with the instructions to follow. Load it before you do what it is for."""
        found = require(self.source, skill_name)
        text = self.source.text(found)
        self._record(UsageKind.LOADED, found)
        return text

    def search_skills(
        self,
        query: Annotated[str, "What has to be done, in some words or as a whole task, in any language."],
        n: Annotated[int, Field(description="At most so many.", ge=1, le=MAX_FOUND)] = HITS,
    ) -> list[FoundSkill]:
        """Find skills that fit a task, best first; none when none fits. Then load the one that you choose."""
        if not query.strip():
            raise InputError(
                "The query is empty.", hint="Say in some words what has to be done.", details={"field": "query"}
            )
        limit = min(MAX_DESCRIPTION, max(BRIEF, BUDGET // n))
        return [
            FoundSkill(name=hit.skill.id, description=shortened(hit.skill.description, limit))
            for hit in self.source.search(query, n)
        ]

    def load_skill_asset(
        self,
        skill_name: SkillName,
        relative_path: Annotated[str, "Below references/, assets/ or scripts/ of the skill: references/GUIDE.md"],
        offset: Annotated[int, Field(description="Where to begin, in characters.", ge=0)] = 0,
    ) -> str:
        """Read a file of a skill as text: a reference, a template, a script."""
        found = require(self.source, skill_name)
        path = self._asset(found, relative_path)
        data = self.source.file(found, path)
        try:
            text = as_text(data, errors="strict")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise InputError(
                f"{printable(path)!r} of the skill {found.id!r} is not a text ({len(data):,} bytes).",
                hint=self._other_way(found, path),
                details={"skill": found.id, "field": "relative_path", "value": path},
            )
        return window(text, offset)

    def get_skill_script_path(
        self,
        skill_name: SkillName,
        script_name: Annotated[str, "A file below scripts/ of the skill: compare.py"],
        sandbox_id: Annotated[str, "A sandbox to run it in: the skill is put there, and the path is that in it."] = "",
    ) -> str:
        """The absolute path of a script of a skill, to be run where you run commands. It must not be changed."""
        found = require(self.source, skill_name)
        name = script_name.replace("\\", "/").removeprefix("./").removeprefix(f"{SCRIPTS}/")
        path = require_asset(found.id, f"{SCRIPTS}/{name}")
        if sandbox_id:
            found, folder = self._sandbox(sandbox_id).delivered(self.source, found)
            self._require_script(found, path)
        else:
            self._require_script(found, path)
            folder = self._place.folder(self.source, found)
        self._record(UsageKind.ACTIVATED, found)
        return f"{folder}/{path}"

    def list_skill_assets(
        self,
        skill_name: SkillName,
        folder: Annotated[str, "Only what is below this folder, such as references or scripts."] = "",
    ) -> list[str]:
        """List the files of a skill that can be read or run: those below references/, assets/ and scripts/."""
        found = require(self.source, skill_name)
        tops = tuple(f"{top}/" for top in ASSET_FOLDERS)
        below = f"{folder.strip().strip('/')}/" if folder.strip().strip("/") else ""
        if below and not below.startswith(tops):
            raise NotAllowedError(
                f"{printable(folder)!r} is none of the folders that skills share files in.",
                hint=f"Choose one of: {', '.join(ASSET_FOLDERS)}; or leave it out.",
                details={"field": "folder", "value": folder[:200]},
            )
        paths = [file.path for file in self.source.files(found) if file.path.startswith(below or tops)]
        return _within(found, paths)

    def _asset(self, found: Found, relative_path: str) -> str:
        try:
            return require_asset(found.id, relative_path)
        except NotAllowedError as error:
            # Many skills keep references beside SKILL.md, and their instructions name them.
            path = relative_path.replace("\\", "/").removeprefix("./")
            if any(file.path == path for file in self.source.files(found)):
                error.hint += f" {self._whereabouts(found, path)}"
            raise

    def _whereabouts(self, found: Found, path: str) -> str:
        try:
            return f"This one is at {self._place.folder(self.source, found)}/{path}"
        except SkillyardError:
            return "read_skill_document reads any other, where you have it."

    def _sandbox(self, sandbox_id: str) -> InSandbox:
        if self._yard is None:
            raise CapabilityError(
                "There are no sandboxes here.", hint="Leave sandbox_id out.", details={"field": "sandbox_id"}
            )
        return InSandbox(self._yard(), sandbox_id)

    def _require_script(self, found: Found, path: str) -> None:
        scripts = [file.path for file in self.source.files(found) if file.path.startswith(f"{SCRIPTS}/")]
        if path not in scripts:
            raise no_file(found.id, path, scripts, "scripts")

    def _record(self, kind: UsageKind, found: Found) -> None:
        self.source.record(kind, found, session=self._session, agent=self._agent)

    def _other_way(self, found: Found, path: str) -> str:
        try:
            return f"Use the file itself: {self._place.folder(self.source, found)}/{path}"
        except CapabilityError:
            return (
                "Only texts can be read here; read_skill_document gives bytes with include_base64, where you have it."
            )


def skills_tools(
    source: SkillSource,
    *,
    session: str = "",
    agent: str = "",
    place: Place | None = None,
    yard: "Callable[[], YardClient] | None" = None,
    budget: int = BUDGET,
    query: str = "",
) -> list[Tool]:
    """The five tools and `skill`, whose description tells of what there is now, what fits the query first."""
    skill = create_skill_tool_with_description(source, query, budget=budget, session=session, agent=agent, place=place)
    return [*five_tools(source, session=session, agent=agent, place=place, yard=yard), skill]


def five_tools(
    source: SkillSource,
    *,
    session: str = "",
    agent: str = "",
    place: Place | None = None,
    yard: "Callable[[], YardClient] | None" = None,
) -> list[Tool]:
    """The tools that are the same whatever skills there are: nothing is asked of the source before they are used."""
    tools = SkillTools(source, session=session, agent=agent, place=place, yard=yard)
    return [
        tool_of(tools.load_skill, title="Load a skill"),
        tool_of(tools.search_skills, title="Search skills"),
        tool_of(tools.load_skill_asset, title="Read a file of a skill"),
        yard_tool(tools.get_skill_script_path, title="Find a script of a skill"),
        tool_of(tools.list_skill_assets, title="List the files of a skill"),
    ]


def _within(found: Found, paths: Sequence[str]) -> list[str]:
    size = sum(len(path) + 4 for path in paths)
    if size > MAX_ASSETS:
        raise InputError(
            f"The {len(paths):,} files of {found.id!r} are too many to be listed at once.",
            hint=f"List one folder of it: {', '.join(_folders(paths))}.",
            details={"field": "folder", "value": len(paths), "limit": MAX_ASSETS},
        )
    return list(paths)


def _folders(paths: Sequence[str]) -> list[str]:
    """The folders that the files are in, a few of them."""
    return sorted({path.rpartition("/")[0] for path in paths})[:20]
