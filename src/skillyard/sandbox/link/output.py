"""Taking the output of something that runs inside: without its secrets, and piece by piece to whoever listens."""

from typing import Final

from skillyard.redact import Secrets
from skillyard.sandbox.guest.frames import ERR, EXTRA, OUT
from skillyard.sandbox.session import OnOutput, OutputStream

_NAMES: dict[int, OutputStream] = {OUT: "stdout", ERR: "stderr"}
_GROWTH: Final = 2
"""The most by which an answer exceeds the kept output: JSON writes a control character as six."""
_ROOM: Final = 64 * 1024
"""Output of at most this size is never shortened for that."""
_ESCAPED: Final = 6
_PRINTED: Final = bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100)) + b"\n\r\t\b\f"


class Collected:
    """What came on each stream. `listening` names the streams that are also told as they come."""

    def __init__(
        self, secrets: Secrets, on_output: OnOutput | None, *, listening: tuple[int, ...], max_bytes: int
    ) -> None:
        self.full = False
        """Whether something was dropped because an answer had no more room for it."""
        self._on_output = on_output
        self._listening = listening
        self._room = _GROWTH * max_bytes + _ROOM
        self._redacting = {stream: secrets.stream() for stream in (OUT, ERR)}
        self._pieces: dict[int, list[bytes]] = {OUT: [], ERR: [], EXTRA: []}

    def receive(self, stream: int, data: bytes) -> None:
        self._keep(stream, self._redacting[stream].feed(data) if stream in self._redacting else data)

    def finish(self, *, cut: bool = False) -> None:
        """Nothing more comes: release what was held back because it might have become a secret.

        The continuation of output that was `cut` off is unknown, so what may be the beginning of a secret is never
        released.
        """
        for stream, redacting in self._redacting.items():
            self._keep(stream, redacting.finish(cut=cut))

    def data(self, stream: int) -> bytes:
        return b"".join(self._pieces[stream])

    def text(self, stream: int) -> str:
        return self.data(stream).decode(errors="replace")

    def _keep(self, stream: int, data: bytes) -> None:
        if stream in self._listening:
            data = self._fitting(data)
        if data:
            self._pieces[stream].append(data)
            if self._on_output is not None and stream in self._listening:
                self._on_output(_NAMES[stream], data)

    def _fitting(self, data: bytes) -> bytes:
        """As much of it as fits into the answer as JSON."""
        size = _size_in_json(data)
        while size > self._room and data:
            self.full = True
            data = data[: min(len(data) * self._room // size, len(data) - 1)]
            size = _size_in_json(data)
        self._room = 0 if self.full else self._room - size
        return data


def _size_in_json(data: bytes) -> int:
    return len(data) + (_ESCAPED - 1) * len(data.translate(None, _PRINTED)) + data.count(b'"') + data.count(b"\\")
