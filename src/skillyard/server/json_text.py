"""Refuses JSON that no database can keep: zero bytes, halves of characters, numbers that are none, masses of values."""

import asyncio
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from skillyard.errors import InputError, LimitError, SkillyardError
from skillyard.server.asgi import App, Message, Receive, Scope, Send, header, refuse

MAX_VALUES: Final = 100_000
"""Millions of empty lists fit into a body, and take a hundred times its memory when they are read."""
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_APART_FROM: Final = 64 * 1024
"""Bodies of this size are looked through beside the event loop."""
_ZERO_BYTE: Final = "holds a zero byte (\\u0000)"
_TEXT_OR_COMMA: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|,', re.DOTALL)


class StorableJson:
    """Checks every JSON body once, so that no room has to."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY or not _is_json(scope):
            await self.app(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return  # nobody is there any more
        error = await asyncio.to_thread(json_problem, body) if len(body) >= _APART_FROM else json_problem(body)
        if error is not None:
            await refuse(scope, send, error)
            return
        await self.app(scope, replay(body, receive), send)


async def read_body(receive: Receive) -> bytes | None:
    """The whole body of a request, or None if the client went away before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body that was read already, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def json_problem(body: bytes) -> SkillyardError | None:
    """What makes a body unfit to be kept; a body that is no JSON at all is left to whoever reads it."""
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return InputError(
            f"The body is no UTF-8 (byte {error.start}).", hint="Send JSON in UTF-8.", details={"byte": error.start}
        )
    if _has_masses(body):
        return LimitError(
            f"The body has more than {MAX_VALUES:,} values.",
            hint="Send less at once.",
            details={"limit": MAX_VALUES},
        )
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        problem = _value_problem(value)
        if problem:
            return _unfit(path, problem)
        for key, item in _children(value):
            problem = _value_problem(key)
            if problem:
                return _unfit(path, f"has a key that {problem}")
            waiting.append(((*path, key), item))
    return None


def _has_masses(body: bytes) -> bool:
    """Whether there are more commas between values than values may be; those in texts do not count."""
    if body.count(b",") < MAX_VALUES:
        return False
    commas = 0
    for found in _TEXT_OR_COMMA.finditer(body):
        commas += found[0] == b","
        if commas >= MAX_VALUES:
            return True
    return False


def _children(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- any JSON
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        yield from ((str(index), item) for index, item in enumerate(cast("list[Any]", value)))


def _value_problem(value: object) -> str:
    if isinstance(value, str):
        if "\0" in value:
            return _ZERO_BYTE
        try:
            value.encode()
        except UnicodeEncodeError:
            return "holds half of a character (a lone surrogate)"
    elif isinstance(value, float) and not math.isfinite(value):
        return "is no number that JSON knows"
    return ""


def _unfit(path: tuple[str, ...], problem: str) -> InputError:
    field = ".".join(path) or "body"
    return InputError(
        f"The field {field!r} {problem}.",
        hint="Remove it; bytes that are no text go into content_base64.",
        details={"field": field, **({"reason": "null_byte"} if problem == _ZERO_BYTE else {})},
    )


def _is_json(scope: Scope) -> bool:
    # As text, like FastAPI does: it takes more for a blank than bytes know.
    kind = (header(scope, b"content-type") or b"").decode("latin-1").partition(";")[0].strip().lower()
    # FastAPI takes a body without a type as JSON.
    return not kind or kind == "application/json" or kind.endswith("+json")
