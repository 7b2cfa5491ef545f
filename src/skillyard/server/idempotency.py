"""`Idempotency-Key`: a request that is sent again is answered again, not carried out again."""

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Final

from skillyard.db.idempotency import KEY_LENGTH, Attempt, IdempotencyStore, KnownRequest, StoredAnswer, already_done
from skillyard.errors import (
    InProgressError,
    InvalidKeyError,
    KeyReusedError,
    SkillyardError,
    TooManyRequestsError,
    UnavailableError,
)
from skillyard.server.asgi import App, Message, Receive, Scope, Send, header, refuse
from skillyard.server.json_text import read_body, replay

MAX_ANSWER: Final = 1024 * 1024
_METHODS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEY: Final = re.compile(rb"[\x21-\x7e]{1,%d}" % KEY_LENGTH)
_BOUNDARY: Final = re.compile(rb'boundary="?([^";,]+)"?')
_SUCCESSES: Final = range(200, 300)
_SERVER_ERRORS: Final = 500

_log = logging.getLogger(__name__)


class Idempotency:
    """Carries a request out once per key and principal.

    `principal` says who is asking, or raises the error that such a request gets; a stored answer is only for whoever
    may still ask. Changes are marked with the key in their own transaction (see `IdempotencyStore`), so that neither
    a crash nor a second server process can do one twice.
    """

    def __init__(self, app: App, *, store: IdempotencyStore, principal: Callable[[Scope], Awaitable[str]]) -> None:
        self.app = app
        self._store = store
        self._principal = principal
        self._running: set[tuple[str, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = header(scope, b"idempotency-key") if scope["type"] == "http" and scope["method"] in _METHODS else None
        if given is None:
            await self.app(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return  # nobody is there any more
        try:
            attempt = Attempt(
                principal=await self._principal(scope), key=_checked(given), fingerprint=fingerprint(scope, body)
            )
            name = self._claim(attempt)
        except SkillyardError as error:
            await refuse(scope, send, error)
            return
        try:
            await self._answer(scope, replay(body, receive), send, attempt)
        finally:
            self._running.discard(name)

    def _claim(self, attempt: Attempt) -> tuple[str, str]:
        name = (attempt.principal, attempt.key)
        if name in self._running:
            raise InProgressError(
                "The request with this Idempotency-Key is still being carried out.",
                hint="Ask again in a second.",
                details={"retry_after": 1},
            )
        self._running.add(name)
        return name

    async def _answer(self, scope: Scope, receive: Receive, send: Send, attempt: Attempt) -> None:
        try:
            known = await self._store.find(attempt.principal, attempt.key)
            again = known and _told_again(attempt, known)
        except SkillyardError as error:
            await refuse(scope, send, error)
            return
        if again:
            await _flush(send, again)
        else:
            await self._carry_out(scope, receive, send, attempt)

    async def _carry_out(self, scope: Scope, receive: Receive, send: Send, attempt: Attempt) -> None:
        messages: list[Message] = []
        size = 0

        async def hold(message: Message) -> None:
            # Told only once it is kept: a client that heard nothing will ask again.
            nonlocal size
            size += len(message.get("body", b""))
            messages.append(message)
            if size > MAX_ANSWER:
                await _flush(send, messages)

        self._store.begin(attempt)
        try:
            await self.app(scope, receive, hold)
        except Exception:
            await _flush(send, messages)
            raise
        finally:
            self._store.end(attempt)
        answer = _whole_answer(messages) if size <= MAX_ANSWER else None
        # Whoever was refused may ask again, perhaps with more rights: nothing was done.
        if answer is not None and (attempt.number is not None or answer.status in _SUCCESSES):
            await self._keep(attempt, answer)
        await _flush(send, messages)

    async def _keep(self, attempt: Attempt, answer: StoredAnswer) -> None:
        try:
            await self._store.save(attempt, answer)
        except UnavailableError as error:
            # The change is marked already, so whoever asks again learns that it was done.
            _log.warning("The answer to an idempotent request was not kept: %s", error.message)


def fingerprint(scope: Scope, body: bytes) -> str:
    """What makes two requests the same: method, target, condition and content."""
    kind = header(scope, b"content-type") or b""
    boundary = _BOUNDARY.search(kind)
    if boundary:  # a form that is sent again has another boundary
        body = body.replace(b"--" + boundary[1], b"--")
        kind = kind[: boundary.start()]
    digest = hashlib.sha256()
    target = scope.get("raw_path") or scope["path"].encode()
    condition = header(scope, b"if-match") or b""
    for part in (scope["method"].encode(), target, scope["query_string"], kind, condition, body):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def _checked(key: bytes) -> str:
    if not _KEY.fullmatch(key):
        raise InvalidKeyError(
            f"The Idempotency-Key must be 1 to {KEY_LENGTH} visible ASCII characters.",
            hint="A UUID is a good one.",
            details={"header": "idempotency-key", "limit": KEY_LENGTH},
        )
    return key.decode()


def _told_again(attempt: Attempt, known: KnownRequest) -> list[Message]:
    if known.fingerprint != attempt.fingerprint:
        raise KeyReusedError(
            "This Idempotency-Key came with another request before.",
            hint="Use a new key for every new request.",
            details={"header": "idempotency-key"},
        )
    if known.answer is None:
        raise already_done(known.number)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in known.answer.headers]
    headers.append((b"idempotency-replayed", b"true"))
    return [
        {"type": "http.response.start", "status": known.answer.status, "headers": headers},
        {"type": "http.response.body", "body": known.answer.body},
    ]


def _whole_answer(messages: list[Message]) -> StoredAnswer | None:
    """The answer, if it is whole and may be told again: an error of ours, or a secret, may not."""
    if not messages or messages[0]["type"] != "http.response.start" or messages[-1].get("more_body"):
        return None
    status: int = messages[0]["status"]
    if status >= _SERVER_ERRORS or status == TooManyRequestsError.http_status:
        return None
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in messages[0]["headers"])
    if any(name == "cache-control" and "no-store" in value for name, value in headers):
        return None
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return StoredAnswer(status=status, headers=headers, body=body)


async def _flush(send: Send, messages: list[Message]) -> None:
    for message in messages:
        await send(message)
    messages.clear()
