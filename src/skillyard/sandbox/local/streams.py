"""A stream between the server and the guest of one sandbox on the same machine."""

import asyncio
import contextlib
import socket


class SocketTransport:
    """The server's end of a pair of sockets."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, n: int) -> bytes:
        return await self._reader.read(n)

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def stream_pair() -> tuple[SocketTransport, socket.socket]:
    """A stream, and the end of it that another process is to have."""
    ours, theirs = socket.socketpair()
    try:
        reader, writer = await asyncio.open_connection(sock=ours)
    except BaseException:
        ours.close()
        theirs.close()
        raise
    return SocketTransport(reader, writer), theirs
