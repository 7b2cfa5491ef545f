"""A Docker daemon on a machine that is reached by ssh, as a socket here."""

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from skillyard.sandbox.docker.host import DockerHost

_PIECE: Final = 65536


class SshBridge:
    """A socket on which every connection is one to the daemon, through a process of the `ssh` command.

    So keys, agents and settings are those that the person has for ssh anyway.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._folder: Path | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> DockerHost:
        """Start listening; answers where."""
        self._folder = Path(tempfile.mkdtemp(prefix="skillyard-docker-"))  # only its owner may enter
        listening = self._folder / "docker.sock"
        self._server = await asyncio.start_unix_server(self._accept, listening)
        return DockerHost(url=f"unix://{listening}")

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._connect(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *ssh_line(self._url), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
            try:
                await _relay(reader, writer, process)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        finally:
            writer.close()


async def _relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: asyncio.subprocess.Process
) -> None:
    assert process.stdin is not None  # noqa: S101 -- a pipe was asked for
    assert process.stdout is not None  # noqa: S101
    both = [asyncio.create_task(_copy(reader, process.stdin)), asyncio.create_task(_copy(process.stdout, writer))]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)


def ssh_line(url: str) -> list[str]:
    """The command that connects its own stdin and stdout with the daemon of a machine."""
    parts = urlsplit(url)
    line = ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15"]
    if parts.port:
        line += ["-p", str(parts.port)]
    if parts.username:
        line += ["-l", parts.username]
    return [*line, "--", parts.hostname or "", "docker", "system", "dial-stdio"]


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(_PIECE):
            target.write(data)
            await target.drain()
