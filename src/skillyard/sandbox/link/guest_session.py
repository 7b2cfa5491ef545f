"""A running sandbox, as its guest makes it: every question goes there, and none waits for ever."""

import asyncio
import json
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Self, TypeVar

from skillyard.redact import Secrets
from skillyard.sandbox.browser_steps import BrowserStep
from skillyard.sandbox.guest.frames import ERR, EXTRA, OUT
from skillyard.sandbox.link.answers import (
    amount,
    ending,
    exit_code,
    failure,
    file_entries,
    images,
    number,
    redacted_target,
    tree_digests,
)
from skillyard.sandbox.link.connections import ConnectionHandler
from skillyard.sandbox.link.guest_link import Call, GuestLink, Receive
from skillyard.sandbox.link.output import Collected
from skillyard.sandbox.link.requests import check_seconds, check_variables, checked_path, run_request
from skillyard.sandbox.link.transport import Transport
from skillyard.sandbox.place import MIB, Limits
from skillyard.sandbox.session import (
    BrowserOutcome,
    Command,
    Ending,
    FileEntry,
    OnOutput,
    Outcome,
    PythonOutcome,
    Session,
    Stats,
)

__all__ = ["ConnectionHandler", "GuestSession"]

_START_SECONDS: Final = 30.0
_GRACE_SECONDS: Final = 20.0
"""Beyond the time of a run, for stopping it and for an overloaded machine; then the guest is not to be trusted."""
_FILE_SECONDS: Final = 60.0
_TRANSFER_SECONDS: Final = 600.0
_PIECE_SECONDS: Final = 60.0
_MAX_LISTING: Final = 16 * MIB
_MAX_DIGEST: Final = 128
_MAX_ERROR: Final = 4 * MIB
_KEPT_OF_ERROR: Final = 48 * 1024
"""Characters of a traceback."""
_MAX_SECRETS: Final = 256
"""Secrets that are known for a sandbox at once."""
_MORE: Final = "\n… "
"""What a guest writes where it left out the rest of a text."""
_MAX_EXTRA: Final = 32 * MIB

_T = TypeVar("_T")


class GuestSession(Session):
    """Implements `Session` over the stream to a guest."""

    def __init__(self, link: GuestLink, limits: Limits) -> None:
        self._link = link
        self._limits = limits
        self._given: dict[str, None] = {}
        self._secrets = Secrets()
        """All secrets that it was given: programs may keep them and print them later."""
        self._python_turn = asyncio.Lock()
        self._browser_turn = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        transport: Transport,
        *,
        limits: Limits,
        proxy: ConnectionHandler | None,
        on_close: Callable[[], Awaitable[None]],
    ) -> Self:
        """Wait until the guest at the other end is ready. `on_close` really ends the place, and is called once."""
        link = GuestLink(transport, proxy=proxy, on_close=on_close)
        try:
            await link.greeted(_START_SECONDS)
        except BaseException:
            await link.close()
            raise
        return cls(link, limits)

    @property
    def alive(self) -> bool:
        return self._link.alive

    async def run(self, command: Command, *, on_output: OnOutput | None = None) -> Outcome:
        request = run_request(command)
        hidden, most = self._know(command.secrets), self._limits.output_bytes
        collected = Collected(hidden, on_output, listening=(OUT, ERR), max_bytes=most)
        began = time.monotonic()
        answer = await self._ask(
            request,
            command.stdin,
            receive=collected.receive,
            max_bytes=most,
            seconds=command.timeout + _GRACE_SECONDS,
        )
        collected.finish(cut=_is_cut(answer))
        return Outcome(
            ending=ending(answer),
            exit_code=exit_code(answer),
            stdout=collected.data(OUT),
            stderr=collected.data(ERR),
            truncated=answer.get("truncated") is True or collected.full,
            seconds=time.monotonic() - began,
        )

    async def python(
        self,
        code: str,
        *,
        seconds: float = 30.0,
        secrets: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> PythonOutcome:
        check_seconds(seconds)
        given = dict(secrets or {})
        check_variables(given)
        hidden, most = self._know(given), self._limits.output_bytes
        collected = Collected(hidden, on_output, listening=(OUT,), max_bytes=most)
        async with self._python_turn:
            began = time.monotonic()
            answer = await self._ask(
                {"op": "python", "timeout": seconds, "environment": given},
                code.encode(errors="surrogatepass"),
                receive=collected.receive,
                max_bytes=most + _MAX_ERROR + _MAX_EXTRA,
                seconds=seconds + _GRACE_SECONDS,
            )
        collected.finish(cut=_is_cut(answer))
        return PythonOutcome(
            success=answer.get("success") is True,
            output=collected.text(OUT),
            error=_ends_of(collected.text(ERR)) or None,
            ending=ending(answer),
            truncated=answer.get("truncated") is True or collected.full,
            execution_count=number(answer, "count"),
            images=images(collected.data(EXTRA)),
            seconds=time.monotonic() - began,
        )

    async def browse(
        self, step: BrowserStep, *, seconds: float = 30.0, secrets: Mapping[str, str] | None = None
    ) -> BrowserOutcome:
        check_seconds(seconds)
        hidden, most = self._know(secrets or {}), self._limits.output_bytes
        collected = Collected(Secrets(), None, listening=(), max_bytes=most)
        asked = {"verb": step.verb, "arguments": list(step.arguments), "options": list(step.options)}
        async with self._browser_turn:
            began = time.monotonic()
            answer = await self._ask(
                {"op": "browse", "timeout": seconds},
                json.dumps(asked).encode(),
                receive=collected.receive,
                max_bytes=most + _MAX_ERROR + _MAX_EXTRA,
                seconds=seconds + _GRACE_SECONDS,
            )
        collected.finish()
        output = _page_text(collected.text(OUT), hidden, cut=len(collected.data(OUT)) >= most)
        return BrowserOutcome(
            success=answer.get("success") is True,
            output=output,
            error=_page_text(collected.text(ERR), hidden, cut=True) or None,
            ending=ending(answer),
            target=redacted_target(answer, hidden),
            screenshot=collected.data(EXTRA) or None,
            seconds=time.monotonic() - began,
        )

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes:
        most = self._limits.file_bytes if max_bytes is None else max_bytes
        request = {"op": "read", "path": checked_path(path), "max_bytes": most}
        pieces: list[bytes] = []
        redacting = self._secrets.stream(same_size=True)
        await self._ask(
            request,
            receive=lambda _, piece: pieces.append(redacting.feed(piece)),
            max_bytes=most,
            seconds=_TRANSFER_SECONDS,
        )
        return b"".join([*pieces, redacting.finish()])

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        request = {"op": "write", "path": checked_path(path), "executable": executable}
        await self._ask(request, data, seconds=_TRANSFER_SECONDS)

    def get_file(self, path: str) -> AsyncIterator[bytes]:
        most = self._limits.file_bytes
        return self._pieces({"op": "read", "path": checked_path(path), "max_bytes": most}, max_bytes=most)

    async def put_file(self, path: str, pieces: AsyncIterable[bytes], *, executable: bool = False) -> None:
        request = {"op": "write", "path": checked_path(path), "executable": executable}
        call = self._link.begin(request, receive=None, max_bytes=0)
        try:
            async for piece in pieces:
                if not await self._patiently(self._whole(self._link.send_some(call, piece)), _PIECE_SECONDS):
                    break
            else:
                await self._patiently(self._whole(self._link.send_end(call)), _PIECE_SECONDS)
            self._checked(await self._patiently(call.answer, _FILE_SECONDS))
        finally:
            self._link.cancel(call)

    async def list_folder(self, path: str = ".") -> Sequence[FileEntry]:
        where = checked_path(path)
        listing = await self._fetch({"op": "list", "path": where}, max_bytes=_MAX_LISTING)
        return file_entries(where, listing, self._secrets)

    async def delete(self, path: str) -> None:
        await self._ask({"op": "delete", "path": checked_path(path)})

    async def put_tar(self, data: bytes, path: str = ".", *, remove: Sequence[str] = ()) -> None:
        removed = [checked_path(one) for one in remove]
        request = {"op": "put_tar", "path": checked_path(path), "remove": removed}
        await self._ask(request, data, seconds=_TRANSFER_SECONDS)

    def get_tar(self, path: str = ".") -> AsyncIterator[bytes]:
        return self._pieces({"op": "get_tar", "path": checked_path(path)}, max_bytes=None)

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        asked = json.dumps([checked_path(path) for path in paths]).encode()
        said = await self._fetch({"op": "digests"}, asked, max_bytes=_MAX_DIGEST * (len(paths) + 1))
        return tree_digests(paths, said)

    async def stats(self) -> Stats:
        answer = await self._ask({"op": "stats"})
        return Stats(
            processes=number(answer, "processes"),
            memory_bytes=number(answer, "memory_bytes"),
            disk_bytes=number(answer, "disk_bytes"),
            cpu_seconds=amount(answer, "cpu_seconds"),
        )

    async def close(self) -> None:
        await self._link.close()

    async def _fetch(
        self, request: dict[str, Any], data: bytes = b"", *, max_bytes: int, seconds: float = _FILE_SECONDS
    ) -> bytes:
        pieces: list[bytes] = []
        await self._ask(
            request, data, receive=lambda _, piece: pieces.append(piece), max_bytes=max_bytes, seconds=seconds
        )
        return b"".join(pieces)

    def _know(self, secrets: Mapping[str, str]) -> Secrets:
        """All secrets that were ever given to this sandbox, and these."""
        for value in secrets.values():
            if value not in self._given:
                self._given[value] = None
                self._secrets.add(value)
        if len(self._given) > _MAX_SECRETS:
            self._given = dict.fromkeys(list(self._given)[-_MAX_SECRETS:])
            self._secrets = Secrets(self._given)
        return self._secrets

    async def _pieces(self, request: dict[str, Any], *, max_bytes: int | None) -> AsyncIterator[bytes]:
        """What comes of a request, as fast as it is taken here."""
        call = self._link.begin(request, receive=None, max_bytes=max_bytes)
        redacting = self._secrets.stream(same_size=True)
        try:
            await self._link.send(call, b"")
            while True:
                while call.pieces:
                    piece = call.pieces.popleft()
                    self._link.taken(call, len(piece))
                    if clean := redacting.feed(piece):
                        yield clean
                if call.answer.done():
                    break
                call.news.clear()
                await self._patiently(call.news.wait(), _PIECE_SECONDS)
            self._checked(call.answer.result())
            if clean := redacting.finish():
                yield clean
        finally:
            self._link.cancel(call)

    async def _ask(
        self,
        request: dict[str, Any],
        data: bytes = b"",
        *,
        receive: Receive | None = None,
        max_bytes: int = 0,
        seconds: float = _FILE_SECONDS,
    ) -> dict[str, Any]:
        """Ask, send what belongs to it, and wait for the answer; when none comes in time, the sandbox is ended."""
        call = self._link.begin(request, receive=receive, max_bytes=max_bytes)
        try:
            return self._checked(await self._patiently(self._exchange(call, data), seconds))
        finally:
            self._link.cancel(call)

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        if answer.get("ok") is not True:
            raise failure(answer, self._secrets)
        return answer

    async def _exchange(self, call: Call, data: bytes) -> dict[str, Any]:
        await self._whole(self._link.send(call, data))
        return await call.answer

    async def _whole(self, sending: Awaitable[_T]) -> _T:
        try:
            return await sending
        except OSError as error:
            raise await self._link.fail(f"the stream to the guest broke ({error})") from error

    async def _patiently(self, awaitable: Awaitable[_T], seconds: float) -> _T:
        try:
            async with asyncio.timeout(seconds):
                return await awaitable
        except TimeoutError:
            raise await self._link.fail(f"the guest did not answer within {seconds:g} seconds") from None


def _is_cut(answer: Mapping[str, Any]) -> bool:
    """Whether the output ends where the program may have written more."""
    return answer.get("truncated") is True or ending(answer) is not Ending.EXITED


def _page_text(text: str, secrets: Secrets, *, cut: bool) -> str:
    head, more, rest = text.rpartition(_MORE)
    return secrets.text(head, cut=True) + more + rest if more else secrets.text(text, cut=cut)


def _ends_of(error: str) -> str:
    """The beginning and the end of a long traceback."""
    if len(error) <= _KEPT_OF_ERROR:
        return error
    half = _KEPT_OF_ERROR // 2
    return f"{error[:half]}\n…\n{error[-half:]}"
