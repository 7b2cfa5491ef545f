"""Telling a yard which skills are used, beside the work and never in its way."""

from hashlib import sha256
from typing import Any, Final

from skillyard.agents.telling import Telling
from skillyard.remote.client import YardClient
from skillyard.skill.paths import printable
from skillyard.usage.events import UsageKind

_WORD: Final = 128
_DETAIL: Final = 2_000


class Uses:
    """Uses on their way to a yard."""

    def __init__(self, client: YardClient) -> None:
        self._telling = Telling[dict[str, Any]](client.report_usage)

    def add(
        self,
        kind: UsageKind,
        skill: str,
        *,
        version: str = "",
        session: str = "",
        agent: str = "",
        detail: str = "",
        once: bool = False,
    ) -> None:
        """One more; `skill` is its id or full name in the yard. `once`, it counts only once in a session."""
        same = sha256(repr((session, agent, kind.value, skill, version)).encode("utf-8", "surrogatepass")).hexdigest()
        event = use_document(kind, skill, version=version, session=session, agent=agent, detail=detail)
        self._telling.add({**event, "id": same if once and session else None})

    def flush(self, timeout: float | None = None) -> None:
        """Wait until all that was added is told, or could not be."""
        self._telling.flush(timeout)


def use_document(
    kind: UsageKind, skill: str, *, version: str = "", session: str = "", agent: str = "", detail: str = ""
) -> dict[str, Any]:
    """A use as it is told to a yard."""
    return {
        "skill": skill,
        "event": kind.value,
        "version": printable(version)[:_WORD],
        "session": printable(session)[:_WORD],
        "agent": printable(agent)[:_WORD],
        "detail": printable(detail)[:_DETAIL],
    }
