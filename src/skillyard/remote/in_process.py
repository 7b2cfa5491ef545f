"""Talking to an application of this very process as if it were a server."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, MutableMapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

import httpx

T = TypeVar("T")
Application: TypeAlias = Callable[..., Coroutine[Any, Any, None]]
"""An ASGI application."""
Message: TypeAlias = MutableMapping[str, Any]


class InProcess(httpx.BaseTransport):
    """Runs an application on a loop of its own, in a thread, from the first request until it is closed."""

    def __init__(self, application: Callable[[], AbstractAsyncContextManager[Application]]) -> None:
        self._application = application
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._opened: AbstractAsyncContextManager[Application] | None = None
        self._inner: Application | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._starting = threading.Lock()
        self._opening = asyncio.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(request, request.read())
        return exchange.response(self._start(self._serve(exchange)))

    def close(self) -> None:
        if self._loop is None or self._thread is None:
            return
        try:
            self._start(self._end()).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None

    async def _serve(self, exchange: "_Exchange") -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 -- it was started as one
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        try:
            # Several threads may ask at once, and the first of them opens it for all.
            async with self._opening:
                if self._inner is None:
                    opening = self._application()
                    self._inner = await opening.__aenter__()
                    self._opened = opening
            await self._inner(exchange.scope, exchange.receive, exchange.send)
        except BaseException as error:
            exchange.fail(error)
            raise
        exchange.finish()

    async def _end(self) -> None:
        # What was given up may still be writing down that it was.
        if self._answering:
            await asyncio.wait(self._answering)
        opened, self._opened, self._inner = self._opened, None, None
        if opened is not None:
            await opened.__aexit__(None, None, None)

    def _start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="yard", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)


class OnLoop(httpx.BaseTransport):
    """Asks an application on the loop that it runs on already; from other threads, which wait for the answer.

    `headers` come with every request: they say whom it is from.
    """

    def __init__(
        self, application: Application, loop: asyncio.AbstractEventLoop, headers: Sequence[tuple[bytes, bytes]] = ()
    ) -> None:
        self._application = application
        self._loop = loop
        self._headers = tuple(headers)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(request, request.read())
        exchange.scope["headers"] += self._headers
        return exchange.response(asyncio.run_coroutine_threadsafe(self._serve(exchange), self._loop))

    async def _serve(self, exchange: "_Exchange") -> None:
        try:
            await self._application(exchange.scope, exchange.receive, exchange.send)
        except asyncio.CancelledError:
            # The loop ends, or nobody waits any more; whoever does gets an error that they know.
            exchange.fail(httpx.ConnectError("the server stopped"))
            raise
        except BaseException as error:
            exchange.fail(error)
            raise
        exchange.finish()


class _Exchange:
    """One request and its answer, which comes in pieces from the application's thread."""

    def __init__(self, request: httpx.Request, body: bytes) -> None:
        self._request = request
        self.scope: Message = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(key.lower(), value) for key, value in request.headers.raw],
            "server": (request.url.host, request.url.port),
            "client": ("127.0.0.1", 0),
        }
        self.head: Future[tuple[int, list[tuple[bytes, bytes]]]] = Future()
        self.parts: SimpleQueue[bytes | BaseException | None] = SimpleQueue()
        self._body: bytes | None = body
        self._answered = asyncio.Event()

    def response(self, serving: "Future[None]") -> httpx.Response:
        """The answer as soon as it begins; giving it up ends what is serving it."""
        try:
            status, headers = self.head.result()
        except BaseException:
            serving.cancel()
            raise
        return httpx.Response(status, headers=headers, stream=_Body(self, serving), request=self._request)

    async def receive(self) -> Message:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self._answered.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head.set_result((message["status"], list(message.get("headers", ()))))
            return
        self.parts.put(message.get("body", b""))
        if not message.get("more_body", False):
            self._answered.set()

    def finish(self) -> None:
        self.parts.put(None)

    def fail(self, error: BaseException) -> None:
        """Tell whoever waits, for the head or for the rest of the body."""
        if self.head.done():
            self.parts.put(error)
        else:
            self.head.set_exception(error)


class _Body(httpx.SyncByteStream):
    def __init__(self, exchange: _Exchange, serving: "Future[None]") -> None:
        self._exchange = exchange
        self._serving = serving

    def __iter__(self) -> Iterator[bytes]:
        while (part := self._exchange.parts.get()) is not None:
            if isinstance(part, BaseException):
                raise part
            yield part

    def close(self) -> None:
        self._serving.cancel()
