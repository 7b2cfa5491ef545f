"""Skills for sandboxes: which sources they come from, and when they are delivered."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
from skillyard.delivery.bundle_source import BundleSource, DesiredBundle, Origin, Receiver
from skillyard.delivery.injector import Injection, Present, SkillInjector
from skillyard.delivery.release_source import RELEASE, LearnedSkills, ReleaseSource
from skillyard.delivery.sandbox_loader import LOADED, LoadStatus, SkillSandboxLoader
from skillyard.delivery.sandbox_place import SandboxPlace
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import IN_PLACE
from skillyard.errors import UnavailableError
from skillyard.identity.owners import Owners
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.service import Registry
from skillyard.registry.shipping import SkillRef
from skillyard.releases.active_releases import ActiveReleases
from skillyard.releases.values import Stage
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.running import Held, Running
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.session import Session
from skillyard.skill.bundle import Bundle

_REMEMBERED: Final = 10_000
"""Sandboxes whose skills are known; those that run are always among the latest."""
_GATHER: Final = 1.0
"""Seconds for which changes gather before what runs is given them."""
_RETRY_AFTER: Final = 10.0
_TOLD: Final = 5
"""Skills that could not be delivered, by name."""
_log: Final = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Delivery:
    """What was delivered to a sandbox, and when."""

    receiver: Receiver
    injection: Injection
    number: int = -1
    """The change number up to which the delivery is current."""


class SandboxInjection:
    """Delivers to sandboxes as they start and when something changes, and knows what each of them has."""

    def __init__(self, sources: Sequence[BundleSource]) -> None:
        self._injector = SkillInjector(sources, on_injected=self._remember)
        self._known: OrderedDict[str, _Delivery] = OrderedDict()

    async def on_running(self, sandbox: Sandbox, session: Session) -> None:
        """Deliver with a start. What could not be done is raised, to be noted with the sandbox."""
        problem = _problem(await self.refresh(sandbox, session))
        if problem is not None:
            raise UnavailableError(problem)

    async def foresee(self, sandbox: Sandbox) -> str | None:
        """What cannot be delivered to a new sandbox, as far as that is known before it starts."""
        return _problem(await self._injector.foresee(_receiver(sandbox)))

    async def refresh(self, sandbox: Sandbox, session: Session) -> Injection:
        """Deliver to a sandbox that runs."""
        return await self._injector.inject(_receiver(sandbox), session)

    async def keep_current(self, running: Running, database: Database, held: Held) -> None:
        """Deliver what changed in the yard since the last delivery, so that a withdrawn skill is not used again."""
        known = self._known.get(held.sandbox_id)
        if known is None:
            return
        number = await database.number()
        if known.number == number:
            return
        injection = known.injection
        if injection.target is None or await self._injector.target_state(known.receiver) != injection.target:
            injection = await self._injector.inject(known.receiver, held.session)
            await running.note(held, _problem(injection))
        if injection.target is not None:
            self._known[held.sandbox_id].number = number

    async def follow(self, running: Running, database: Database, pause: Callable[[float], Awaitable[None]]) -> None:
        """For ever, deliver to what runs here when a release, an attachment or a version may have changed."""
        number = -1
        while True:
            try:
                number = await database.wait_beyond(number)
                await pause(_GATHER)
                for held in running.all:
                    if held.session.alive:
                        await self.keep_current(running, database, held)
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
        known = self._known.get(sandbox_id)
        return {} if known is None else known.injection.present

    async def _remember(self, receiver: Receiver, injection: Injection) -> None:
        self._known[receiver.sandbox_id] = _Delivery(receiver=receiver, injection=injection)
        self._known.move_to_end(receiver.sandbox_id)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _receiver(sandbox: Sandbox) -> Receiver:
    return Receiver(owner=sandbox.owner_id, sandbox_id=sandbox.id, labels=sandbox.labels)


def _problem(injection: Injection) -> str | None:
    """What was not delivered, and why, if anything was not."""
    problems = [*injection.errors, *_missing(injection)]
    if not problems:
        return None
    return f"Skills could not be delivered: {' '.join(problems)}"


def _missing(injection: Injection) -> Iterator[str]:
    """How many skills are missing for reasons of their own, and which."""
    missing = injection.missing
    if not missing:
        return
    told = [f"{each.origin.skill} ({each.reason.rstrip('.')})" for each in missing[:_TOLD]]
    more = f" and {len(missing) - _TOLD} more" if len(missing) > _TOLD else ""
    yield f"{len(missing)} of {len(missing) + len(injection.delivered)}: {', '.join(told)}{more}."


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
    rooms.sandboxes.foresee = injection.foresee
    rooms.running.checks.append(partial(injection.keep_current, rooms.running, database))
    rooms.log.skills = injection.skills_in
    return injection


def open_loader(registry: Registry, database: Database) -> SkillSandboxLoader:
    """Loads skills of the registry into sandboxes, as far as the user of each call may see them.

    A call without a user loads what everyone in the yard may see.
    """
    owners = Owners(database)

    async def principal_of(user_id: str | None) -> Principal:
        return await (owners.anybody() if user_id is None else owners.principal(user_id))

    return SkillSandboxLoader(registry, principal_of=principal_of)


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


async def put_into_sandbox(
    rooms: SandboxRooms, injection: SandboxInjection, caller: Principal, sandbox_id: str, bundle: Bundle, folder: str
) -> LoadStatus:
    """Put a skill that the caller sends into a sandbox of theirs; the same one again changes nothing."""
    caller.require_scope(Scope.WRITE)
    sandbox = await rooms.sandboxes.get(caller, sandbox_id)
    sandbox.require(Ability.FILESYSTEM)
    sandbox.require_unexpired()

    async def load() -> Bundle:
        return bundle

    wanted = DesiredBundle(
        folder=folder, digest=bundle.digest, origin=Origin(kind=LOADED, skill=f"./{folder}"), load=load
    )
    # No source calls a skill so: it never takes the folder of another.
    async with rooms.running.use(sandbox_id) as held:
        plan = await ship(SandboxPlace(held.session), [wanted], speaks_for=())
        await injection.refresh(sandbox, held.session)  # executions record that it was there
    (item,) = plan.items
    return LoadStatus(
        loaded=item.step in IN_PLACE, reason=item.reason, folder=folder, digest=bundle.digest, step=item.step
    )


def _kept(present: Present) -> dict[str, LoadStatus]:
    """What sources keep in a sandbox, by the full names of skills: not what was loaded by request."""
    return {
        entry.origin.skill: LoadStatus(loaded=True, folder=folder, digest=entry.digest, version=entry.origin.version)
        for folder, entry in present.items()
        if entry.origin.kind != LOADED
    }
