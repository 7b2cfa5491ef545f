"""Answers on their way to a client, less the one that it has already."""

from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse


class Unanswered:
    """The stream to a client; the first answer to the request that was answered before goes no further."""

    def __init__(self, sending: Any, answered: str | int | None) -> None:  # noqa: ANN401 -- the streams of the SDK have no public type
        self._sending = sending
        self._answered = answered

    async def send(self, item: SessionMessage) -> None:
        message = item.message
        if (
            self._answered is not None
            and isinstance(message, JSONRPCResponse | JSONRPCError)
            and message.id == self._answered
        ):
            self._answered = None
            return
        await self._sending.send(item)

    async def aclose(self) -> None:
        await self._sending.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()
