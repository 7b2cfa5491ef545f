"""An application that comes into being when its server starts, and is closed when it stops."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from skillyard.server.asgi import Receive, Scope, Send


class Stoppable(Protocol):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def close(self) -> None:
        """End what would go on for ever."""
        ...


class Opened:
    """Opens an application in the event loop that will run it; what goes wrong then is kept in `failure`."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[Stoppable]]) -> None:
        self.failure: Exception | None = None
        self._opening = opening
        self._app: Stoppable | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is None:
            raise RuntimeError("the server did not start the application")
        else:
            await self._app(scope, receive, send)

    def stop(self) -> None:
        """The server begins to stop: it waits for what is under way, and nothing may go on for ever."""
        if self._app is not None:
            self._app.close()

    async def _live(self, receive: Receive, send: Send) -> None:
        phase = "startup"
        try:
            await receive()
            async with self._opening() as self._app:
                phase = "shutdown"
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception as error:
            self.failure = error
            await send({"type": f"lifespan.{phase}.failed", "message": ""})
            raise
        await send({"type": "lifespan.shutdown.complete"})
