"""Sandboxes at a computer-use server that is reached over MCP: the same guest as elsewhere, at the end of a tunnel."""

import asyncio
import base64
import contextlib
import json
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.cancellation import to_the_end
from skillyard.errors import CapabilityError, ConflictError, NotFoundError, SkillyardError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Ability, Capabilities
from skillyard.sandbox.computer_use.remote import Remote
from skillyard.sandbox.computer_use.tools import Tools
from skillyard.sandbox.computer_use.tunnel import Tunnel
from skillyard.sandbox.home_id import home_id
from skillyard.sandbox.link.guest_files import guest_argv, guest_zip
from skillyard.sandbox.link.guest_session import GuestSession
from skillyard.sandbox.place import Limits, Place
from skillyard.sandbox.session import Session

_MOVE_SECONDS: Final = 120.0
"""How long the server may take to pack or unpack a workspace."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class ComputerUseSettings:
    """What the backend is told by whoever runs the yard."""

    url: str | None
    """Streamable HTTP, as in `COMPUTER_USE_MCP_URL`."""
    ttl_seconds: int = 3600
    """After so long the server may end a session by itself."""
    seconds: float = 30.0
    """How long the server may take for an answer."""


class ComputerUseBackend(Backend):
    """Sessions of a computer-use server. A workspace is fetched when its sandbox ends, and sent for the next."""

    name = "mcp"

    def __init__(self, settings: ComputerUseSettings, *, cargos: Path) -> None:
        """`cargos` is the folder where workspaces are kept, as files that nothing here looks into."""
        self._settings = settings
        self._cargos = cargos
        self._sessions: dict[str, GuestSession] = {}
        self._remotes: dict[str, Remote] = {}
        self._endings: dict[str, asyncio.Task[None]] = {}

    async def capabilities(self) -> Capabilities:
        try:
            tools = await self._connect()
        except SkillyardError as error:
            return Capabilities(backend=self.name, available=False, reason=error.message, fix=error.hint)
        await tools.close()
        return Capabilities(
            backend=self.name,
            available=True,
            abilities=frozenset({Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM, Ability.SNAPSHOT}),
            reason="What its sessions are kept from is up to the server and cannot be seen from here. Files are kept "
            "when a sandbox ends; those of a session that the server ends by itself are lost.",
        )

    async def start(self, place: Place) -> Session:
        if place.mounts or place.network.allow:
            raise CapabilityError(
                "A computer-use server takes neither mounts nor a list of endpoints.",
                hint="Leave out 'mounts' and 'network', or choose another isolation: bwrap, docker",
            )
        old = self._sessions.get(place.sandbox_id)
        if old is not None:
            await old.close()
        await self._settled(place.cargo_id)
        if place.cargo_id in self._remotes:
            raise ConflictError(
                f"The cargo '{place.cargo_id}' is in another sandbox, and there is only one of it at a time here.",
                hint="Delete that sandbox first.",
                details={"cargo_id": place.cargo_id},
            )
        tools = await self._connect()
        try:
            remote = await Remote.create(tools, ttl=self._settings.ttl_seconds)
            try:
                session = await self._open(remote, place)
            except BaseException:
                with contextlib.suppress(SkillyardError):
                    await to_the_end(remote.end())
                raise
        except BaseException:
            await to_the_end(tools.close())
            raise
        self._remotes[place.cargo_id] = remote
        self._sessions[place.sandbox_id] = session
        return session

    async def home(self) -> str:
        return await asyncio.to_thread(home_id, self._cargos.parent)

    async def has_cargo(self, cargo_id: str) -> bool:
        return cargo_id in self._remotes or self._file(cargo_id).exists()

    async def remove_cargo(self, cargo_id: str) -> None:
        await self._settled(cargo_id)
        self._file(cargo_id).unlink(missing_ok=True)

    async def copy_cargo(self, source: str, target: str) -> None:
        await self._settled(source)
        if target in self._remotes or self._file(target).exists():
            raise ConflictError(f"There is a cargo '{target}' already.", details={"cargo_id": target})
        remote = self._remotes.get(source)
        if remote is not None:
            await remote.save(self._file(target), max_bytes=Limits().disk_bytes, seconds=_MOVE_SECONDS)
        elif self._file(source).exists():
            await asyncio.to_thread(shutil.copyfile, self._file(source), self._file(target))
        else:
            raise NotFoundError(f"There is no cargo '{source}'.", details={"cargo_id": source})

    async def sweep(self, keep: Collection[str]) -> int:
        """What a killed server left is not known here: it ends by itself when nobody asks for it any more."""
        unwanted = [session for sandbox_id, session in self._sessions.items() if sandbox_id not in keep]
        await asyncio.gather(*(session.close() for session in unwanted))
        return len(unwanted)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions.values())), return_exceptions=True)
        await asyncio.gather(*self._endings.values(), return_exceptions=True)

    async def _connect(self) -> Tools:
        if not self._settings.url:
            raise CapabilityError(
                "No computer-use server is set.", hint="export COMPUTER_USE_MCP_URL=http://127.0.0.1:8000/mcp"
            )
        tools = Tools(self._settings.url, seconds=self._settings.seconds)
        await tools.open()
        return tools

    async def _open(self, remote: Remote, place: Place) -> GuestSession:
        if self._file(place.cargo_id).exists():
            await remote.load(self._file(place.cargo_id), seconds=_MOVE_SECONDS)
        start = {
            "argv": guest_argv(
                "python3", f"{remote.folder}/guest.zip", workspace=remote.workspace, limits=place.limits
            ),
            "workspace": remote.workspace,
            "environment": {
                "PATH": _PATH,
                "LANG": "C.UTF-8",
                "HOME": remote.workspace,
                **place.environment,
            },
        }
        await remote.write("guest.json", json.dumps(start))
        await remote.write("guest.b64", base64.urlsafe_b64encode(guest_zip()).decode())
        await remote.ask("serve")

        async def end() -> None:
            self._sessions.pop(place.sandbox_id, None)
            self._remotes.pop(place.cargo_id, None)
            await asyncio.shield(self._ending(remote, place))

        return await GuestSession.open(Tunnel(remote), limits=place.limits, proxy=None, on_close=end)

    def _ending(self, remote: Remote, place: Place) -> "asyncio.Task[None]":
        """What happens at the end goes on when nobody waits for it any more: files are fetched there."""
        ending = self._endings.get(place.cargo_id)
        if ending is None:
            ending = asyncio.create_task(self._end(remote, place))
            self._endings[place.cargo_id] = ending
            ending.add_done_callback(lambda _: self._endings.pop(place.cargo_id, None))
        return ending

    async def _end(self, remote: Remote, place: Place) -> None:
        try:
            await remote.save(self._file(place.cargo_id), max_bytes=place.limits.disk_bytes, seconds=_MOVE_SECONDS)
        finally:
            with contextlib.suppress(SkillyardError):
                await remote.end()
            await remote.tools.close()

    async def _settled(self, cargo_id: str) -> None:
        ending = self._endings.get(cargo_id)
        if ending is not None:
            await asyncio.wait([ending])

    def _file(self, cargo_id: str) -> Path:
        return self._cargos / f"{cargo_id}.tar.gz"
