"""Putting skills of a source into the files of an agent before it starts."""

import asyncio
from collections.abc import Sequence
from functools import partial

from skillyard.agents.skill_folders import folder_of
from skillyard.agents.source import SkillSource, require
from skillyard.agents.tool import told
from skillyard.delivery.backend_place import BASE, BackendPlace, FilesBackend
from skillyard.delivery.bundle_source import DesiredBundle, Origin
from skillyard.delivery.sandbox_loader import LOADED, LoadStatus
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import IN_PLACE
from skillyard.errors import SkillyardError
from skillyard.skill.bundle import Bundle


async def preload(
    source: SkillSource, names: Sequence[str], backend: FilesBackend, *, base: str = BASE
) -> dict[str, LoadStatus]:
    """Load skills by id or name into a backend; for each what became of it. Never raises.

    Doing it again writes only what changed. One skill that cannot be loaded stops no other.
    """
    done: dict[str, LoadStatus] = {}
    wanted: dict[str, DesiredBundle] = {}
    for name in dict.fromkeys(names):
        try:
            wanted[name] = await asyncio.to_thread(_desired, source, name)
        except SkillyardError as error:
            done[name] = LoadStatus(loaded=False, reason=told(error))
    try:
        plan = await ship(BackendPlace(backend, base=base), list(wanted.values()), speaks_for=())
    except Exception as error:  # noqa: BLE001 -- callers are promised a status for every skill
        reason = told(error) if isinstance(error, SkillyardError) else f"{type(error).__name__}: {error}"
        return done | dict.fromkeys(wanted, LoadStatus(loaded=False, reason=reason))
    items = {item.origin.skill: item for item in plan.items}
    for name, bundle in wanted.items():
        item = items[bundle.origin.skill]
        done[name] = LoadStatus(
            loaded=item.step in IN_PLACE, reason=item.reason, folder=item.folder, digest=item.digest, step=item.step
        )
    return {name: done[name] for name in names}


def _desired(source: SkillSource, name: str) -> DesiredBundle:
    found = require(source, name)
    bundle = source.bundle(found)
    return DesiredBundle(
        folder=folder_of(found),
        digest=bundle.digest,
        origin=Origin(kind=LOADED, skill=found.id, version=found.version),
        load=partial(_given, bundle),
    )


async def _given(bundle: Bundle) -> Bundle:
    return bundle
