"""One connection that something inside a sandbox has opened to its proxy."""

import asyncio
from collections.abc import Callable
from typing import Final

import h11

from skillyard.sandbox.network import Endpoint, canonical_host
from skillyard.sandbox.proxy.addresses import RefusedError
from skillyard.sandbox.proxy.gate import Gate
from skillyard.sandbox.proxy.http_messages import (
    BadRequestError,
    absolute_target,
    answer,
    connect_target,
    onward_request,
    parse_request,
    path_target,
)
from skillyard.sandbox.proxy.streams import Exchange, Side, UpstreamError, relay
from skillyard.sandbox.proxy.tls import MAX_HELLO, NotTlsError, looks_like_tls, read_client_hello

_ACCESS_DENIED: Final = bytes.fromhex("15030300020231")
"""What TLS says to a client that may not go on: it then reports a refusal, not a broken connection."""


class Connection:
    """Serves the requests of one connection, each checked by itself."""

    def __init__(self, gate: Gate, client: Side, touch: Callable[[], None]) -> None:
        self._gate = gate
        self._client = client
        self._touch = touch
        self.waiting_for: Endpoint | None = None
        """The endpoint that has a request and has not begun to answer it."""

    async def serve(self) -> None:
        try:
            while await self._request(None):
                pass
        except BadRequestError as error:
            await self._end_with(400, "Bad Request", f"The proxy did not accept the request: {error}.")

    async def _request(self, tunnel: Endpoint | None) -> bool:
        """Whether another request may follow. In a tunnel all of them are for its endpoint."""
        head = await self._client.read_head(self._gate.limits.head_bytes)
        if head is None:
            return False
        parsed = h11.Connection(h11.SERVER)
        request = parse_request(parsed, head)
        if tunnel is not None:
            return await self._forward(parsed, request, tunnel, path_target(request.target))
        if request.method == b"CONNECT":
            if not isinstance(parsed.next_event(), h11.EndOfMessage):
                raise BadRequestError("CONNECT has no body")
            await self._tunnel(*connect_target(request.target))
            return False
        return await self._forward(parsed, request, *absolute_target(request.target))

    async def _forward(self, parsed: h11.Connection, request: h11.Request, endpoint: Endpoint, path: bytes) -> bool:
        opened = await self._open(endpoint)
        if opened is None:
            return False
        upstream, writer = opened
        exchange = Exchange(self._client, parsed, upstream)
        self.waiting_for = endpoint
        try:
            switched = await exchange.run(
                onward_request(request, endpoint, path),
                on_answer=self._answered,
                abort_upstream=writer.transport.abort,
            )
            if switched:
                await relay(self._client, upstream, end_upstream=writer.write_eof)
                return False
        except BadRequestError:
            if self.waiting_for:
                raise
            return False
        except (UpstreamError, OSError) as error:
            if self.waiting_for:
                text = f"{endpoint} did not answer as it should: {error}."
                await self._end_with(502, "Bad Gateway", text)
            return False
        finally:
            writer.close()
        self._client.put_back(parsed.trailing_data[0])
        return parsed.our_state is h11.DONE and parsed.their_state is h11.DONE

    async def _tunnel(self, host: str, port: int) -> None:
        """TLS passes to an endpoint that is listed with https; plain HTTP, which is how browsers open WebSockets, to
        one that is listed with http, and is checked request by request as everything else is.
        """
        secure = Endpoint(scheme="https", host=host, port=port)
        plain = Endpoint(scheme="http", host=host, port=port)
        if not self._gate.lists(plain):
            await self._secure_tunnel(secure)
            return
        await self._client.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        if not await self._begins_with_tls():
            while await self._request(plain):
                pass
            return
        if self._gate.lists(secure):
            await self._secure_tunnel(secure, answered=True)
            return
        self._gate.seen.refuse(secure)
        await self._client.write(_ACCESS_DENIED)

    async def _secure_tunnel(self, endpoint: Endpoint, *, answered: bool = False) -> None:
        opened = await self._open(endpoint)
        if opened is None:
            return
        upstream, writer = opened
        try:
            if not answered:
                await self._client.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            if not await self._begins_with_tls():
                self._gate.seen.refuse(endpoint)
                text = self._gate.refusal(endpoint, f"{endpoint} is listed with https, and this is not TLS")
                await self._end_with(403, "Forbidden", text)
            elif await self._is_meant_for(endpoint.host):
                await relay(self._client, upstream, end_upstream=writer.write_eof)
            else:
                self._gate.seen.refuse(endpoint)
                await self._client.write(_ACCESS_DENIED)
        finally:
            writer.close()

    async def _begins_with_tls(self) -> bool:
        first = await self._client.read()
        self._client.put_back(first)
        return looks_like_tls(first)

    async def _is_meant_for(self, host: str) -> bool:
        """Whether the greeting names no other host than the tunnel was opened for."""
        data = b""
        try:
            while (hello := read_client_hello(data)) is None:
                piece = await self._client.read()
                if not piece or len(data) > MAX_HELLO:
                    return False
                data += piece
            self._client.put_back(data)
            return hello.server_name is None or canonical_host(hello.server_name) == host
        except (NotTlsError, ValueError):
            return False

    async def _open(self, endpoint: Endpoint) -> tuple[Side, asyncio.StreamWriter] | None:
        """A connection to the endpoint; without one, the client is told why."""
        try:
            reader, writer = await self._gate.connect(endpoint)
        except RefusedError as error:
            text = self._gate.refusal(endpoint, str(error))
            await self._end_with(403, "Refused by the network policy of this sandbox", text)
        except TimeoutError:
            text = f"{endpoint} is on the list of this sandbox, but did not answer in time."
            await self._end_with(504, "Gateway Timeout", text)
        except OSError as error:
            text = f"{endpoint} is on the list of this sandbox, but could not be reached: {error.strerror or error}."
            await self._end_with(502, "Bad Gateway", text)
        else:
            return Side(reader, writer, self._touch), writer
        return None

    async def _end_with(self, status: int, reason: str, text: str) -> None:
        self.waiting_for = None
        await self._client.end_with(answer(status, reason, text), self._gate.limits.linger_seconds)

    def _answered(self) -> None:
        self.waiting_for = None
