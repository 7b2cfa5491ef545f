"""The beginning of a connection over the standard streams, answered while the server is still being imported."""

import io
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from skillyard.server.mcp.introduction import Introduction, introduction

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_CHUNK: Final = 1 << 16
_LONGEST: Final = 1 << 20
"""Whatever begins with a longer line is no introduction."""


class Opening:
    """Reads what a client says first, and answers it if it is an introduction, with these instructions.

    From then on standard input is empty for everyone else: no program that a tool starts can read from the client.
    """

    def __init__(self, instructions: str) -> None:
        self._instructions = instructions
        self._wire = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self._heard = b""
        self._answered: Introduction | None = None
        self._listening = threading.Thread(target=self._listen, name="mcp-opening", daemon=True)
        self._listening.start()

    def answered(self) -> str | int | None:
        """The request that has its answer, once the client has said something."""
        self._listening.join()
        return self._answered.request if self._answered else None

    def wire(self) -> io.TextIOWrapper:
        """All that the client says, from the beginning."""
        self._listening.join()
        return io.TextIOWrapper(
            io.BufferedReader(_Repeated(self._heard, self._wire), _CHUNK), encoding="utf-8", errors="replace"
        )

    def _listen(self) -> None:
        while b"\n" not in self._heard and len(self._heard) < _LONGEST and (said := os.read(self._wire, _CHUNK)):
            self._heard += said
        first, ended, _ = self._heard.partition(b"\n")
        self._answered = introduction(first, self._instructions) if ended else None
        if self._answered:
            # A client that is gone again is noticed by whoever reads on.
            with suppress(OSError), open(1, "wb", closefd=False) as out:
                out.write(self._answered.line)


class _Repeated(io.RawIOBase):
    """What was heard already, then the wire."""

    def __init__(self, heard: bytes, wire: int) -> None:
        super().__init__()
        self._heard = heard
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        room = memoryview(buffer)
        said = self._heard[: len(room)] or os.read(self._wire, len(room))
        self._heard = self._heard[len(said) :]
        room[: len(said)] = said
        return len(said)
