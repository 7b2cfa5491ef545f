"""Taking the output of something that runs inside: without its secrets, and piece by piece to whoever listens."""

from skillyard.redact import Secrets
from skillyard.sandbox.guest.frames import ERR, EXTRA, OUT
from skillyard.sandbox.session import OnOutput, OutputStream

_NAMES: dict[int, OutputStream] = {OUT: "stdout", ERR: "stderr"}


class Collected:
    """What came on each stream. `listening` names the streams that are also told as they come."""

    def __init__(self, secrets: Secrets, on_output: OnOutput | None, *, listening: tuple[int, ...]) -> None:
        self._on_output = on_output
        self._listening = listening
        self._redacting = {stream: secrets.stream() for stream in (OUT, ERR)}
        self._pieces: dict[int, list[bytes]] = {OUT: [], ERR: [], EXTRA: []}

    def receive(self, stream: int, data: bytes) -> None:
        self._keep(stream, self._redacting[stream].feed(data) if stream in self._redacting else data)

    def finish(self) -> None:
        """Nothing more comes: let go of what was held back because it might have become a secret."""
        for stream, redacting in self._redacting.items():
            self._keep(stream, redacting.finish())

    def data(self, stream: int) -> bytes:
        return b"".join(self._pieces[stream])

    def text(self, stream: int) -> str:
        return self.data(stream).decode(errors="replace")

    def _keep(self, stream: int, data: bytes) -> None:
        if data:
            self._pieces[stream].append(data)
            if self._on_output is not None and stream in self._listening:
                self._on_output(_NAMES[stream], data)
