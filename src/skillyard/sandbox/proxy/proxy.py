"""The one way out of a sandbox: a proxy on the host that connects to what is listed, and to nothing else.

Everything that it is told comes from inside the sandbox and is hostile. Each request is checked by itself, so a
redirect, a second request on a connection that is kept, and a name that suddenly has another address lead nowhere new.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from skillyard.sandbox.link.connections import StreamWriterLike
from skillyard.sandbox.network import NetworkPolicy
from skillyard.sandbox.proxy.addresses import Resolver, system_resolver
from skillyard.sandbox.proxy.connection import Connection
from skillyard.sandbox.proxy.gate import Gate, ProxyLimits, Seen
from skillyard.sandbox.proxy.http_messages import answer
from skillyard.sandbox.proxy.streams import Side

__all__ = ["NetworkProxy", "ProxyLimits", "Seen"]


class NetworkProxy:
    """Serves the connections that one sandbox opens: plain HTTP requests, and tunnels for TLS and WebSockets."""

    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        forbidden_ports: Collection[int] = (),
        resolver: Resolver = system_resolver,
        limits: ProxyLimits | None = None,
    ) -> None:
        """`forbidden_ports` are Skillyard's own, on every address of this machine; the collection may still grow."""
        self._limits = limits or ProxyLimits()
        self._gate = Gate(policy, forbidden_ports=forbidden_ports, resolver=resolver, limits=self._limits)
        self._open = 0

    @property
    def seen(self) -> Seen:
        """How often each endpoint was asked for."""
        return self._gate.seen

    async def __call__(self, reader: asyncio.StreamReader, writer: StreamWriterLike) -> None:
        """Serve one connection to its end. What goes wrong is told to the client, and raised to nobody."""
        self._open += 1
        try:
            with suppress(OSError):  # the client is gone
                if self._open > self._limits.connections:
                    text = f"This sandbox has {self._limits.connections} connections open already; close some first."
                    side = Side(reader, writer, lambda: None)
                    await side.end_with(answer(503, "Service Unavailable", text), self._limits.linger_seconds)
                else:
                    await self._serve(reader, writer)
        finally:
            self._open -= 1
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: StreamWriterLike) -> None:
        idle = asyncio.timeout(self._limits.idle_seconds)
        loop = asyncio.get_running_loop()

        def touch() -> None:
            if not idle.expired():
                idle.reschedule(loop.time() + self._limits.idle_seconds)

        connection = Connection(self._gate, Side(reader, writer, touch), touch)
        try:
            async with idle:
                await connection.serve()
        except TimeoutError:
            if connection.waiting_for:
                text = f"{connection.waiting_for} did not answer for {self._limits.idle_seconds:g} seconds."
                writer.write(answer(504, "Gateway Timeout", text))
