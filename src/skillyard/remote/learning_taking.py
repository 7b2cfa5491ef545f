"""Feedback that a connected agent takes from a yard, to decide itself what is learned from it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from skillyard.remote.connection import Connection


class TakingClient:
    """One agent at work; `worker` is its name, by which the yard knows who has what."""

    def __init__(self, connection: Connection, worker: str) -> None:
        self._connection = connection
        self._worker = worker

    def take_next(self, *, seconds: int = 900) -> dict[str, Any] | None:
        """The oldest piece of feedback that nobody works on, with the agents that it can be for."""
        return self._send("/feedback/take", seconds=seconds)

    def give(self, feedback_id: str, matches: Mapping[str, str]) -> list[dict[str, Any]]:
        """Say what each agent should learn; the lessons that this begins."""
        return self._send(f"/feedback/{quote(feedback_id, safe='')}/matches", matches=dict(matches))

    def call(self, lesson_id: str, tool: str, arguments: Mapping[str, Any]) -> str:
        """Use one of the tools of a lesson."""
        path = f"/lessons/{quote(lesson_id, safe='')}/tools/{quote(tool, safe='')}"
        return self._send(path, arguments=dict(arguments))

    def finish(self, feedback_id: str, *, reason: str = "") -> dict[str, Any]:
        """Be done with it."""
        return self._send(f"/feedback/{quote(feedback_id, safe='')}/finish", reason=reason)

    def give_back(self, feedback_id: str) -> dict[str, Any]:
        """Let others work on it."""
        return self._send(f"/feedback/{quote(feedback_id, safe='')}/give-back")

    def _send(self, path: str, **fields: Any) -> Any:  # noqa: ANN401 -- JSON
        return self._connection.send("POST", path, body={"worker": self._worker, **fields})["data"]
