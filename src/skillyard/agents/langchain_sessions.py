"""Which conversation a use of a skill belongs to."""

import uuid
from collections import OrderedDict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, Final, NotRequired, cast

from langchain.agents import AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langgraph.config import get_config
from langgraph.runtime import Runtime

from skillyard.agents.source import Found, SkillSource
from skillyard.usage.events import UsageKind

_LONGEST: Final = 128
_LOADS: Final = 1_000
"""Skills that conversations loaded which are remembered, the latest of them."""
_CURRENT: Final[ContextVar[str]] = ContextVar("skill_session", default="")


class SessionState(AgentState[Any]):
    """Under which name uses of skills are counted."""

    skill_session: NotRequired[Annotated[str, PrivateStateAttr]]
    """The thread of the conversation, or a name of its own."""


def session_of(state: Mapping[str, Any], runtime: Runtime[Any]) -> str:
    """The session of a conversation: what it was before, the id of its thread, or a new one."""
    known: str = state.get("skill_session") or ""
    thread = runtime.execution_info.thread_id if runtime.execution_info else None
    return known or (str(thread)[:_LONGEST] if thread else f"run-{uuid.uuid4().hex}")


@contextmanager
def in_session(state: Mapping[str, Any]) -> Generator[None]:
    """While a tool is called for this conversation."""
    token = _CURRENT.set(state.get("skill_session") or "")
    try:
        yield
    finally:
        _CURRENT.reset(token)


class Loads:
    """Which state of each skill a conversation loaded last: by the time that its task is done, there may be another."""

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[str, str], Found] = OrderedDict()

    def put(self, session: str, found: Found) -> None:
        self._found[session, found.id] = found
        while len(self._found) > _LOADS:
            self._found.popitem(last=False)

    def loaded(self, session: str, now: Found) -> Found:
        """The skill as it was loaded; as it is now, where that is no longer known."""
        return self._found.get((session, now.id), now)


def counted_in_session(source: SkillSource, loads: Loads | None = None) -> SkillSource:
    """A source that counts uses for the conversation whose tool is called: one set of tools serves many of them.

    What is loaded is also kept in `loads`.
    """
    return cast("SkillSource", _InSession(source, loads))


class _InSession:
    def __init__(self, source: SkillSource, loads: Loads | None) -> None:
        self._source = source
        self._loads = loads

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the source has
        return getattr(self._source, name)

    def record(self, kind: UsageKind, found: Found, *, session: str = "", agent: str = "", detail: str = "") -> None:
        belongs_to = session or current_session()
        if kind is UsageKind.LOADED and self._loads is not None:
            self._loads.put(belongs_to, found)
        self._source.record(kind, found, session=belongs_to, agent=agent, detail=detail)


def current_session() -> str:
    """The conversation for which a tool is called: as a middleware of ours says, else by its thread."""
    known = _CURRENT.get()
    if known:
        return known
    try:
        thread = get_config().get("configurable", {}).get("thread_id")
    except RuntimeError:  # no agent is at work
        return ""
    return str(thread or "")[:_LONGEST]
