"""Talking to an application of this very process as if it were a server."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeAlias, TypeVar

import httpx

T = TypeVar("T")
Application: TypeAlias = Callable[..., Any]
"""An ASGI application."""


class InProcess(httpx.BaseTransport):
    """Runs an application on a loop of its own, in a thread, from the first request until it is closed."""

    def __init__(self, application: Callable[[], AbstractAsyncContextManager[Application]]) -> None:
        self._application = application
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._opened: AbstractAsyncContextManager[Application] | None = None
        self._inner: httpx.AsyncBaseTransport | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._wait(self._handle(request))

    def close(self) -> None:
        if self._loop is None or self._thread is None:
            return
        try:
            self._wait(self._end())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        if self._inner is None:
            opening = self._application()
            self._inner = httpx.ASGITransport(await opening.__aenter__(), client=("127.0.0.1", 0))
            self._opened = opening
        body = request.read()
        copy = httpx.Request(request.method, request.url, headers=request.headers, content=body)
        answer = await self._inner.handle_async_request(copy)
        content = b"".join([part async for part in answer.aiter_raw()])
        return httpx.Response(answer.status_code, headers=answer.headers, content=content, request=request)

    async def _end(self) -> None:
        opened, self._opened, self._inner = self._opened, None, None
        if opened is not None:
            await opened.__aexit__(None, None, None)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="yard", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
