"""Which tools a client sees: those of the toolsets that it asked for."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillyard.agents.materialise import Place
from skillyard.agents.skill_tool import BASE_DESCRIPTION, SkillTool
from skillyard.agents.skill_tool import NAME as SKILL
from skillyard.agents.source import SkillSource
from skillyard.agents.tool import Tool
from skillyard.agents.toolsets.names import SKILLS
from skillyard.agents.toolsets.of_yards import YardToolsets
from skillyard.agents.toolsets.skills import five_tools
from skillyard.errors import UnavailableError
from skillyard.server.mcp.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillyard.remote.client import YardClient


_START: Final = "Execute a skill: instructions for a task."
"""Some clients show a model only the first line until it asks for more."""


def skill_tool(
    source: SkillSource, wanted: Wanted, *, session: str = "", agent: str = "", place: Place | None = None
) -> SkillTool:
    """The tool `skill` of one client."""
    return SkillTool(source, budget=wanted.budget, session=session, agent=agent, place=place, start=_START)


class Toolbox:
    """The tools of one client. What `skill` says changes with the skills there are.

    What they use is counted for `session` and `agent`. `place` is where scripts of skills can be run, and `local` a
    folder of the machine that the client works on. `settle` waits until uses are counted.
    """

    def __init__(
        self,
        source: SkillSource,
        wanted: Wanted,
        *,
        yard: "Callable[[], YardClient]",
        session: str = "",
        agent: str = "",
        place: Place,
        local: Path | None = None,
        settle: "Callable[[], None] | None" = None,
    ) -> None:
        self._source = source
        self._toolsets = wanted.toolsets
        self._yard = yard
        self._session = session
        self._agent = agent
        self._place = place
        self._local = local
        self._settle = settle
        self._skill = skill_tool(source, wanted, session=session, agent=agent, place=place)

    def tools(self) -> dict[str, Tool]:
        """All of them as they are now, by name."""
        tools = dict(self._made)
        if SKILLS in self._toolsets:
            tools[SKILL] = replace(tools[SKILL], description=self._described())
        return tools

    def named(self, name: str) -> Tool | None:
        """The tool of that name, to be called."""
        return self._made.get(name)

    def _described(self) -> str:
        try:
            return self._skill.description()
        except UnavailableError:
            # Many clients list tools once: they have them when the yard is back.
            return BASE_DESCRIPTION

    @cached_property
    def _made(self) -> dict[str, Tool]:
        """Of two tools of one name, that of the toolset named first."""
        yards = YardToolsets(
            self._yard,
            source=self._source,
            session=self._session,
            agent=self._agent,
            local=self._local,
            settle=self._settle,
        )
        made: dict[str, Tool] = {}
        for name in self._toolsets:
            if name == SKILLS:
                five = five_tools(
                    self._source, session=self._session, agent=self._agent, place=self._place, yard=self._yard
                )
                tools = [*five, self._skill.base_tool()]
            else:
                tools = yards.tools(name)
            for tool in tools:
                made.setdefault(tool.name, tool)
        return made
