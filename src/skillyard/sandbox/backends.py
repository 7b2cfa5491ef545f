"""Choosing how sandboxes are isolated: by itself only what is contained, anything else only when it was asked for."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skillyard.errors import UnavailableError, UsageError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Barrier, Capabilities
from skillyard.sandbox.link.guest_session import ConnectionHandler
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.place import Place

AUTOMATIC: Final = "auto"
UNSAFE: Final = "unsafe"


@dataclass(frozen=True, kw_only=True)
class BackendSettings:
    """What backends are told by whoever runs the yard."""

    folder: Path
    """Where cargos are kept."""
    backend: str = AUTOMATIC
    """The one to use when nothing else is asked for; `unsafe` is never used unless it is named here."""
    yard: str = "skillyard"
    """Tells what belongs to this yard from what others have on the same Docker host."""
    uids: range = DEFAULT_UIDS
    docker_host: str | None = None
    docker_image: str | None = None
    computer_use_url: str | None = None
    chromium: Path | None = None
    own_ports: Collection[int] = ()
    """The ports of Skillyard itself, which no sandbox may reach; the collection may still grow."""


class Backends:
    """The backends of this machine, each made when it is first needed."""

    def __init__(self, settings: BackendSettings) -> None:
        self._settings = settings
        self._made: dict[str, Backend] = {}
        self._makers: Mapping[str, Callable[[], Backend]] = {
            "bwrap": self._bwrap,
            "landlock": self._landlock,
            "docker": self._docker,
            "mcp": self._computer_use,
            UNSAFE: self._unsafe,
        }

    def get(self, name: str) -> Backend:
        """A backend by its name, whether it can be used here or not."""
        if name not in self._makers:
            raise UsageError(
                f"There is no backend {name!r} for sandboxes.",
                hint=f"Use one of: {', '.join(self._makers)}",
                details={"field": "backend", "value": name},
            )
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    async def choose(self, requested: str | None, required: Collection[Barrier] = ()) -> Backend:
        """The backend for a sandbox: the one requested, else that of the settings, else the first that contains it."""
        name = requested or self._settings.backend
        if name != AUTOMATIC:
            return await self._named(name, required)
        refused: list[Capabilities] = []
        for candidate in self._makers:
            if candidate == UNSAFE:
                continue
            offered = await self.get(candidate).capabilities()
            if offered.trusted and offered.enforced >= set(required):
                return self.get(candidate)
            refused.append(offered)
        raise UnavailableError(
            "No sandbox can be isolated as asked on this machine. "
            + " ".join(f"{each.backend}: {_shortcoming(each, required)}" for each in refused),
            hint=next((each.fix for each in refused if each.fix), ""),
            details={"required": sorted(required), "backends": {each.backend: each.reason for each in refused}},
        )

    async def survey(self) -> list[Capabilities]:
        """What each backend can do here, and why it cannot."""
        return list(await asyncio.gather(*(self.get(name).capabilities() for name in self._makers)))

    async def close(self) -> None:
        """End every sandbox that this process started."""
        await asyncio.gather(*(backend.close() for backend in self._made.values()))

    async def _named(self, name: str, required: Collection[Barrier]) -> Backend:
        backend = self.get(name)
        offered = await backend.capabilities()
        configured = name == self._settings.backend
        if not offered.available or not offered.enforced >= set(required) or not (offered.trusted or configured):
            fix = offered.fix
            if offered.available and not offered.trusted and not fix:
                fix = f"Whoever runs this yard can choose it nevertheless: skillyard config set sandbox_backend {name}"
            raise UnavailableError(
                f"The backend {name!r} cannot be used: {_shortcoming(offered, required)}",
                hint=fix,
                details={"backend": name, "required": sorted(required), "enforced": sorted(offered.enforced)},
            )
        return backend

    def _bwrap(self) -> Backend:
        from skillyard.sandbox.local.browser_parts import BrowserParts  # noqa: PLC0415 -- only the one that is used
        from skillyard.sandbox.local.bwrap import BwrapBackend  # noqa: PLC0415
        from skillyard.sandbox.local.cgroups import Cgroups  # noqa: PLC0415

        return BwrapBackend(
            self._settings.folder,
            users=Users.of(self._settings.uids),
            cgroups=Cgroups.here(),
            proxy=self._proxy,
            browser=BrowserParts.find(self._settings.chromium),
        )

    def _landlock(self) -> Backend:
        from skillyard.sandbox.local.cgroups import Cgroups  # noqa: PLC0415
        from skillyard.sandbox.local.landlock import LandlockBackend  # noqa: PLC0415

        users = Users.of(self._settings.uids)
        return LandlockBackend(self._settings.folder, users=users, cgroups=Cgroups.here())

    def _docker(self) -> Backend:
        from skillyard.sandbox.docker.backend import DockerBackend, DockerSettings  # noqa: PLC0415

        settings = DockerSettings(host=self._settings.docker_host)
        if self._settings.docker_image is not None:
            settings = DockerSettings(host=self._settings.docker_host, image=self._settings.docker_image)
        return DockerBackend(settings, yard=self._settings.yard, proxy=self._proxy)

    def _computer_use(self) -> Backend:
        from skillyard.sandbox.computer_use.backend import ComputerUseBackend, ComputerUseSettings  # noqa: PLC0415

        settings = ComputerUseSettings(url=self._settings.computer_use_url)
        return ComputerUseBackend(settings, cargos=self._settings.folder / "remote-cargos")

    def _unsafe(self) -> Backend:
        from skillyard.sandbox.local.unsafe import UnsafeBackend  # noqa: PLC0415

        return UnsafeBackend(self._settings.folder, enabled=self._settings.backend == UNSAFE, proxy=self._proxy)

    def _proxy(self, place: Place) -> ConnectionHandler | None:
        """The way out of a sandbox, for one that has any."""
        from skillyard.sandbox.proxy.proxy import NetworkProxy  # noqa: PLC0415 -- most sandboxes have none

        if not place.network.allow:
            return None
        return NetworkProxy(place.network, forbidden_ports=self._settings.own_ports)


def _shortcoming(offered: Capabilities, required: Collection[Barrier]) -> str:
    missing = sorted(set(required) - offered.enforced)
    if offered.available and missing:
        return f"It does not enforce {', '.join(missing)}. {offered.reason}".rstrip()
    return offered.reason or "It contains too little to be chosen without being named."
