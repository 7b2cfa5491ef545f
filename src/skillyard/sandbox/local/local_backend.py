"""What the backends on this machine have in common: cargos in folders, bounds, and the guest at the end of a stream."""

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from skillyard.errors import SkillyardError, UnavailableError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Barrier
from skillyard.sandbox.home_id import home_id
from skillyard.sandbox.link.guest_session import ConnectionHandler, GuestSession
from skillyard.sandbox.local.cargos import Cargos, Workspace
from skillyard.sandbox.local.cgroups import MEMORY, PIDS, Cgroups
from skillyard.sandbox.local.disk import DiskWatch, Usage, measure
from skillyard.sandbox.local.launch import Descriptors, Launch, launch
from skillyard.sandbox.local.outside import Outside, end_abandoned
from skillyard.sandbox.local.processes import threads_of
from skillyard.sandbox.local.runtime import MARK, Runtime
from skillyard.sandbox.local.streams import stream_pair
from skillyard.sandbox.local.uids import Users
from skillyard.sandbox.place import MIB, Limits, Place
from skillyard.sandbox.session import Session

MakeProxy: TypeAlias = Callable[[Place], ConnectionHandler | None]
"""Gives what answers the connections that a sandbox opens, for one that may open any."""

_FULL_MARGIN: Final = 4 * MIB
"""What a workspace that is over its bound may still grow by, while its sandbox can do no more than delete."""
_OTHER_PROCESSES: Final = 1024
"""What else a user may start beside a sandbox whose processes are counted with his."""
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is prepared for one start."""

    place: Place
    limits: Limits
    """What the guest is to set for each process."""
    workspace: Workspace
    runtime: Runtime
    cgroups: tuple[str, ...]
    unset: tuple[str, ...]
    """Limits that the guest is to leave alone, as something better bounds them."""
    proxied: bool
    """Whether connections that are opened inside are answered."""
    descriptors: Descriptors

    @property
    def environment(self) -> dict[str, str]:
        return {**self.place.environment, MARK: self.place.sandbox_id}


class LocalBackend(Backend, ABC):
    """Starts sandboxes as processes of this machine."""

    def __init__(self, folder: Path, *, users: Users, cgroups: Cgroups, proxy: MakeProxy) -> None:
        self._folder = folder
        self._users = users
        self._cgroups = cgroups
        self._proxy = proxy
        self._cargos = Cargos(folder / "cargos", users)
        self._running: dict[str, Outside] = {}

    @abstractmethod
    def _launch(self, surroundings: Surroundings) -> Launch:
        """How to start the guest there."""

    def _bounds(self) -> set[Barrier]:
        """The barriers that do not depend on how a sandbox is isolated."""
        bounds = {Barrier.FILE_SIZE, Barrier.DISK, Barrier.MEMORY}
        if MEMORY in self._cgroups.controllers:
            bounds.add(Barrier.MEMORY_TOTAL)
        if PIDS in self._cgroups.controllers or self._counted_alone():
            bounds.add(Barrier.PROCESS_COUNT)
        return bounds

    def _not_bounded(self) -> dict[Barrier, str]:
        """The bounds that are missing here, and why."""
        reasons = {
            Barrier.MEMORY_TOTAL: "Memory is bounded for each process, not for all together.",
            Barrier.PROCESS_COUNT: "Processes are counted together with others of the same user, so loosely.",
        }
        bounds = self._bounds()
        return {barrier: reason for barrier, reason in reasons.items() if barrier not in bounds}

    @abstractmethod
    def _counted_alone(self) -> bool:
        """Whether the kernel counts the processes of a sandbox apart from others of the same user."""

    def _limits_inside(self, limits: Limits) -> Limits:
        """What the guest sets for each process."""
        if not self._counted_alone():
            room = threads_of(os.geteuid()) + _OTHER_PROCESSES
            limits = replace(limits, processes=limits.processes + room)
        return limits

    async def start(self, place: Place) -> Session:
        previous = self._running.get(place.sandbox_id)
        if previous is not None:
            await previous.end()
        runtime = await asyncio.to_thread(Runtime.make, self._folder / "runtime", place.sandbox_id)
        outside = Outside(runtime, self._forget)
        self._running[place.sandbox_id] = outside
        try:
            return await self._start(place, outside)
        except BaseException:
            await asyncio.shield(outside.end())
            raise

    def _forget(self, outside: Outside) -> None:
        if self._running.get(outside.runtime.sandbox_id) is outside:
            del self._running[outside.runtime.sandbox_id]

    async def _start(self, place: Place, outside: Outside) -> GuestSession:
        workspace = await asyncio.to_thread(self._cargos.ensure, place.cargo_id)
        usage = await measure([workspace.path])
        limits, bound = place.limits, Usage.at_most(place.limits.disk_bytes)
        if usage.over(bound):  # it can still be started, to delete what is too much
            limits = replace(limits, file_bytes=0)
            margin = Usage.at_most(_FULL_MARGIN)
            bound = Usage(bytes_used=usage.bytes_used + margin.bytes_used, files=usage.files + margin.files)
        if self._cgroups.available:
            outside.group = self._cgroups.make(place.sandbox_id, limits)
            outside.runtime.note_groups(outside.group.folders)
        proxy = self._proxy(place)
        transport, theirs = await stream_pair()
        with theirs, Descriptors() as descriptors:
            try:
                prepared = self._launch(
                    Surroundings(
                        place=place,
                        limits=self._limits_inside(limits),
                        workspace=workspace,
                        runtime=outside.runtime,
                        cgroups=outside.group.entrances if outside.group else (),
                        # Of one process, addresses can be bounded; programs reserve far more of them than they use.
                        unset=("memory_bytes",) if MEMORY in self._cgroups.controllers else (),
                        proxied=proxy is not None,
                        descriptors=descriptors,
                    )
                )
                launched = outside.launched = await launch(prepared, theirs, descriptors.numbers)
            except BaseException:
                await transport.close()
                raise
        try:
            session = await GuestSession.open(transport, limits=limits, proxy=proxy, on_close=outside.end)
        except SkillyardError as error:
            said = await launched.complaints()
            raise UnavailableError(f"A sandbox does not start: {said or error.message}", hint=error.hint) from error

        async def too_large(usage: Usage) -> None:
            _log.warning("sandbox.disk.exceeded", extra={"sandbox": place.sandbox_id, "used": usage.bytes_used})
            await session.close()

        folders = [workspace.path, outside.runtime.folder]
        outside.watch = DiskWatch(folders, bound, pid=launched.pid, on_excess=too_large, used=usage)
        if outside.ending:  # it died meanwhile
            await outside.watch.stop()
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
        """Processes end with their server; what is left of one is folders, and what fled before its end."""
        unwanted = [outside for sandbox_id, outside in self._running.items() if sandbox_id not in keep]
        await asyncio.gather(*(outside.end() for outside in unwanted))
        return len(unwanted) + await asyncio.to_thread(end_abandoned, self._folder / "runtime", keep)

    async def close(self) -> None:
        await asyncio.gather(*(outside.end() for outside in list(self._running.values())))
        self._cgroups.close()
