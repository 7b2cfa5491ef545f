"""Lines of a client that are no messages: each is answered, so that nobody waits for what was never understood."""

import json
from types import TracebackType
from typing import Any, Final, Self, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError
from mcp_types.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from pydantic import ValidationError

_NO_JSON: Final = "json_invalid"


class Messages:
    """The messages among what a client sends; what is none is answered and goes no further."""

    def __init__(self, receiving: Any, sending: Any) -> None:  # noqa: ANN401 -- the streams of the SDK have no public type
        self._receiving = receiving
        self._sending = sending

    @property
    def last_context(self) -> Any:  # noqa: ANN401 -- as the stream behind has it
        return self._receiving.last_context

    async def receive(self) -> SessionMessage:
        while isinstance(item := await self._receiving.receive(), Exception):
            if (answer := refusal(item)) is not None:
                await self._sending.send(SessionMessage(answer))
        return item

    async def aclose(self) -> None:
        await self._receiving.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that could not be read, to the request in it where one can be made out.

    A blank line asks for nothing, and gets none.
    """
    problem = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
    if problem is not None and problem["type"] != _NO_JSON:
        return _answer(None, INVALID_REQUEST, "This line is no message of JSON-RPC 2.0.")
    line = str(problem["input"]) if problem else ""
    if problem is not None and not line.strip():
        return None
    return _answer(_request_in(line), PARSE_ERROR, "This line is no JSON in UTF-8.")


def _answer(request: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=message))


def _request_in(line: str) -> str | int | None:
    """The id of a request in what only a lenient reader takes: one with half a character in it, for instance."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    fields = cast("dict[str, object]", message) if isinstance(message, dict) else {}
    given = fields.get("id") if "method" in fields else None
    return given if isinstance(given, str | int) and not isinstance(given, bool) else None
