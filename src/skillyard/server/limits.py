"""Sizes and times that no request may exceed, each refused with a clear answer."""

import asyncio
import contextlib
import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from skillyard.errors import InputError, LimitError, SkillyardError, UsageError
from skillyard.server.asgi import App, Message, Receive, Scope, Send, refuse

MAX_BODY: Final = 20 * 1024 * 1024
MAX_UPLOAD: Final = 129 * 1024 * 1024
"""Of a file for a sandbox: as large as sandboxes take one, and the form around it."""
_UPLOAD: Final = re.compile(r"/v1/sandboxes/[^/]+/filesystem/upload/?")
_SANDBOX: Final = "/v1/sandboxes"
_LEARNING: Final = ("/learning", "/api/v1/feedback")
MAX_TARGET: Final = 32 * 1024
"""Bytes of path and query: a reason in any script has room, at nine bytes a letter."""
MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32 * 1024
_ONCE: Final = frozenset(
    {
        *(b"host", b"authorization", b"content-length", b"content-type", b"idempotency-key"),
        *(b"origin", b"sec-fetch-site"),
    }
)
"""Headers of which two would leave open which one counts."""
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._-]{0,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?")
_LENGTH_DIGITS: Final = 15
_SHOWN: Final = 100

_Refusal: TypeAlias = tuple[int, SkillyardError]


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long is waited for a body; the time that the application takes for itself does not count."""

    start: float = 30.0
    """Seconds that every body has."""
    bytes_per_second: int = 16 * 1024
    """For so many bytes that arrived there is one second more."""
    idle: float = 20.0
    """Seconds in which at least one byte must come."""

    def left(self, received: int, waited: float) -> float:
        """How long the next piece may take, given what came so far and how long that took."""
        return max(0.0, min(self.idle, self.start + received / self.bytes_per_second - waited))


class _CutOffError(Exception):
    """The body is not taken; whoever was reading it must stop."""


class RequestLimits:
    """Refuses targets, headers and bodies that are too large or ambiguous; bodies also while they arrive, or do not."""

    def __init__(self, app: App, *, max_body: int = MAX_BODY, patience: Patience | None = None) -> None:
        self.app = app
        self._max_body = max_body
        self._patience = patience or Patience()

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
            await self._watched(scope, receive, send)

    def _header_problem(self, scope: Scope) -> _Refusal | None:
        count = size = 0
        most = self._most(scope)
        seen: set[bytes] = set()
        for name, value in scope["headers"]:
            count += 1
            size += len(name) + len(value)
            if name in _ONCE:
                if name in seen:
                    return 400, _repeated(name)
                seen.add(name)
                if name == b"host" and not _HOST.fullmatch(value):
                    return 400, UsageError(f"{value.decode('latin-1')[:_SHOWN]!r} is no host.", hint="Send its name.")
                if name == b"content-type" and _odd_charset(value):
                    return 422, InputError("A form must be UTF-8.", hint="Leave the charset out of its type.")
                if name == b"content-length" and not value.isdigit():
                    return 400, UsageError(f"Content-Length is no number: {value.decode('latin-1')!r}.")
                if name == b"content-length" and (len(value) > _LENGTH_DIGITS or int(value) > most):
                    return 413, _too_large(scope, most)
        if count > MAX_HEADERS or size > MAX_HEADER_BYTES:
            return 431, _too_many_headers(count, size)
        return None

    def _most(self, scope: Scope) -> int:
        return MAX_UPLOAD if _UPLOAD.fullmatch(scope["path"]) else self._max_body

    async def _watched(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = self._most(scope)
        body = _Body(receive, max_size=most, patience=self._patience, too_large=_too_large(scope, most))
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            # Frameworks turn the error of a reader into an answer of their own; ours says what is wrong.
            if body.refusal is None or started:
                started = True
                await send(message)

        with contextlib.suppress(_CutOffError):
            await self.app(scope, body.receive, answer)
        if body.refusal is not None and not started:
            status, error = body.refusal
            await refuse(scope, send, error, status=status, extra=((b"connection", b"close"),))


class _Body:
    """What arrives of a body, and why no more of it is taken."""

    def __init__(self, receive: Receive, *, max_size: int, patience: Patience, too_large: LimitError) -> None:
        self.refusal: _Refusal | None = None
        self._receive = receive
        self._max_size = max_size
        self._too_large = too_large
        self._patience = patience
        self._received = 0
        self._waited = 0.0
        self._whole = False

    async def receive(self) -> Message:
        if self._whole:  # whoever asks on wants to know when the client is gone
            return await self._receive()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._patience.left(self._received, self._waited)):
                message = await self._receive()
        except TimeoutError:
            self.refusal = 408, self._too_slow()
            raise _CutOffError from None
        self._waited += loop.time() - began
        self._received += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._received > self._max_size:
            self.refusal = 413, self._too_large
            raise _CutOffError
        return message

    def _too_slow(self) -> LimitError:
        slowest = self._patience.bytes_per_second
        return LimitError(
            f"The body of the request came too slowly: {self._received} bytes, and then not enough in time.",
            hint=f"Send it at {slowest} bytes a second or more, without a pause of {self._patience.idle:g} s.",
            details={"received": self._received, "limit": slowest, "limit_idle_seconds": self._patience.idle},
        )


def _too_large(scope: Scope, limit: int) -> LimitError:
    hint = "Send less: leave out files that the skill does not need."
    if limit == MAX_UPLOAD:
        hint = "Split the file, and put it together in the sandbox: cat part-* > file"
    elif scope["path"].startswith(_LEARNING):
        hint = "Split the file; what came before is not taken twice."
    elif scope["path"].startswith(_SANDBOX):
        hint = "Upload large contents as a file: skillyard sandbox files upload ID FILE"
    return LimitError(f"The body of the request is larger than {limit} bytes.", hint=hint, details={"limit": limit})


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
            "The path or query holds a zero byte (%00).",
            hint="Leave it out.",
            details={"field": "query", "reason": "null_byte"},
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
