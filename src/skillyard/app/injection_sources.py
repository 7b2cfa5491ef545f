"""The skills that sandboxes are given, from everywhere that keeps some."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from skillyard.db.database import Database
from skillyard.db.until_changed import UntilChanged
from skillyard.delivery.bundle_source import (
    AGENT_LABEL,
    SKILLS_LABEL,
    BundleSource,
    Desired,
    DesiredBundle,
    Origin,
    Receiver,
    Shortfall,
)
from skillyard.delivery.registry_bundles import desired_of
from skillyard.identity.principals import Principal
from skillyard.library.builtin import builtin_root
from skillyard.library.disk import read_folder
from skillyard.registry.bundles import Bundles
from skillyard.registry.service import Registry
from skillyard.registry.shipping import SkillRef
from skillyard.registry.skills import Version
from skillyard.releases.active_releases import ActiveReleases
from skillyard.skill.bundle import Bundle
from skillyard.skill.library import Library, SkillEntry

_REMEMBERED: Final = 1_024
PrincipalOf: TypeAlias = Callable[[str], Awaitable[Principal]]


class Remembered:
    """A source of the registry, asked again only when anything in the yard changed."""

    def __init__(self, source: BundleSource, database: Database) -> None:
        self.kind = source.kind
        self._source = source
        self._known = UntilChanged[tuple[str, str, str], Desired](database, size=_REMEMBERED)

    async def desired(self, receiver: Receiver) -> Desired:
        labels = receiver.labels
        key = (receiver.owner, labels.get(AGENT_LABEL, ""), labels.get(SKILLS_LABEL, ""))
        return await self._known.get(key, lambda: self._source.desired(receiver))


class BuiltinSkills:
    """The skills that come with Skillyard."""

    kind = "builtin"

    def __init__(self) -> None:
        self._read: Desired | None = None

    async def desired(self, receiver: Receiver) -> Desired:
        del receiver  # every sandbox has them
        if self._read is None:
            self._read = await asyncio.to_thread(self._all)
        return self._read

    def _all(self) -> Desired:
        found = [read_folder(path) for path in sorted(builtin_root().iterdir()) if (path / "SKILL.md").is_file()]
        return Desired(bundles=tuple(_held(read.folder, read.require(), self.kind) for read in found))


class AttachedSkills:
    """What is attached to every agent of the owner's tenant, and to the agent that the sandbox is labelled with."""

    kind = "attached"

    def __init__(self, registry: Registry, principal_of: PrincipalOf) -> None:
        self._registry = registry
        self._principal_of = principal_of

    async def desired(self, receiver: Receiver) -> Desired:
        principal = await self._principal_of(receiver.owner)
        attachments = self._registry.attachments
        agent = receiver.labels.get(AGENT_LABEL, "")
        skills = await (attachments.agent_skills(principal, agent) if agent else attachments.tenant_skills(principal))
        latest = {each.skill_id for each in skills.attached if not each.wanted}
        return desired_of(skills.shipment, self._registry.bundles, kind=self.kind, latest=latest)


class WithCanaries:
    """A source, with the canary of a skill in place of its latest version for the sandboxes that try it."""

    def __init__(self, source: BundleSource, releases: ActiveReleases, bundles: Bundles) -> None:
        self.kind = source.kind
        self._source = source
        self._releases = releases
        self._bundles = bundles

    async def desired(self, receiver: Receiver) -> Desired:
        desired = await self._source.desired(receiver)
        shipped = {each.latest_of: each.digest for each in desired.bundles if each.latest_of}
        tried = await self._releases.tried(shipped, receiver.sandbox_id) if shipped else {}
        return replace(desired, bundles=tuple(self._with(each, tried.get(each.latest_of)) for each in desired.bundles))

    def _with(self, bundle: DesiredBundle, canary: Version | None) -> DesiredBundle:
        if canary is None:
            return bundle
        return replace(
            bundle,
            digest=canary.digest,
            origin=replace(bundle.origin, version=canary.version),
            load=partial(self._bundles.load, canary.digest),
        )


class PickedSkills:
    """The skills of the registry, by version, range or tag, that a sandbox is labelled with."""

    kind = "picked"

    def __init__(self, registry: Registry, principal_of: PrincipalOf) -> None:
        self._registry = registry
        self._principal_of = principal_of

    async def desired(self, receiver: Receiver) -> Desired:
        named = [text for text in receiver.labels.get(SKILLS_LABEL, "").split(",") if text.strip()]
        if not named:
            return Desired()
        principal = await self._principal_of(receiver.owner)
        shipment = await self._registry.shipping.resolve_shipment(principal, list(map(SkillRef.parse, named)))
        return desired_of(shipment, self._registry.bundles, kind=self.kind)


class LibraryPicks:
    """Skills picked from a library: a folder, an environment, or all that an agent reads."""

    kind = "library"

    def __init__(self, library: Library, ids: Sequence[str]) -> None:
        self._library = library
        self._ids = tuple(ids)

    async def desired(self, receiver: Receiver) -> Desired:
        del receiver  # whoever picked them gives them to the sandboxes of this source
        return await asyncio.to_thread(self._picked)

    def _picked(self) -> Desired:
        catalog = self._library.catalog()
        found = {wanted: catalog.find(wanted) for wanted in self._ids}
        return Desired(
            bundles=tuple(self._bundle(entry) for entry in found.values() if entry is not None),
            shortfalls=tuple(
                Shortfall(
                    origin=Origin(kind=self.kind, skill=wanted),
                    reason=f"{self._library.label} has no skill {wanted!r}.",
                )
                for wanted, entry in found.items()
                if entry is None
            ),
        )

    def _bundle(self, entry: SkillEntry) -> DesiredBundle:
        return _held(entry.id, self._library.bundle(entry), self.kind)


def _held(folder: str, bundle: Bundle, kind: str) -> DesiredBundle:
    return DesiredBundle(
        folder=folder, digest=bundle.digest, origin=Origin(kind=kind, skill=folder), load=partial(_given, bundle)
    )


async def _given(bundle: Bundle) -> Bundle:
    return bundle
