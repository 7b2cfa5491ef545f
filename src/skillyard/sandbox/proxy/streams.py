"""The two sides of a connection through a sandbox's proxy, and how bytes and messages pass between them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import h11

from skillyard.sandbox.link.connections import StreamWriterLike
from skillyard.sandbox.proxy.http_messages import (
    END_OF_HEAD,
    BadRequestError,
    check_line_ends,
    onward_response,
    onward_switch,
)

_PIECE: Final = 64 * 1024
_SWITCHING: Final = 101


class UpstreamError(Exception):
    """The endpoint did not answer as HTTP asks."""


class Side:
    """One side: bytes that were read too far can be put back, and every byte says that something moves."""

    def __init__(self, reader: asyncio.StreamReader, writer: StreamWriterLike, touch: Callable[[], None]) -> None:
        self._reader = reader
        self._writer = writer
        self._touch = touch
        self._pending = b""

    def put_back(self, data: bytes) -> None:
        self._pending = data + self._pending

    async def read(self) -> bytes:
        """Some bytes, or none at the end."""
        if self._pending:
            data, self._pending = self._pending, b""
            return data
        data = await self._reader.read(_PIECE)
        self._touch()
        return data

    async def write(self, data: bytes) -> None:
        if data:
            self._writer.write(data)
            await self._writer.drain()
            self._touch()

    async def end_with(self, data: bytes, linger_seconds: float) -> None:
        """Write the last bytes, and then let the other side finish what it sends."""
        await self.write(data)
        with suppress(TimeoutError):
            async with asyncio.timeout(linger_seconds):
                while await self.read():
                    pass

    async def read_head(self, limit: int) -> bytes | None:
        """The head of the next request, or None when there is none."""
        data = b""
        seen = 0
        while (end := data.find(END_OF_HEAD, seen)) < 0:
            check_line_ends(data, seen)
            if len(data) > limit:
                raise BadRequestError(f"its head is longer than {limit} bytes")
            seen = max(0, len(data) - len(END_OF_HEAD))
            piece = await self.read()
            if not piece:
                if data:
                    raise BadRequestError("it ends within its head")
                return None
            data += piece
        end += len(END_OF_HEAD)
        self.put_back(data[end:])
        if end > limit:
            raise BadRequestError(f"its head is longer than {limit} bytes")
        return data[:end]


async def relay(client: Side, upstream: Side, *, end_upstream: Callable[[], None]) -> None:
    """Carry bytes both ways until the upstream ends."""

    async def up() -> None:
        while data := await client.read():
            await upstream.write(data)
        end_upstream()

    upload = asyncio.create_task(up())
    try:
        while data := await upstream.read():
            await client.write(data)
    finally:
        await _end(upload)


class Exchange:
    """One request of a client, sent on, and the response, sent back."""

    def __init__(self, client: Side, parsed: h11.Connection, upstream: Side) -> None:
        self._client = client
        self._parsed = parsed
        """The client's side of the talk: its request was read from here, and the response is framed for it."""
        self._upstream = upstream
        self._talk = h11.Connection(h11.CLIENT)

    async def run(
        self, request: h11.Request, *, on_answer: Callable[[], None], abort_upstream: Callable[[], None]
    ) -> bool:
        """Whether the connection has become a WebSocket; its bytes are then the caller's to relay."""
        await self._upstream.write(self._talk.send(request) or b"")
        upload = asyncio.create_task(self._upload(abort_upstream))
        try:
            return await self._download(on_answer)
        except (UpstreamError, OSError):
            if upload.done() and not upload.cancelled() and (cause := upload.exception()):
                raise cause from None
            raise
        finally:
            await _end(upload)

    async def _upload(self, abort_upstream: Callable[[], None]) -> None:
        try:
            if self._parsed.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                await self._client.write(self._parsed.send(go_on) or b"")
            while not isinstance(event := self._parsed.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    self._parsed.receive_data(await self._client.read())
                elif isinstance(event, h11.Data):
                    await self._upstream.write(self._talk.send(event) or b"")
                else:
                    raise BadRequestError("it ends within its body")
            await self._upstream.write(self._talk.send(h11.EndOfMessage()) or b"")
        except h11.ProtocolError as error:
            abort_upstream()
            raise BadRequestError(str(error)) from None
        except BadRequestError:
            abort_upstream()
            raise

    async def _download(self, on_answer: Callable[[], None]) -> bool:
        try:
            while not isinstance(event := self._talk.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    self._talk.receive_data(await self._upstream.read())
                elif isinstance(event, h11.InformationalResponse):
                    if event.status_code == _SWITCHING:
                        on_answer()
                        return await self._switch(event)
                elif isinstance(event, h11.Response):
                    on_answer()
                    await self._client.write(self._parsed.send(onward_response(event)) or b"")
                elif isinstance(event, h11.Data):
                    await self._client.write(self._parsed.send(h11.Data(data=event.data)) or b"")
                else:
                    raise UpstreamError("the connection ended before its answer did")
            await self._client.write(self._parsed.send(h11.EndOfMessage()) or b"")
        except h11.ProtocolError as error:
            raise UpstreamError(str(error)) from None
        return False

    async def _switch(self, response: h11.InformationalResponse) -> bool:
        await self._client.write(self._parsed.send(onward_switch(response)) or b"")
        self._client.put_back(self._parsed.trailing_data[0])
        self._upstream.put_back(self._talk.trailing_data[0])
        return True


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
