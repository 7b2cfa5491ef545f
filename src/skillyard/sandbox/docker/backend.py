"""Sandboxes as containers of a Docker daemon, here or on another machine."""

import asyncio
import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from time import time
from typing import Any, Final

from skillyard.cancellation import to_the_end
from skillyard.errors import CapabilityError, ConflictError, NotFoundError, SkillyardError, UnavailableError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Barrier, Capabilities
from skillyard.sandbox.docker.bootstrap import GUEST, NO_FILTER, OLD_PYTHON, READY, UNWRITABLE, parcel
from skillyard.sandbox.docker.container import CARGO, SANDBOX, YARD, ContainerSpec, sandbox_config
from skillyard.sandbox.docker.engine import Engine, EngineInfo
from skillyard.sandbox.docker.host import DockerHost
from skillyard.sandbox.docker.stream import DockerStream
from skillyard.sandbox.docker.volumes import HELPER_SECONDS, DockerVolumes
from skillyard.sandbox.link.guest_files import guest_argv, guest_zip
from skillyard.sandbox.link.guest_session import ConnectionHandler, GuestSession
from skillyard.sandbox.local.seccomp import NAMESPACED, assemble
from skillyard.sandbox.local.syscalls import AARCH64, X86_64
from skillyard.sandbox.place import WORKSPACE, Place
from skillyard.sandbox.session import Session

DEFAULT_IMAGE: Final = "python:3.12-slim"
BROWSER_LABEL: Final = "skillyard.browser"
"""The label of an image that has what browser steps need: Playwright for its Python, and Chromium."""

_COMPLAINTS: Final = {
    OLD_PYTHON: "its Python is older than 3.8",
    NO_FILTER: "there is no filter of system calls for its kind of machine",
}
_HELPER_LEFT_SECONDS: Final = 2 * HELPER_SECONDS
"""So old a helper belongs to a server that was killed."""


@dataclass(frozen=True, kw_only=True)
class DockerSettings:
    """What the Docker backend is told by whoever runs the yard."""

    host: str | None = None
    """`unix://`, `tcp://` or `ssh://`; else `DOCKER_HOST`, else the local daemon."""
    image: str = DEFAULT_IMAGE
    """Any image with `python3`."""
    cpus: float = 1.0
    seconds: float = 30.0
    """How long the daemon may take for an answer."""


class DockerBackend(Backend):
    """Containers that die with the stream to them, with a named volume for each cargo."""

    name = "docker"

    def __init__(
        self,
        settings: DockerSettings,
        *,
        yard: str,
        proxy: Callable[[Place], ConnectionHandler | None],
    ) -> None:
        """`yard` tells what belongs to this yard from what others have on the same daemon."""
        self._settings = settings
        self._yard = yard
        self._proxy = proxy
        self._engine = Engine(DockerHost.find(settings.host), seconds=settings.seconds)
        self._volumes = DockerVolumes(self._engine, image=settings.image, yard=yard)
        self._info: EngineInfo | None = None
        self._starting: set[str] = set()
        self._sessions: dict[str, GuestSession] = {}
        self._endings: set[asyncio.Task[None]] = set()

    async def capabilities(self) -> Capabilities:
        try:
            info = await self._engine.info()
            labels = await self._engine.image_labels(self._settings.image)
        except SkillyardError as error:
            return Capabilities(backend=self.name, available=False, reason=error.message, fix=error.hint)
        if info.system != "linux":
            reason = f"The daemon runs {info.system} containers; sandboxes are Linux containers."
            fix = "Switch it to Linux containers."
            return Capabilities(backend=self.name, available=False, reason=reason, fix=fix)
        if labels is None:
            absent = self._no_image()
            return Capabilities(backend=self.name, available=False, reason=absent.message, fix=absent.hint)
        abilities = {Ability.PYTHON, Ability.SHELL, Ability.FILESYSTEM, Ability.NETWORK, Ability.SNAPSHOT}
        if BROWSER_LABEL in labels:
            abilities.add(Ability.BROWSER)
        return Capabilities(
            backend=self.name,
            available=True,
            abilities=frozenset(abilities),
            enforced=_enforced(info),
            reason=_not_contained(info),
        )

    async def start(self, place: Place) -> Session:
        self._starting.add(place.sandbox_id)
        starting = asyncio.create_task(self._start(place))
        starting.add_done_callback(lambda _: self._starting.discard(place.sandbox_id))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A daemon that is creating a container cannot be stopped: what comes of it is ended when it is there.
            ending = asyncio.create_task(_discard(starting))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            raise

    async def home(self) -> str:
        """The volumes are with the daemon, which any number of servers may use."""
        return await self._volumes.home()

    async def has_cargo(self, cargo_id: str) -> bool:
        return await self._volumes.has(cargo_id)

    async def remove_cargo(self, cargo_id: str) -> None:
        await self._volumes.remove(cargo_id)

    async def copy_cargo(self, source: str, target: str) -> None:
        await self._volumes.copy(source, target)

    async def sweep(self, keep: Collection[str]) -> int:
        unwanted = [session for sandbox_id, session in self._sessions.items() if sandbox_id not in keep]
        await asyncio.gather(*(session.close() for session in unwanted))
        ended = len(unwanted)
        for container in await self._engine.containers(f"{YARD}={self._yard}"):
            sandbox_id = container.labels.get(SANDBOX)
            if sandbox_id is None:
                if time() - container.created > _HELPER_LEFT_SECONDS:
                    await self._engine.remove(container.id)
            elif not {sandbox_id} & {*self._sessions, *self._starting, *keep}:
                await self._engine.remove(container.id)
                ended += 1
        return ended

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in list(self._sessions.values())), return_exceptions=True)
        await asyncio.gather(*self._endings, return_exceptions=True)
        await self._engine.close()

    async def _start(self, place: Place) -> GuestSession:
        if place.mounts and not self._engine.host.local:
            raise CapabilityError(
                f"Folders of this machine cannot be mounted on {self._engine.host.url}.",
                hint="Put the files into the workspace instead.",
            )
        volume = await self._volumes.ensure(place.cargo_id)
        spec = ContainerSpec(
            image=self._settings.image,
            volume=volume.name,
            uid=volume.uid,
            labels={**place.labels, YARD: self._yard, SANDBOX: place.sandbox_id, CARGO: place.cargo_id},
            limits=place.limits,
            cpus=self._settings.cpus,
            environment=place.environment,
            mounts=place.mounts,
        )
        try:
            return await self._launch(place, spec)
        except _UnwritableError:
            await self._volumes.take_over(volume)
            return await self._launch(place, spec)

    async def _launch(self, place: Place, spec: ContainerSpec) -> GuestSession:
        proxy = self._proxy(place)
        config = sandbox_config(spec, await self._guest_argv(place, proxied=proxy is not None))
        container = await self._create(config, f"skillyard-{self._yard}-{place.sandbox_id}")
        opened: list[GuestSession] = []

        async def end() -> None:
            if self._sessions.get(place.sandbox_id) in opened:
                del self._sessions[place.sandbox_id]
            await self._engine.remove(container)

        try:
            stream = await self._engine.attach(container)
            try:
                await self._engine.start(container)
                await self._send_guest(stream)
                session = await GuestSession.open(stream, limits=place.limits, proxy=proxy, on_close=end)
            except BaseException:
                await stream.close()
                raise
        except BaseException:
            with contextlib.suppress(UnavailableError):
                await to_the_end(end())
            raise
        opened.append(session)
        self._sessions[place.sandbox_id] = session
        return session

    async def _guest_argv(self, place: Place, *, proxied: bool) -> list[str]:
        """What bounds the whole container bounds better than what the guest could set for each process."""
        if self._info is None:
            self._info = await self._engine.info()
        return guest_argv(
            "python3",
            GUEST,
            workspace=WORKSPACE,
            limits=place.limits,
            proxy_port=0 if proxied else None,
            unset=("memory_bytes",) if self._info.limits_memory else (),
        )

    async def _create(self, config: dict[str, Any], name: str) -> str:
        try:
            return await self._engine.create(config, name)
        except ConflictError:
            await self._engine.remove(name)  # left by a server that was killed
            return await self._engine.create(config, name)
        except NotFoundError as error:
            raise self._no_image() from error

    async def _send_guest(self, stream: DockerStream) -> None:
        stream.write(_parcel())
        try:
            async with asyncio.timeout(self._settings.seconds):
                with contextlib.suppress(ConnectionError):
                    await stream.drain()
                answer = await stream.read(1)
        except TimeoutError:
            answer = b""
        if answer == UNWRITABLE:
            raise _UnwritableError
        if answer != READY:
            reason = _COMPLAINTS.get(answer) or stream.diagnostics or "it ended at once"
            raise UnavailableError(
                f"A container of '{self._settings.image}' does not start: {reason}.",
                hint="Use an image that has python3, such as " + DEFAULT_IMAGE,
            )

    def _no_image(self) -> UnavailableError:
        image = self._settings.image
        return UnavailableError(
            f"The daemon at {self._engine.host.url} has no image '{image}'.", hint=f"docker pull {image}"
        )


@cache
def _parcel() -> bytes:
    return parcel({machine.name: assemble(NAMESPACED, machine) for machine in (X86_64, AARCH64)}, guest_zip())


class _UnwritableError(Exception):
    """The volume is new and belongs to root, as the daemon made it."""


def _enforced(info: EngineInfo) -> frozenset[Barrier]:
    """The filter of system calls is our own: what the profile of a daemon lets through differs."""
    bounds = {Barrier.MEMORY, Barrier.PROCESS_COUNT, Barrier.FILE_SIZE}
    if info.limits_memory:
        bounds.add(Barrier.MEMORY_TOTAL)
    return BOUNDARY | bounds


def _not_contained(info: EngineInfo) -> str:
    kind = "Rootless Docker" if info.rootless else "Docker"
    said = [f"{kind} {info.version} does not bound the size of the workspace."]
    if not info.limits_memory:
        said.append("The daemon bounds the memory of each process, but not of all together.")
    if not info.limits_processes:
        said.append("Processes are bounded by user, not by container.")
    return " ".join(said)


async def _discard(starting: "asyncio.Task[GuestSession]") -> None:
    with contextlib.suppress(Exception):
        await (await starting).close()
