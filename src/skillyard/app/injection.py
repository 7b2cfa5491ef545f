"""Skills for sandboxes: which sources they come from, and when they are delivered."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

from skillyard.app.injection_sources import (
    AttachedSkills,
    BuiltinSkills,
    PickedSkills,
    Remembered,
    WithCanaries,
)
from skillyard.app.sandboxes import SandboxRooms
from skillyard.config.sections import SkillInjection
from skillyard.db.database import Database
from skillyard.delivery.bundle_source import BundleSource, Receiver
from skillyard.delivery.injector import Injection, Present, SkillInjector
from skillyard.delivery.release_source import RELEASE, LearnedSkills, ReleaseSource
from skillyard.delivery.sandbox_loader import LOADED, LoadStatus, SkillSandboxLoader
from skillyard.errors import UnavailableError
from skillyard.identity.owners import Owners
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.service import Registry
from skillyard.registry.shipping import SkillRef
from skillyard.releases.active_releases import ActiveReleases
from skillyard.releases.values import Stage
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.running import Running
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.session import Session

_REMEMBERED: Final = 10_000
"""Sandboxes whose skills are known; those that run are always among the latest."""
_GATHER: Final = 1.0
"""Seconds for which changes gather before what runs is given them."""
_RETRY_AFTER: Final = 10.0
_TOLD: Final = 5
"""Skills that could not be delivered, by name."""
_log: Final = logging.getLogger(__name__)


class SandboxInjection:
    """Delivers to sandboxes as they start and when something changes, and knows what each of them has."""

    def __init__(self, sources: Sequence[BundleSource]) -> None:
        self._injector = SkillInjector(sources, on_injected=self._remember)
        self._present: OrderedDict[str, tuple[Receiver, Present]] = OrderedDict()

    async def on_running(self, sandbox: Sandbox, session: Session) -> None:
        """Deliver with a start. What could not be done is raised, to be noted with the sandbox."""
        injection = await self.refresh(sandbox, session)
        problems = [*injection.errors, *_missing(injection)]
        if problems:
            raise UnavailableError(f"Skills could not be delivered: {' '.join(problems)}")

    async def refresh(self, sandbox: Sandbox, session: Session) -> Injection:
        """Deliver to a sandbox that runs."""
        receiver = Receiver(owner=sandbox.owner_id, sandbox_id=sandbox.id, labels=sandbox.labels)
        return await self._injector.inject(receiver, session)

    async def follow(self, running: Running, database: Database, pause: Callable[[float], Awaitable[None]]) -> None:
        """For ever, deliver to what runs here when a release, an attachment or a version may have changed."""
        number = -1
        while True:
            try:
                number = await database.wait_beyond(number)
                await pause(_GATHER)
                for held in running.all:
                    if held.sandbox_id in self._present and held.session.alive:
                        await self._injector.inject(self._present[held.sandbox_id][0], held.session)
            except Exception:  # noqa: BLE001 -- the next change, or the next start, may do better
                _log.exception("Skills of running sandboxes could not be refreshed; it is tried again later.")
                await pause(_RETRY_AFTER)

    def skills_in(self, sandbox_id: str) -> list[dict[str, str]]:
        """The skills that were delivered to a sandbox, as its executions record them."""
        return [
            {"name": folder, "digest": entry.digest, "release_id": entry.origin.version}
            if entry.origin.kind == RELEASE
            else {"name": folder, "digest": entry.digest}
            for folder, entry in self.present_in(sandbox_id).items()
        ]

    def present_in(self, sandbox_id: str) -> Present:
        """What was delivered to a sandbox by this process, by folder, and where it comes from."""
        known = self._present.get(sandbox_id)
        return {} if known is None else known[1]

    async def _remember(self, receiver: Receiver, injection: Injection) -> None:
        self._present[receiver.sandbox_id] = receiver, injection.present
        self._present.move_to_end(receiver.sandbox_id)
        if len(self._present) > _REMEMBERED:
            self._present.popitem(last=False)


def _missing(injection: Injection) -> Iterator[str]:
    """How many skills failed by themselves, and which, if any did."""
    failed = injection.failed
    if not failed:
        return
    told = [f"{item.folder} ({item.reason.rstrip('.')})" for item in failed[:_TOLD]]
    more = f" and {len(failed) - _TOLD} more" if len(failed) > _TOLD else ""
    yield f"{len(failed)} of {len(failed) + len(injection.delivered)} failed: {', '.join(told)}{more}."


def wire_injection(
    rooms: SandboxRooms,
    registry: Registry,
    database: Database,
    settings: SkillInjection,
    *,
    releases: ReleaseSource | None = None,
    canaries: ActiveReleases | None = None,
    more: Sequence[BundleSource] = (),
) -> SandboxInjection:
    """Have every sandbox given its skills before it is used.

    The order of the sources is that of their rights to a folder name: what comes with Skillyard, what somebody chose,
    what was learned.
    """
    owners = Owners(database)
    attached: BundleSource = Remembered(AttachedSkills(registry, owners.principal), database)
    if canaries is not None and Stage.CANARY in settings.include_stages:
        attached = WithCanaries(attached, canaries, registry.bundles)
    sources: list[BundleSource] = [
        BuiltinSkills(),
        attached,
        Remembered(PickedSkills(registry, owners.principal), database),
        *more,
    ]
    if releases is not None and settings.enabled:
        learned = LearnedSkills(
            releases, max_skills=settings.max_skills, include_stages=tuple(dict.fromkeys(settings.include_stages))
        )
        sources.append(learned)
    injection = SandboxInjection(sources)
    rooms.sandboxes.on_running(injection.on_running)
    rooms.log.skills = injection.skills_in
    return injection


def open_loader(registry: Registry, database: Database) -> SkillSandboxLoader:
    """Loads skills of the registry into sandboxes, as far as the user named with each call may see them."""
    return SkillSandboxLoader(registry, principal_of=Owners(database).principal)


async def load_into_sandbox(
    rooms: SandboxRooms,
    registry: Registry,
    injection: SandboxInjection,
    caller: Principal,
    sandbox_id: str,
    skills: Sequence[str],
) -> dict[str, LoadStatus]:
    """Put skills that the caller may see into a sandbox of theirs, which is started if need be.

    What another source keeps there already stays as that wants it, maybe in another version than the latest.
    """
    caller.require_scope(Scope.WRITE)
    sandbox = await rooms.sandboxes.get(caller, sandbox_id)
    sandbox.require(Ability.FILESYSTEM)
    sandbox.require_unexpired()
    refs = {skill: SkillRef.of(skill) for skill in skills}
    offers = await registry.shipping.offers(caller, refs.values())
    async with rooms.running.use(sandbox_id) as held:
        await injection.refresh(sandbox, held.session)
        kept = _kept(injection.present_in(sandbox_id))
        there = {skill: kept.get(offers[ref].full_name) for skill, ref in refs.items() if ref in offers}
        missing = [skill for skill in refs if not there.get(skill)]
        loaded: dict[str, LoadStatus] = {}
        if missing:
            loader = SkillSandboxLoader(registry, principal=caller)
            loaded = await loader.load_skills_to_sandbox(missing, held.session)
            await injection.refresh(sandbox, held.session)  # executions record that they were there
    return {skill: there.get(skill) or loaded[skill] for skill in refs}


def _kept(present: Present) -> dict[str, LoadStatus]:
    """What sources keep in a sandbox, by the full names of skills: not what was loaded by request."""
    return {
        entry.origin.skill: LoadStatus(loaded=True, folder=folder, digest=entry.digest, version=entry.origin.version)
        for folder, entry in present.items()
        if entry.origin.kind != LOADED
    }
