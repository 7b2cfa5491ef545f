"""Carrying a delivery out: one look, one parcel, one check."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from skillyard.delivery.bundle_source import DesiredBundle
from skillyard.delivery.manifest import MANIFEST_NAME, Manifest, ManifestEntry
from skillyard.delivery.ship_plan import Seen, ShipItem, ShipPlan, Step, nameable, plan_shipping
from skillyard.delivery.skills_place import Parcel, SkillsPlace
from skillyard.errors import SandboxDiedError, SkillyardError
from skillyard.skill.bundle import Bundle
from skillyard.skill.limits import MIB

MAX_PARCEL_BYTES: Final = 64 * MIB
"""More than this goes in several parcels, so that a delivery never takes more memory."""
_LOADED_AT_ONCE: Final = 8


async def ship(place: SkillsPlace, desired: Sequence[DesiredBundle], *, speaks_for: Collection[str]) -> ShipPlan:
    """Make a place hold what is wanted. Answers what was done; what could not be is among it, with its reason.

    `speaks_for` names the kinds of origins whose skills are taken away when they are wanted no more. Safe to
    repeat: an unchanged place is only looked at, what a crash left is finished. Raises only when the place itself
    cannot be reached.
    """
    async with place.held():
        plan = await look_and_plan(place, desired, speaks_for=speaks_for)
        return await _Shipping(place, plan).carry_out()


async def look_and_plan(
    place: SkillsPlace, desired: Sequence[DesiredBundle], *, speaks_for: Collection[str]
) -> ShipPlan:
    """What `ship` would do now. Nothing is written."""
    data, digests = await asyncio.gather(place.manifest(), place.digests(nameable(desired)))
    seen = Seen(manifest=Manifest.read(data), digests=digests)
    plan = plan_shipping(desired, seen, speaks_for=speaks_for)
    if any(not item.is_there for item in plan.writes):
        seen = replace(seen, names=await place.names())
        plan = plan_shipping(desired, seen, speaks_for=speaks_for)
    return plan


class _Shipping:
    """One plan being carried out."""

    def __init__(self, place: SkillsPlace, plan: ShipPlan) -> None:
        self._place = place
        self._plan = plan
        self._manifest = plan.manifest
        """As it lies in the place by now."""
        self._failed: dict[str, str] = {}
        self._written: list[str] = []

    async def carry_out(self) -> ShipPlan:
        batch: dict[str, Bundle] = {}
        size = 0
        for some in _in_groups(self._plan.writes, _LOADED_AT_ONCE):
            for item, bundle in zip(some, await asyncio.gather(*map(self._load, some)), strict=True):
                if bundle is None:
                    continue
                if batch and size + bundle.size > MAX_PARCEL_BYTES:
                    await self._send(batch)
                    batch, size = {}, 0
                batch[item.folder] = bundle
                size += bundle.size
        await self._send(batch)
        await self._check()
        items = tuple(self._outcome(item) for item in self._plan.items)
        return replace(self._plan, items=items, manifest=self._manifest)

    async def _load(self, item: ShipItem) -> Bundle | None:
        if item.wanted is None:
            return None
        try:
            bundle = await item.wanted.load()
        except SkillyardError as error:
            self._failed[item.folder] = error.message
            return None
        except Exception as error:  # noqa: BLE001 -- a source's mistake must not keep the other skills away
            self._failed[item.folder] = f"Its files could not be read: {type(error).__name__}: {error}"
            return None
        if bundle.digest != item.digest:
            self._failed[item.folder] = f"Its files are {bundle.digest} and not {item.digest}."
            return None
        return bundle

    async def _send(self, batch: Mapping[str, Bundle]) -> None:
        try:
            await self._apply(batch)
        except SandboxDiedError:
            raise
        except SkillyardError as error:
            if not batch:
                raise
            if len(batch) == 1:
                await self._give_up(next(iter(batch)), error)
            else:
                # Where nothing at all can be written, this raises; else one of them is the cause, not all.
                await self._place.apply(Parcel(manifest=self._manifest.write()))
                for folder, bundle in batch.items():
                    await self._send({folder: bundle})

    async def _give_up(self, folder: str, error: SkillyardError) -> None:
        """Leave nothing half-written behind, as far as that can be done."""
        self._failed[folder] = error.message
        manifest = self._manifest.changed(without={folder}, having={})
        with suppress(SkillyardError):
            await self._place.apply(Parcel(manifest=manifest.write(), remove=(folder,)))
            self._manifest = manifest

    async def _apply(self, batch: Mapping[str, Bundle]) -> None:
        """Send a parcel, the first with all that goes away; none when nothing changes."""
        plan = self._plan
        gone = {item.folder for item in plan.of(Step.REMOVE) if item.folder in self._manifest.entries}
        kept = [item for item in plan.of(Step.UNCHANGED) if item.is_ours]
        put = [item for item in plan.writes if item.folder in batch]
        having = {item.folder: ManifestEntry(digest=item.digest, origin=item.origin) for item in (*kept, *put)}
        manifest = self._manifest.changed(without=gone, having=having)
        if not batch and manifest.entries == self._manifest.entries:
            return
        known = self._manifest.entries
        touched = [*gone, *(item.folder for item in put)]
        leave = [*gone, *(item.folder for item in put if item.is_there)]
        if not self._manifest.is_sound:  # a folder or a link of that name would be in the way
            leave.append(MANIFEST_NAME)
        parcel = Parcel(
            manifest=manifest.write(),
            remove=tuple(sorted(leave)),
            put=batch,
            delivered={folder: known[folder].digest for folder in touched if folder in known},
        )
        await self._place.apply(parcel)
        self._manifest = manifest
        self._written.extend(batch)

    async def _check(self) -> None:
        """Read back what was written: it must be what was sent."""
        if not self._written:
            return
        wanted = {item.folder: item.digest for item in self._plan.writes}
        found = await self._place.digests(self._written)
        for folder in self._written:
            if found.get(folder) != wanted[folder]:
                self._failed[folder] = f"The folder holds {found.get(folder)} and not {wanted[folder]} as sent."

    def _outcome(self, item: ShipItem) -> ShipItem:
        if item.folder not in self._failed or item not in self._plan.writes:
            return item
        return replace(item, step=Step.FAILED, reason=self._failed[item.folder])


def _in_groups(items: Sequence[ShipItem], size: int) -> Iterator[Sequence[ShipItem]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
