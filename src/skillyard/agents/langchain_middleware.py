"""Skills for agents of LangChain and deepagents: the list in their prompt, tools, and what became of their use.

agent = create_agent(model, middleware=[SkillyardMiddleware(LibrarySource(library))])
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, NotRequired

from skillyard.agents.extra import missing_extra

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels import UntrackedValue  # pyright: ignore[reportMissingTypeStubs] -- it has types, but says not so
from langgraph.runtime import Runtime

from skillyard.agents.changes import SkillChanges
from skillyard.agents.langchain_prompts import last_request, with_section
from skillyard.agents.langchain_sessions import Loads, SessionState, counted_in_session, in_session, session_of
from skillyard.agents.langchain_tools import langchain_tools
from skillyard.agents.materialise import Place
from skillyard.agents.outcomes import Judge, Report, recorded_by, verdict_of
from skillyard.agents.skill_prompt import LOAD, SkillPrompt, Turn, known_of
from skillyard.agents.source import Found, SkillSource
from skillyard.agents.toolsets.skills import five_tools
from skillyard.errors import SkillyardError
from skillyard.search.catalog import BUDGET
from skillyard.skill.bundle import SKILL_FILE
from skillyard.usage.events import UsageKind

_log: Final = logging.getLogger(__name__)
SEARCH: Final = "search_skills"
_LOADING: Final = frozenset({"load_skill", "skill"})
_READING: Final = "read_file"
_READ: Final = "read `{0}NAME/SKILL.md` with `read_file` (`limit=1000`), where NAME is its name in the list,"


class SkillyardState(SessionState):
    """What an agent knows about skills."""

    skills_known: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """What it was shown, and in which state that was."""
    skills_changed: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    """What it is told about changes in this turn: the turn, and what was added, removed, updated."""
    skills_section: NotRequired[Annotated[str, UntrackedValue(str, guard=False), PrivateStateAttr]]
    """What stands in its prompt now; never kept, for it can be written again."""


class SkillyardMiddleware(AgentMiddleware[SkillyardState, Any]):
    """The skills of a source for an agent.

    Before each answer the prompt has a list of at most `budget` characters, what fits the user's last message first,
    `pins` before all; and what was added, removed or updated since the last turn, also while the agent works.

    The agent loads skills with tools, and runs their scripts in `place`, by default on this machine. Where it has
    skills as files (see `mounted`), `files` says at which path: then it reads them there, and its only tool searches.

    Uses are counted by conversation: shown, loaded, and, where a `judge` can tell from the state at the end of a turn,
    how the task went. `report` says who is told of that; by default the source counts it.
    """

    state_schema = SkillyardState

    def __init__(
        self,
        source: SkillSource,
        *,
        budget: int = BUDGET,
        pins: Sequence[str] = (),
        files: str | None = None,
        place: Place | None = None,
        agent: str = "",
        judge: Judge | None = None,
        report: Report | None = None,
    ) -> None:
        super().__init__()
        self._source = source
        self._agent = agent
        self._files = None if files is None else f"/{files.strip('/')}/"
        load = LOAD if self._files is None else _READ.format(self._files)
        self._prompt = SkillPrompt(source, budget=budget, pins=pins, load=load)
        self._judge = judge
        self._report = report or recorded_by(source, agent=agent)
        self._counting = ThreadPoolExecutor(1, thread_name_prefix="skill-uses")
        self._loads = Loads()
        tools = five_tools(counted_in_session(source, self._loads), agent=agent, place=place)
        self.tools = langchain_tools(each for each in tools if self._files is None or each.name == SEARCH)

    def close(self) -> None:
        """Wait until what was shown is counted."""
        self._counting.submit(tuple).result()

    def before_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ANN401 -- as there
        return self._look(state, runtime)

    async def abefore_model(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:  # noqa: ANN401 -- as there
        return await asyncio.to_thread(self._look, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._told(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(await asyncio.to_thread(self._told, request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:  # noqa: ANN401 -- as there
        with in_session(request.state):
            return handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:  # noqa: ANN401 -- as there
        with in_session(request.state):
            return await handler(request)

    def after_agent(self, state: Any, runtime: Runtime[Any]) -> None:  # noqa: ANN401, ARG002 -- as there
        try:
            self._tell_outcome(state)
        except Exception:  # noqa: BLE001 -- the agent has its answer, which is worth more than a verdict about it
            _log.exception("How a task went could not be judged or told.")

    async def aafter_agent(self, state: Any, runtime: Runtime[Any]) -> None:  # noqa: ANN401 -- as there
        await asyncio.to_thread(self.after_agent, state, runtime)

    def _look(self, state: Mapping[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        session = session_of(state, runtime)
        at = _turn_of(state["messages"])
        earlier = self._still_to_tell(state) if _changed(state).get("turn") == at else None
        turn = self._prompt.turn(last_request(state["messages"]), known_of(state.get("skills_known")), earlier)
        self._counting.submit(self._count_shown, turn, session)
        seen = {
            "skill_session": session,
            "skills_section": turn.section,
            "skills_changed": {"turn": at, "changes": turn.changes.as_dict()},
            "skills_known": turn.known,
        }
        # What is written is kept with every step of the conversation.
        return {key: value for key, value in seen.items() if value is not None and value != state.get(key)}

    def _still_to_tell(self, state: Mapping[str, Any]) -> SkillChanges:
        """What it was told of changes in this turn, less that it should load again what it has just loaded."""
        told = told_changes(state)
        try:
            loaded = {skill.id for skill in self._loaded(_last_step(state["messages"]))} if told.updated else set[str]()
        except SkillyardError:
            return told
        return told.less_updated(loaded)

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """The request with what the model is told about skills."""
        section: str | None = request.state.get("skills_section")
        if section is None:  # the agent goes on from where it was interrupted
            known = known_of(request.state.get("skills_known"))
            section = self._prompt.turn(last_request(request.messages), known).section
        if not section:
            return request
        return request.override(system_message=with_section(request.system_message, section))

    def _tell_outcome(self, state: Mapping[str, Any]) -> None:
        verdict = verdict_of(self._judge(state)) if self._judge is not None else None
        if verdict is not None:
            session: str = state.get("skill_session") or ""
            for skill in self._loaded(_since_request(state["messages"])):
                self._report(self._loads.loaded(session, skill), verdict, session)

    def _count_shown(self, turn: Turn, session: str) -> None:
        try:
            shown = [found for found in map(self._source.find, turn.new) if found is not None]
            self._source.record_all(UsageKind.SHOWN, shown, session=session, agent=self._agent)
        except SkillyardError:
            return  # to be counted is worth less than to be answered

    def _loaded(self, messages: Sequence[AnyMessage]) -> list[Found]:
        """The skills that were loaded in this part of a conversation, as they are now."""
        found = (self._source.find(name) for name in self._names_loaded(messages))
        return list({skill.id: skill for skill in found if skill is not None}.values())

    def _names_loaded(self, messages: Sequence[AnyMessage]) -> Iterator[str]:
        done = {each.tool_call_id for each in messages if isinstance(each, ToolMessage) and each.status != "error"}
        for message in messages:
            for call in message.tool_calls if isinstance(message, AIMessage) else ():
                if call["id"] in done:
                    yield from self._name_in(call["name"], call["args"])

    def _name_in(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        if tool in _LOADING:
            yield from (value for value in arguments.values() if isinstance(value, str))
        elif tool == _READING and self._files is not None:
            path = PurePosixPath(str(arguments.get("file_path", "")))
            if path.name == SKILL_FILE and str(path).startswith(self._files):
                yield str(path.parent).removeprefix(self._files)


def told_changes(state: Mapping[str, Any]) -> SkillChanges:
    """What an agent is told about changes in this turn."""
    changes: Mapping[str, Sequence[str]] = _changed(state).get("changes", {})
    return SkillChanges(**{kind: tuple(ids) for kind, ids in changes.items()})


def _changed(state: Mapping[str, Any]) -> dict[str, Any]:
    return state.get("skills_changed") or {}


def _turn_of(messages: Sequence[AnyMessage]) -> str:
    """What tells one turn from another: the message that began it."""
    asked = [message for message in messages if isinstance(message, HumanMessage)]
    return (asked[-1].id or str(len(asked))) if asked else ""


def _since_request(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    start = max((at for at, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
    return messages[start:]


def _last_step(messages: Sequence[AnyMessage]) -> Sequence[AnyMessage]:
    """What the agent said last, and what its tools answered."""
    start = max((at for at, message in enumerate(messages) if isinstance(message, AIMessage)), default=len(messages))
    return messages[start:]
