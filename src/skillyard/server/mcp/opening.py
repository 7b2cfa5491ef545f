"""The beginning of a connection over the standard streams, answered while the server is still being imported."""

import io
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from skillyard.server.mcp.introduction import (
    Fields,
    Introduction,
    begins_session,
    introduction,
    listing,
    listing_request,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK: Final = 1 << 16
_LONGEST: Final = 1 << 20
"""Whatever begins with a longer line is no introduction."""


class Opening:
    """Reads what a client says first. It answers the introduction, with these instructions, and a request for tools.

    From then on standard input is empty for everyone else: no program that a tool starts can read from the client.
    """

    def __init__(self, instructions: str) -> None:
        self._instructions = instructions
        self._wire = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._changed = threading.Condition()
        self._heard = b""
        """The part of the input that the server must still read."""
        self._has_begun = self._is_over = self._is_handed_over = False
        self._answered: Introduction | None = None
        self._may_ask = False
        """Whether the client may ask for anything now."""
        self._tools: Sequence[Fields] | None = None
        threading.Thread(target=self._listen, name="mcp-opening", daemon=True).start()

    def offer(self, tools: Sequence[Fields]) -> None:
        """List these tools for the client before they can be called."""
        with self._changed:
            self._tools = tools
            self._changed.notify_all()

    def answered(self) -> str | int | None:
        """The introduction that was answered here and that the server reads too, once the client has sent something."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_begun)
        return self._answered.request if self._answered else None

    def wire(self) -> io.TextIOWrapper:
        """What the client sends, without what was answered here completely. From now on nothing is answered here."""
        with self._changed:
            self._is_handed_over = True
            self._changed.notify_all()
        return io.TextIOWrapper(io.BufferedReader(_Wire(self.read), _CHUNK), encoding="utf-8", errors="replace")

    def read(self, most: int) -> bytes:
        """So many bytes of it, or fewer; empty at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._heard or self._is_over)
            said, self._heard = self._heard[:most], self._heard[most:]
        return said or os.read(self._wire, most)

    def _listen(self) -> None:
        said = b""
        while not self._is_handed_over and len(said) < _LONGEST and (more := os.read(self._wire, _CHUNK)):
            *lines, said = (said + more).split(b"\n")
            for line in lines:
                self._hear(line)
        with self._changed:
            self._heard += said
            self._has_begun = self._is_over = True
            self._changed.notify_all()

    def _hear(self, line: bytes) -> None:
        with self._changed:
            if not self._has_begun:
                self._answered = introduction(line, self._instructions)
                self._may_ask = self._answered is not None and self._answered.is_modern
                if self._answered:
                    _say(self._answered.line)
            elif self._answered and not self._answered.is_modern:
                self._may_ask = self._may_ask or begins_session(line)
            if not (self._has_begun and self._is_answered_for_good(line)):
                self._heard += line + b"\n"
            self._has_begun = True
            self._changed.notify_all()

    def _is_answered_for_good(self, line: bytes) -> bool:
        if self._answered is None or not self._may_ask:
            return False
        request = listing_request(line, is_modern=self._answered.is_modern)
        if request is None:
            return False
        self._changed.wait_for(lambda: self._is_handed_over or self._tools is not None)
        if self._is_handed_over or self._tools is None:
            return False
        _say(listing(request, self._tools, is_modern=self._answered.is_modern))
        return True


def _say(line: bytes) -> None:
    # The next read notices a client that is gone.
    with suppress(OSError), open(1, "wb", closefd=False) as out:
        out.write(line)


class _Wire(io.RawIOBase):
    """A stream of the bytes that a function returns."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        super().__init__()
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        room = memoryview(buffer)
        said = self._read(len(room))
        room[: len(said)] = said
        return len(said)
