"""A duplex stream through the tools of a computer-use server: files carry it there, answers carry it back."""

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from skillyard.errors import SandboxDiedError, SkillyardError, UnavailableError
from skillyard.sandbox.computer_use.remote import PIECE, Remote

T = TypeVar("T")

BUFFERED: Final = 1024 * 1024
POLL_SECONDS: Final = 10.0
"""How long one question for more waits: shorter than what proxies and servers allow a command."""
_ATTEMPTS: Final = 3
_PAUSE: Final = 0.1
_PIECE_OF_STREAM: Final = re.compile(r"(\d+):([01]):([A-Za-z0-9_=-]*)")
_SHOWN: Final = 500
_GRACE: Final = 20.0


class Tunnel:
    """The stream of the guest that a relay holds. Files go out and questions come back at the same time."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self._reader = asyncio.StreamReader(limit=BUFFERED)
        self._outgoing = bytearray()
        self._wake = asyncio.Event()
        self._drained = asyncio.Event()
        self._taken = asyncio.Event()
        self._buffered = 0
        self._tasks = [asyncio.create_task(self._write_all()), asyncio.create_task(self._read_all())]

    async def read(self, n: int) -> bytes:
        data = await self._reader.read(n)
        self._buffered -= len(data)
        self._taken.set()
        return data

    def write(self, data: bytes) -> None:
        self._outgoing += data
        self._wake.set()

    async def drain(self) -> None:
        while len(self._outgoing) > BUFFERED:
            self._drained.clear()
            await self._drained.wait()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._end()

    def _end(self) -> None:
        self._outgoing.clear()
        self._drained.set()
        self._reader.feed_eof()

    async def _write_all(self) -> None:
        number = 0
        while True:
            self._wake.clear()
            while self._outgoing:
                piece = bytes(self._outgoing[:PIECE])
                text = base64.urlsafe_b64encode(piece).decode() + "."
                try:
                    await _insist(lambda name=f"in/{number}", text=text: self._remote.write(name, text))
                except SkillyardError:
                    self._end()
                    return
                number += 1
                del self._outgoing[: len(piece)]
                self._drained.set()
            await self._wake.wait()

    async def _read_all(self) -> None:
        offset = 0
        ended = False
        while not ended:
            while self._buffered > BUFFERED:
                self._taken.clear()
                await self._taken.wait()
            try:
                start, ended, data = await _insist(lambda offset=offset: self._poll(offset))
            except SkillyardError:
                break
            if start > offset:
                break  # something was dropped: what follows makes no sense
            fresh = data[offset - start :]
            offset += len(fresh)
            self._buffered += len(fresh)
            self._reader.feed_data(fresh)
        self._end()

    async def _poll(self, offset: int) -> tuple[int, bool, bytes]:
        said = await self._remote.poll(offset, POLL_SECONDS, seconds=POLL_SECONDS + _GRACE)
        found = _PIECE_OF_STREAM.fullmatch(said)
        if found is None:
            raise UnavailableError(f"The relay gives no sense: {said[:_SHOWN]}")
        return int(found[1]), found[2] == "1", base64.urlsafe_b64decode(found[3])


async def _insist(call: Callable[[], Awaitable[T]]) -> T:
    """Both ways can be repeated without harm, so a server that fails once is asked again."""
    for attempt in range(1, _ATTEMPTS):
        try:
            return await call()
        except SandboxDiedError:
            raise
        except UnavailableError:
            await asyncio.sleep(_PAUSE * attempt)
    return await call()
