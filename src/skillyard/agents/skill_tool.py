"""The `skill` tool: one tool that puts any skill to use, and whose description says which there are."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Final, TypedDict

from skillyard.agents.changes import SkillChanges, changes_between
from skillyard.agents.materialise import OnThisMachine, Place
from skillyard.agents.missing import NoSkillError
from skillyard.agents.source import Found, SkillFile, SkillSource, markdown_catalog, require
from skillyard.agents.text import names_within
from skillyard.agents.tool import Tool, told, tool_of
from skillyard.errors import InputError, SkillyardError
from skillyard.search.catalog import BUDGET, MIN_BUDGET, check_budget, count_note
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.document import parse
from skillyard.skill.paths import printable
from skillyard.skill.prompt import one_line, without_tags
from skillyard.usage.events import UsageKind

NAME: Final = "skill"
BASE_DESCRIPTION: Final = "Execute a skill."
"""What the tool says when there are no skills."""
_TITLE: Final = "Execute a skill"
_LIST: Final = " Available skills:\n"
_FRAME: Final = len(f"{BASE_DESCRIPTION} {_LIST}")
"""What the description has beside the list, less the line that becomes part of it."""
_RESOURCES: Final = 2_000
"""Characters of the list of a skill's files."""
_NEAREST: Final = 50
_SHOWN_NAME: Final = 100


class SkillResult(TypedDict):
    """What came of calling the tool."""

    success: bool
    output: str
    error: str


class SkillTool:
    """The tool for one conversation: `tool` before each query, and `changes` for what changed since.

    `budget` is what the description may take in characters, `start` its first words, and `place` where the agent runs
    scripts.
    """

    def __init__(
        self,
        source: SkillSource,
        *,
        budget: int = BUDGET,
        pins: Sequence[str] = (),
        session: str = "",
        agent: str = "",
        place: Place | None = None,
        start: str = BASE_DESCRIPTION,
    ) -> None:
        self.source = source
        self._start = start
        self._frame = len(f"{start} {_LIST}")
        """What the description has beside the list, less the line that becomes part of it."""
        self._budget = _checked(budget)
        self._pins = tuple(pins)
        self._session = session
        self._agent = agent
        self._place = place or OnThisMachine()
        self._lock = threading.Lock()
        self._known: Mapping[str, str] | None = None

    def tool(self, query: str = "") -> Tool:
        """The tool as it is now, what fits the query first in its description."""
        with self._lock:
            if self._known is None:
                self._known = self.source.snapshot()  # what is shown first is what changes are told from
        return self.described_tool(query)

    def described_tool(self, query: str = "") -> Tool:
        """The same, for whoever does not ask what changed."""
        return replace(self.base_tool(), description=self.description(query), shorter=partial(self._described, query))

    def base_tool(self) -> Tool:
        """The tool that names no skill, for which nothing is asked of the source."""
        return tool_of(self.skill, name=NAME, description=BASE_DESCRIPTION, title=_TITLE)

    def description(self, query: str = "") -> str:
        """What a model reads: the skills that there are now, within the budget."""
        return self._described(query, self._budget)

    def skill(self, skill: Annotated[str, "The id or the name of the skill to execute."]) -> SkillResult:
        """Execute a skill: its instructions, where its files are, and which it has."""
        try:
            found = require(self.source, skill)
            output = skill_text(self.source, found, self._place)
        except NoSkillError as error:
            return _failed(self._not_found(skill.strip(), error))
        except SkillyardError as error:
            return _failed(told(error))
        self.source.record(UsageKind.LOADED, found, session=self._session, agent=self._agent)
        return SkillResult(success=True, output=output, error="")

    def changes(self) -> SkillChanges:
        """The skills that were added, removed or updated since this was asked before, or since the first `tool`."""
        with self._lock:
            before, after = self._known, self.source.snapshot()
            self._known = after
        return SkillChanges() if before is None or before is after else changes_between(before, after)

    def _described(self, query: str, budget: int) -> str:
        catalog = markdown_catalog(
            self.source, query, budget=max(_checked(budget) - self._frame, MIN_BUDGET), pins=self._pins
        )
        if not catalog.total:
            return BASE_DESCRIPTION
        # How many there are comes first: some clients cut the end off a description.
        note = count_note(len(catalog.shown), catalog.total)
        skills = catalog.text.removesuffix(f"\n{note}")
        start = self._start if len(catalog.shown) == catalog.total else f"{self._start} {note}."
        return f"{start}{_LIST}{skills}"

    def _not_found(self, name: str, error: NoSkillError) -> str:
        start = f"Skill not found: {printable(name[:_SHOWN_NAME])}."
        if not error.total:
            return f"{start} {error.hint}"
        head = f"{start} Available skills: "
        nearest = self.source.nearest(name, _NEAREST)
        return head + names_within(nearest, error.total, self._budget - len(head))


def create_skill_tool_with_description(
    source: SkillSource,
    query: str = "",
    *,
    budget: int = BUDGET,
    session: str = "",
    agent: str = "",
    place: Place | None = None,
) -> Tool:
    """The tool as it is now, for whoever makes a new one for each query and does not ask what changed."""
    return SkillTool(source, budget=budget, session=session, agent=agent, place=place).described_tool(query)


def skill_text(source: SkillSource, found: Found, place: Place | None = None) -> str:
    """A skill as it is put to use: the instructions without their frontmatter, its folder, and its files."""
    document = parse(source.file(found, SKILL_FILE)).document
    resources = [file for file in source.files(found) if file.path != SKILL_FILE]
    parts = [
        _base(source, found, place or OnThisMachine()) if resources or source.folder(found) else "",
        document.body.strip() if document else source.text(found),
        _listed(resources) if resources else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _checked(budget: int) -> int:
    if budget < MIN_BUDGET + _FRAME:
        raise InputError(
            f"The description of the tool cannot have {budget:,} characters.",
            hint=f"Give it {MIN_BUDGET + _FRAME} or more.",
            details={"field": "budget", "value": budget, "limit": MIN_BUDGET + _FRAME},
        )
    return check_budget(budget)


def _base(source: SkillSource, found: Found, place: Place) -> str:
    try:
        folder = place.folder(source, found)
    except SkillyardError:
        return ""
    return f"Base directory of this skill: {printable(folder)}"


def _listed(files: Sequence[SkillFile]) -> str:
    """The files, one on each line, as many as have room."""
    lines = ["Files of this skill:"]
    room = _RESOURCES
    for number, file in enumerate(files):
        line = f"- {without_tags(one_line(file.path))}"
        room -= len(line) + 1
        if room < 0:
            lines.append(f"and {len(files) - number:,} more; list_skill_assets shows them")
            break
        lines.append(line)
    return "\n".join(lines)


def _failed(error: str) -> SkillResult:
    return SkillResult(success=False, output="", error=error)
