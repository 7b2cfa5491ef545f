"""The proxy over real sockets: a client that may do anything, and servers that must or must not be reached."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from skillyard.sandbox.network import parse_network
from skillyard.sandbox.proxy.proxy import NetworkProxy, ProxyLimits


class Origin:
    """A server that keeps what it was asked and answers with what it is told to."""

    def __init__(self, response=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"):
        self.response = response
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self.port = 0

    async def __call__(self, reader, writer):
        self.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head)
            if b"upgrade: websocket" in head.lower():
                await self.switch(reader, writer)
                return
            self.bodies.append(await self.body(head, reader))
            writer.write(self.response)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def body(self, head, reader):
        if b"chunked" in head.lower():
            return await reader.readuntil(b"0\r\n\r\n")
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        return await reader.readexactly(int(length[0].split(b":")[1])) if length else b""

    async def switch(self, reader, writer):
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst")
        while data := await reader.read(1000):
            writer.write(data.upper())
            await writer.drain()


@asynccontextmanager
async def serving(handler, **options):
    server = await asyncio.start_server(handler, "127.0.0.1", 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def origin(*args, **options):
    site = Origin(*args)
    async with serving(site, **options) as site.port:
        yield site


@asynccontextmanager
async def proxied(*allow, **options):
    """A proxy, and a way to open connections to it."""
    limits = replace(options.pop("limits", ProxyLimits()), linger_seconds=0.02)
    proxy = NetworkProxy(parse_network({"allow": list(allow)}), limits=limits, **options)
    async with serving(proxy) as port:
        yield proxy, lambda: asyncio.open_connection("127.0.0.1", port)


async def say(connect, data):
    """Everything that comes back for some bytes."""
    reader, writer = await connect()
    writer.write(data)
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


def get(url, host="x", more=""):
    return f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode()


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer else 0


@pytest.fixture
def wire():
    """All of it by name, for the tests of several modules."""
    return SimpleNamespace(origin=origin, serving=serving, proxied=proxied, say=say, get=get, status=status)
