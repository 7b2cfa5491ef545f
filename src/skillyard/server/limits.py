"""Sizes that no request may exceed, each refused with a clear answer."""

import contextlib
from typing import Final, TypeAlias

from skillyard.errors import InputError, LimitError, SkillyardError, UsageError
from skillyard.server.asgi import App, Message, Receive, Scope, Send, refuse

MAX_BODY: Final = 20 * 1024 * 1024
MAX_TARGET: Final = 32 * 1024
"""Bytes of path and query: a reason in any script has room, at nine bytes a letter."""
MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
_ONCE: Final = frozenset({b"host", b"authorization", b"content-length", b"content-type", b"idempotency-key"})
"""Headers of which two would leave open which one counts."""
_LENGTH_DIGITS: Final = 15

_Refusal: TypeAlias = tuple[int, SkillyardError]


class _TooLargeError(Exception):
    """The body went on beyond the limit; whoever was reading it must stop."""


class RequestLimits:
    """Refuses targets, headers and bodies that are too large or ambiguous, bodies also while they arrive."""

    def __init__(self, app: App, *, max_body: int = MAX_BODY) -> None:
        self.app = app
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = _target_problem(scope) or self._header_problem(scope)
        if refusal is not None:
            await refuse(scope, send, refusal[1], status=refusal[0])
        elif scope.get("method") in {"GET", "HEAD"} and not _announces_body(scope):
            await self.app(scope, receive, send)
        else:
            await self._counted(scope, receive, send)

    def _header_problem(self, scope: Scope) -> _Refusal | None:
        count = size = 0
        seen: set[bytes] = set()
        for name, value in scope["headers"]:
            count += 1
            size += len(name) + len(value)
            if name in _ONCE:
                if name in seen:
                    return 400, _repeated(name)
                seen.add(name)
                if name == b"content-type" and _odd_charset(value):
                    return 422, InputError("A form must be UTF-8.", hint="Leave the charset out of its type.")
                if name == b"content-length" and not value.isdigit():
                    return 400, UsageError(f"Content-Length is no number: {value.decode('latin-1')!r}.")
                if name == b"content-length" and (len(value) > _LENGTH_DIGITS or int(value) > self._max_body):
                    return 413, self._too_large()
        if count > MAX_HEADERS or size > MAX_HEADER_BYTES:
            return 431, _too_many_headers(count, size)
        return None

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = 0
        exceeded = started = False

        async def count(limit: int = self._max_body) -> Message:
            nonlocal received, exceeded
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                exceeded = True
                raise _TooLargeError
            return message

        async def answer(message: Message) -> None:
            nonlocal started
            # Frameworks turn the error of a reader into an answer of their own; ours says what is wrong.
            if not exceeded or started:
                started = True
                await send(message)

        with contextlib.suppress(_TooLargeError):
            await self.app(scope, count, answer)
        if exceeded and not started:
            await refuse(scope, send, self._too_large(), extra=((b"connection", b"close"),))

    def _too_large(self) -> LimitError:
        return LimitError(
            f"The body of the request is larger than {self._max_body} bytes.",
            hint="Send less: leave out files that the skill does not need.",
            details={"limit": self._max_body},
        )


def _target_problem(scope: Scope) -> _Refusal | None:
    query = scope["query_string"]
    size = len(scope.get("raw_path") or scope["path"]) + len(query)
    if size > MAX_TARGET:
        return 414, LimitError(
            f"The path and query have {size} bytes; at most {MAX_TARGET} are taken.",
            hint="Send long text in the body.",
            details={"limit": MAX_TARGET, "value": size},
        )
    if "\0" in scope["path"] or b"%00" in query:
        return 422, InputError(
            "The path or query holds a zero byte (%00).", hint="Leave it out.", details={"field": "query"}
        )
    return None


def _announces_body(scope: Scope) -> bool:
    return any(name in {b"content-length", b"transfer-encoding"} for name, _ in scope["headers"])


def _odd_charset(content_type: bytes) -> bool:
    """Whether a form is said to be in another charset than UTF-8: some take longer to read than the form to arrive."""
    kind, _, parameters = content_type.lower().partition(b";")
    if not kind.strip().startswith(b"multipart/") or b"charset" not in parameters:
        return False
    named = parameters.partition(b"charset")[2].lstrip(b" =").partition(b";")[0].strip(b" \"'")
    return named not in {b"utf-8", b"utf8", b"us-ascii"}


def _repeated(name: bytes) -> UsageError:
    text = name.decode("latin-1")
    return UsageError(f"The header {text!r} is there twice.", hint="Send it once.", details={"header": text})


def _too_many_headers(count: int, size: int) -> LimitError:
    return LimitError(
        f"The request has {count} headers of {size} bytes; at most {MAX_HEADERS} of {MAX_HEADER_BYTES} are taken.",
        hint="Send fewer headers or cookies.",
        details={"limit": MAX_HEADERS, "limit_bytes": MAX_HEADER_BYTES},
    )
