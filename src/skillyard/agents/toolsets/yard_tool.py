"""Tools whose errors tell a model what it can do itself: a yard's own advice names commands, or routes of its API."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from skillyard.agents.tool import Answer, Tool, tool_of
from skillyard.errors import SkillyardError

_TOOLS: Final = {
    "sandbox create --profile browser-python": 'create_sandbox with profile "browser-python"',
    "sandbox create": "create_sandbox",
    "sandbox ls": "list_sandboxes",
    "sandbox files download": "download_file",
    "sandbox files upload": "upload_file",
    "sandbox files ls": "list_files",
    "sandbox history": "get_execution_history",
    "registry list": "list_skills",
    "registry versions": "list_skill_versions",
    "registry agents skills": "get_agent_skills",
    "registry agents list": "list_agents",
    "registry history": "get_skill_history",
    "registry namespaces list": "whoami",
    "registry whoami": "whoami",
    "release replay": "replay_skill_candidate",
    "release list": "list_skill_releases",
    "release candidates": "list_skill_candidates",
    "learn show": "show_feedback",
    "learn feedback": "give_feedback",
}
"""What does the same as a command. Of two that begin alike the longer is named first."""
_ROUTES: Final = {
    r"GET /v1/sandboxes/[\w-]+/history": "get_execution_history",
    r"GET /v1/cargos": "list_sandboxes",
    r"GET /v1/skills/runs": "list_skill_runs",
    r"POST /v1/skills/payloads": "create_skill_payload",
}
"""What does the same as a route."""
_OF_THE_API: Final = "/openapi.json"
"""Names what only a program of the API looks into: what a tool takes is told with the tool."""
_COMMAND: Final = re.compile(rf"`?skillyard (?P<words>{'|'.join(map(re.escape, _TOOLS))})(?![\w-])[^;.,`]*`?")


def yard_tool(
    function: Callable[..., Any],
    *,
    also: Mapping[str, str] | None = None,
    **options: Any,  # noqa: ANN401 -- those of `tool_of`
) -> Tool:
    """A function as a tool, whose errors name other tools where they would name commands.

    `also` has other names of arguments, which programs send that were written for another server.
    """
    tool = tool_of(function, **options)

    def call(**arguments: Any) -> Answer:  # noqa: ANN401 -- whatever a model sends
        for other, own in (also or {}).items():
            if arguments.get(own) is None and other in arguments:
                arguments[own] = arguments.pop(other)
        try:
            return tool.call(**arguments)
        except SkillyardError as error:
            error.hint = for_models(error.hint)
            raise

    return replace(tool, call=call)


def for_models(hint: str) -> str:
    """Advice with the names of tools instead of commands and routes; what no tool stands for is left as it is."""
    if _OF_THE_API in hint:
        return ""
    told = _COMMAND.sub(lambda match: _TOOLS[match["words"]], hint)
    for route, tool in _ROUTES.items():
        told = re.sub(rf"`?{route}(?![\w/-])`?", tool, told)
    return told
