"""The attached stream of a container: what is written is its stdin, what is read is its stdout."""

import asyncio
import contextlib
from typing import Final

from skillyard.errors import UnavailableError
from skillyard.sandbox.docker.host import DockerHost

_HEADER: Final = 8
_STDOUT: Final = 1
_HEADERS: Final = "Host: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n"
_DIAGNOSTICS: Final = 4096
_CLOSE_SECONDS: Final = 2.0


class DockerStream:
    """A duplex stream to a container's main process; the multiplexed stderr is kept apart, its last part only."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._left = 0
        self._stdout = False
        self._diagnostics = b""

    @property
    def diagnostics(self) -> str:
        """The end of what the container wrote to its stderr until now."""
        return self._diagnostics.decode(errors="replace").strip()

    async def read(self, n: int) -> bytes:
        """At most so many bytes of stdout; none when the container ended."""
        while True:
            try:
                while not self._left:
                    header = await self._reader.readexactly(_HEADER)
                    self._stdout = header[0] == _STDOUT
                    self._left = int.from_bytes(header[4:], "big")
                piece = await self._reader.read(min(n, self._left))
            except (OSError, asyncio.IncompleteReadError):
                return b""
            if not piece:
                return b""
            self._left -= len(piece)
            if self._stdout:
                return piece
            self._diagnostics = (self._diagnostics + piece)[-_DIAGNOSTICS:]

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._writer.wait_closed()


async def attach(host: DockerHost, container: str, *, api_version: str, seconds: float) -> DockerStream:
    """The streams of a container that is not started yet, so that nothing it says is missed."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await host.connect()
            try:
                path = f"/v{api_version}/containers/{container}/attach?stream=1&stdin=1&stdout=1&stderr=1"
                writer.write(f"POST {path} HTTP/1.1\r\n{_HEADERS}\r\n".encode())
                answer = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode(errors="replace")
                if answer.split()[1:2] not in (["101"], ["200"]):
                    raise OSError(f"it answered '{answer}'")
            except BaseException:
                writer.close()
                raise
    except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError) as error:
        raise UnavailableError(
            f"Cannot attach to a container on {host.url}: {str(error) or 'no answer'}.",
            hint="Check that the daemon answers: docker version",
        ) from error
    return DockerStream(reader, writer)
