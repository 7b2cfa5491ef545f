"""The cargos of the Docker backend: a named volume each, which belongs to an unprivileged user of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from skillyard.cancellation import to_the_end
from skillyard.errors import ConflictError, LimitError, NotFoundError, UnavailableError
from skillyard.sandbox.docker.container import (
    CARGO,
    COPIED,
    HOME,
    NOT_OURS,
    TOO_LARGE,
    UID,
    YARD,
    ContainerSpec,
    copy_config,
    take_over_config,
    uid_of,
)
from skillyard.sandbox.docker.engine import Engine
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.place import Limits

HELPER_SECONDS: Final = 120.0
_COPY_BYTES: Final = 4 * Limits().disk_bytes


@dataclass(frozen=True, kw_only=True)
class Volume:
    """Where the files of a cargo are, and whose they are."""

    name: str
    uid: int


class DockerVolumes:
    """Makes volumes, copies and removes them, by containers that do one thing and end."""

    def __init__(self, engine: Engine, *, image: str, yard: str) -> None:
        self._engine = engine
        self._image = image
        self._yard = yard

    async def home(self) -> str:
        """The id of this daemon for the yard, on an empty volume: daemons have no other name that stays."""
        name = self._name("home")
        labels = await self._engine.volume_labels(name)
        if labels is None:
            await self._engine.create_volume(name, {YARD: self._yard, HOME: new_id("home")})
            labels = await self._engine.volume_labels(name) or {}
        return labels[HOME]

    async def has(self, cargo_id: str) -> bool:
        return await self._engine.volume_labels(self._name(cargo_id)) is not None

    async def ensure(self, cargo_id: str) -> Volume:
        """The volume of a cargo, which is made when there is none."""
        labels = await self._engine.volume_labels(self._name(cargo_id))
        return await self._make(cargo_id, uid_of(cargo_id)) if labels is None else self._volume(cargo_id, labels)

    async def remove(self, cargo_id: str) -> None:
        await self._engine.remove_volume(self._name(cargo_id))

    async def copy(self, source: str, target: str) -> None:
        """Copy the files of a cargo into a new one, whole or not at all."""
        labels = await self._engine.volume_labels(self._name(source))
        if labels is None:
            raise NotFoundError(f"There is no cargo '{source}'.", details={"cargo_id": source})
        if await self._engine.volume_labels(self._name(target)) is not None:
            raise ConflictError(f"There is a cargo '{target}' already.", details={"cargo_id": target})
        volume = await self._make(target, self._volume(source, labels).uid)
        try:
            await self._fill(volume, source)
        except BaseException:
            await to_the_end(self._engine.remove_volume(volume.name))
            raise

    async def take_over(self, volume: Volume) -> None:
        """Give a volume that the daemon made for root to its user."""
        code = await self._run(take_over_config(self._spec(volume)))
        if code:
            raise UnavailableError(f"The volume {volume.name} cannot be given to user {volume.uid}: exit code {code}.")

    async def _fill(self, volume: Volume, source: str) -> None:
        config = copy_config(self._spec(volume), self._name(source), max_bytes=_COPY_BYTES)
        code = await self._run(config)
        if code == NOT_OURS:
            await self.take_over(volume)
            code = await self._run(config)
        if code == TOO_LARGE:
            raise LimitError(
                f"The cargo '{source}' holds more than {_COPY_BYTES} bytes.", hint="Delete files that are not needed."
            )
        if code != COPIED:
            raise UnavailableError(f"The cargo '{source}' could not be copied: exit code {code}.")

    async def _run(self, config: Mapping[str, Any]) -> int:
        container = await self._engine.create(config, f"skillyard-{self._yard}-helper-{uuid4().hex}")
        try:
            await self._engine.start(container)
            return await self._engine.wait(container, HELPER_SECONDS)
        finally:
            await to_the_end(self._engine.remove(container))

    async def _make(self, cargo_id: str, uid: int) -> Volume:
        labels = {YARD: self._yard, CARGO: cargo_id, UID: str(uid)}
        await self._engine.create_volume(self._name(cargo_id), labels)
        return self._volume(cargo_id, labels)

    def _volume(self, cargo_id: str, labels: Mapping[str, str]) -> Volume:
        return Volume(name=self._name(cargo_id), uid=int(labels.get(UID, uid_of(cargo_id))))

    def _spec(self, volume: Volume) -> ContainerSpec:
        return ContainerSpec(image=self._image, volume=volume.name, uid=volume.uid, labels={YARD: self._yard})

    def _name(self, cargo_id: str) -> str:
        return f"skillyard-{self._yard}-{cargo_id}"
