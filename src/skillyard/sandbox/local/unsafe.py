"""The backend that contains nothing: a plain process, for whoever has decided in so many words to do without."""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from skillyard.errors import UnavailableError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Ability, Capabilities
from skillyard.sandbox.home_id import home_id
from skillyard.sandbox.link.guest_files import guest_argv, guest_folder
from skillyard.sandbox.link.guest_session import ConnectionHandler, GuestSession
from skillyard.sandbox.local.cargos import Cargos
from skillyard.sandbox.local.inside import environment
from skillyard.sandbox.local.streams import stream_pair
from skillyard.sandbox.local.uids import Users
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Session

_END_SECONDS: Final = 5.0
_ABILITIES: Final = frozenset({Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM, Ability.NETWORK, Ability.SNAPSHOT})


class UnsafeBackend(Backend):
    """Runs everything as the user of the server, with all that this user may do."""

    name = "unsafe"

    def __init__(
        self,
        folder: Path,
        *,
        enabled: bool,
        proxy: Callable[[Place], ConnectionHandler | None] = lambda _: None,
    ) -> None:
        self._enabled = enabled
        self._proxy = proxy
        self._folder = folder
        self._cargos = Cargos(folder / "cargos", Users(uids=None))
        self._sessions: dict[str, GuestSession] = {}

    async def capabilities(self) -> Capabilities:
        if not self._enabled:
            return Capabilities(
                backend=self.name,
                available=False,
                reason="It isolates nothing, and is used only if a setting names it.",
                fix="Only for code that you trust as your own: skillyard config set sandbox_backend unsafe",
            )
        return Capabilities(
            backend=self.name,
            available=True,
            abilities=_ABILITIES,
            reason="It contains nothing: what runs in it can do all that the server can.",
        )

    async def start(self, place: Place) -> Session:
        capabilities = await self.capabilities()
        if not capabilities.available:
            raise UnavailableError(capabilities.reason, hint=capabilities.fix)
        workspace = await asyncio.to_thread(self._cargos.ensure, place.cargo_id)
        proxy = self._proxy(place)
        argv = guest_argv(
            sys.executable,
            str(guest_folder()),
            workspace=str(workspace.path),
            limits=place.limits,
            proxy_port=0 if proxy is not None else None,
            unset=("processes",),  # the user of the server has other processes, too
        )
        transport, theirs = await stream_pair()
        with theirs:
            try:
                process = await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                    env=environment(str(workspace.path), tempfile.gettempdir(), place.environment),
                    cwd=workspace.path,
                )
            except OSError as error:
                await transport.close()
                raise UnavailableError(f"A sandbox does not start: {error}.") from error

        async def end() -> None:
            await _end(process)
            self._sessions.pop(place.sandbox_id, None)

        session = await GuestSession.open(transport, limits=place.limits, proxy=proxy, on_close=end)
        previous = self._sessions.get(place.sandbox_id)
        if previous is not None:
            await previous.close()
        self._sessions[place.sandbox_id] = session
        return session

    async def home(self) -> str:
        return await asyncio.to_thread(home_id, self._folder)

    async def has_cargo(self, cargo_id: str) -> bool:
        return await asyncio.to_thread(self._cargos.has, cargo_id)

    async def remove_cargo(self, cargo_id: str) -> None:
        await asyncio.to_thread(self._cargos.remove, cargo_id)

    async def copy_cargo(self, source: str, target: str) -> None:
        await asyncio.to_thread(self._cargos.copy, source, target)

    async def sweep(self, keep: Collection[str]) -> int:
        """Processes end with their server by themselves: only those of this one can be too many."""
        unwanted = [session for sandbox_id, session in self._sessions.items() if sandbox_id not in keep]
        await asyncio.gather(*(session.close() for session in unwanted))
        return len(unwanted)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions.values())))


async def _end(process: asyncio.subprocess.Process) -> None:
    """The guest ends with its stream, and with it all that it started; when it does not, it is killed."""
    with contextlib.suppress(ProcessLookupError):
        try:
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
    await process.wait()
