"""The Docker API as the backend uses it: typed, off the event loop, bounded in time, with errors that say the fix."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeVar

from skillyard.errors import ConflictError, NotFoundError, SkillyardError, UnavailableError
from skillyard.sandbox.docker.host import DockerHost
from skillyard.sandbox.docker.ssh import SshBridge
from skillyard.sandbox.docker.stream import DockerStream, attach

T = TypeVar("T")

_THREADS: Final = 8
_REMOVE_PAUSE: Final = 0.03
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_TAKEN: Final = "already in use"
"""Podman answers 500 where Docker answers 409."""


@dataclass(frozen=True, kw_only=True)
class EngineInfo:
    """What a daemon says of itself."""

    version: str
    system: str
    rootless: bool
    limits_memory: bool
    limits_processes: bool


@dataclass(frozen=True, kw_only=True)
class Container:
    """A container that a daemon has."""

    id: str
    labels: Mapping[str, str]
    created: float
    """Seconds since the epoch, by the clock of the daemon."""


class _RefusedError(UnavailableError):
    """The daemon answered that it cannot do it."""


class Engine:
    """One Docker daemon. The SDK blocks, so each of its calls runs in a thread, and gives up by itself."""

    def __init__(self, host: DockerHost, *, seconds: float) -> None:
        self.host = host
        self._door = host
        self._bridge: SshBridge | None = None
        self._seconds = seconds
        self._threads = _threads()
        self._lock = asyncio.Lock()
        self._api: Any = None

    async def info(self) -> EngineInfo:
        said = await self._call(lambda api: api.info())
        options = [str(option) for option in said.get("SecurityOptions") or ()]
        return EngineInfo(
            version=str(said.get("ServerVersion", "")),
            system=str(said.get("OSType", "")),
            rootless=any("name=rootless" in option for option in options) or bool(said.get("Rootless")),
            limits_memory=bool(said.get("MemoryLimit")) and bool(said.get("SwapLimit", True)),
            limits_processes=bool(said.get("PidsLimit")),
        )

    async def image_labels(self, image: str) -> Mapping[str, str] | None:
        """The labels of an image that the daemon has; None when it has none of that name."""
        found: dict[str, Any] | None = await self._found(lambda api: api.inspect_image(image))
        config: Any = found and found.get("Config")
        return None if found is None else _strings(config and config.get("Labels"))

    async def create(self, config: Mapping[str, Any], name: str) -> str:
        """Create a container; one of the same name is a `ConflictError`."""
        made = await self._call(lambda api: api.create_container_from_config(dict(config), name))
        return str(made["Id"])

    async def start(self, container: str) -> None:
        await self._call(lambda api: api.start(container))

    async def wait(self, container: str, seconds: float) -> int:
        """The exit code of a container, once it has ended."""
        ended = await self._call(lambda api: api.wait(container, timeout=seconds), seconds=seconds)
        return int(ended["StatusCode"])

    async def remove(self, container: str) -> None:
        """End a container at once; returns when it is gone, also when it was ending or being removed by itself."""
        deadline = time.monotonic() + self._seconds
        while True:
            try:
                await self._call(lambda api: api.remove_container(container, force=True))
            except NotFoundError:
                return
            except (ConflictError, _RefusedError):
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_REMOVE_PAUSE)

    async def containers(self, label: str) -> list[Container]:
        """The containers with a label, `name=value`; ended ones too."""
        listed = await self._call(lambda api: api.containers(all=True, filters={"label": [label]}))
        return [
            Container(id=str(each["Id"]), labels=_strings(each.get("Labels")), created=float(each.get("Created") or 0))
            for each in listed
        ]

    async def volume_labels(self, name: str) -> Mapping[str, str] | None:
        found = await self._found(lambda api: api.inspect_volume(name))
        return None if found is None else _strings(found.get("Labels"))

    async def create_volume(self, name: str, labels: Mapping[str, str]) -> None:
        await self._call(lambda api: api.create_volume(name, labels=dict(labels)))

    async def remove_volume(self, name: str) -> None:
        """Remove a volume; nothing happens when there is none."""
        await self._found(lambda api: api.remove_volume(name, force=True))

    async def attach(self, container: str) -> DockerStream:
        """The streams of a container that is created and not started."""
        version = await self._call(lambda api: api.api_version)
        return await attach(self._door, container, api_version=version, seconds=self._seconds)

    async def close(self) -> None:
        """Let go of connections and threads; there are new ones when something is asked again."""
        if self._api is not None:
            self._api.close()
            self._api = None
        if self._bridge is not None:
            await self._bridge.close()
            self._bridge = None
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._threads = _threads()

    async def _found(self, call: Callable[[Any], T]) -> T | None:
        try:
            return await self._call(call)
        except NotFoundError:
            return None

    async def _call(self, call: Callable[[Any], T], *, seconds: float | None = None) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout((seconds or self._seconds) + 1):  # the SDK's own limit comes first
                async with self._lock:
                    if self._api is None:
                        await self._approach()
                        self._api = await loop.run_in_executor(self._threads, self._open)
                return await loop.run_in_executor(self._threads, call, self._api)
        except SkillyardError:
            raise
        except Exception as error:
            raise self._explained(error) from error

    async def _approach(self) -> None:
        if self.host.by_ssh and self._bridge is None:
            self._bridge = SshBridge(self.host.url)
            self._door = await self._bridge.open()
        (
            _,
            writer,
        ) = await self._door.connect()  # the SDK says less clearly that nobody is there, and leaves sockets open
        writer.close()

    def _open(self) -> Any:  # noqa: ANN401 -- the SDK has no types
        docker: Any = import_module("docker")
        certificates = self._door.certificates
        tls = (
            docker.tls.TLSConfig(
                client_cert=certificates.own, ca_cert=certificates.authority, verify=certificates.verify
            )
            if certificates
            else False
        )
        return docker.APIClient(base_url=self._door.url, tls=tls, timeout=self._seconds)

    def _explained(self, error: Exception) -> SkillyardError:
        status = getattr(error, "status_code", None)
        said = str(getattr(error, "explanation", None) or error or "no answer")
        if status == _NOT_FOUND:
            return NotFoundError(f"Docker has no such thing: {said}")
        if status == _CONFLICT or (status is not None and _TAKEN in said):
            return ConflictError(f"Docker refused: {said}")
        if status is not None:
            return _RefusedError(f"Docker refused: {said}", hint="Check the daemon: docker info")
        return UnavailableError(
            f"Docker at {self.host.url} does not answer: {said}",
            hint="Start it (systemctl start docker), or say where it is: export DOCKER_HOST=unix:///path",
        )


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="docker")


def _strings(labels: Mapping[str, object] | None) -> dict[str, str]:
    return {str(name): str(value) for name, value in (labels or {}).items()}
