"""The one `skill` tool for agents of LangChain: its description is the list of skills, written anew for each answer."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from skillyard.agents.extra import missing_extra

try:
    from langchain.agents.middleware import ModelRequest
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from langchain_core.tools import BaseTool

from skillyard.agents.langchain_middleware import SEARCH, SkillyardMiddleware, told_changes
from skillyard.agents.langchain_prompts import last_request, with_section
from skillyard.agents.langchain_sessions import counted_in_session
from skillyard.agents.langchain_tools import langchain_tool
from skillyard.agents.materialise import Place
from skillyard.agents.outcomes import Judge, Report
from skillyard.agents.skill_prompt import notice_of, notice_room
from skillyard.agents.skill_tool import NAME, SkillTool
from skillyard.agents.source import SkillSource
from skillyard.errors import SkillyardError
from skillyard.search.catalog import BUDGET, OTHERS

_log: Final = logging.getLogger(__name__)


class SkillToolMiddleware(SkillyardMiddleware):
    """One tool in place of a list in the prompt and five tools; the rest is as for `SkillyardMiddleware`.

    Its description and what is told of changes have at most `budget` characters together. Only where that has no room
    for all skills, `search_skills` is there for the others.
    """

    def __init__(
        self,
        source: SkillSource,
        *,
        budget: int = BUDGET,
        pins: Sequence[str] = (),
        place: Place | None = None,
        agent: str = "",
        judge: Judge | None = None,
        report: Report | None = None,
    ) -> None:
        super().__init__(source, budget=budget, pins=pins, agent=agent, judge=judge, report=report)
        self._notice_room = notice_room(budget)
        counted = counted_in_session(source, self._loads)
        self._skill = SkillTool(counted, budget=budget, pins=pins, agent=agent, place=place)
        self._beside_notice = SkillTool(counted, budget=budget - self._notice_room, pins=pins, agent=agent, place=place)
        searching = (tool for tool in self.tools if tool.name == SEARCH)
        self.tools = [langchain_tool(self._skill.base_tool()), *searching]

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        notice = notice_of(told_changes(request.state), self._notice_room)
        skill = self._beside_notice if notice else self._skill
        try:
            fresh = langchain_tool(skill.tool(last_request(request.messages)))
        except SkillyardError as error:
            _log.warning("The skills could not be listed: %s", error.message)
        else:
            has_all = OTHERS not in fresh.description.partition("\n")[0]
            tools = [fresh if _is_called(tool, NAME) else tool for tool in request.tools]
            request = request.override(tools=[tool for tool in tools if not (has_all and _is_called(tool, SEARCH))])
        return request.override(system_message=with_section(request.system_message, notice)) if notice else request


def _is_called(tool: BaseTool | dict[str, Any], name: str) -> bool:
    return isinstance(tool, BaseTool) and tool.name == name
