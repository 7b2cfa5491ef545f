"""Putting skills into sandboxes as they start, and again whenever what they should have changes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from skillyard.delivery.bundle_source import (
    BundleSource,
    Desired,
    DesiredBundle,
    Origin,
    Receiver,
    Shortfall,
)
from skillyard.delivery.manifest import Manifest, ManifestEntry
from skillyard.delivery.release_source import RELEASE
from skillyard.delivery.sandbox_place import SandboxPlace, Workspace
from skillyard.delivery.ship import ship
from skillyard.delivery.ship_plan import Seen, ShipItem, ShipPlan, Step, plan_shipping

DEADLINE: Final = 10.0
"""Seconds that a start waits for its skills."""

_log = logging.getLogger(__name__)
_FAILED: Final = "skills.inject.failed"
_SKIPPED: Final = "skills.inject.skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Injection:
    """What became of one delivery into a sandbox."""

    plan: ShipPlan | None = None
    """What was done; None where nothing could be."""
    shortfalls: tuple[Shortfall, ...] = ()
    """What sources could not give, or what is too much."""
    errors: tuple[str, ...] = ()
    """What failed as a whole: a source, or the delivery itself."""
    target: "TargetState | None" = None
    """What the sources said; None if one of them failed."""

    @property
    def items(self) -> tuple[ShipItem, ...]:
        return self.plan.items if self.plan else ()

    @property
    def delivered(self) -> tuple[ShipItem, ...]:
        """The wanted skills that are in place."""
        return self.plan.in_place if self.plan else ()

    @property
    def failed(self) -> tuple[ShipItem, ...]:
        """Those that could not be written."""
        return self.plan.of(Step.FAILED) if self.plan else ()

    @property
    def missing(self) -> tuple[Shortfall, ...]:
        """The requested skills that are missing, each with the reason.

        Nobody requests a learned skill by name: it is not missing if its folder is taken or there are too many, only
        if it is refused.
        """
        trouble = self.plan.trouble if self.plan else ()
        left_out = [item for item in trouble if item.step is Step.FAILED or not _gives_way(item, self)]
        told = [Shortfall(origin=item.origin, reason=item.reason) for item in left_out]
        return (*(each for each in self.shortfalls if each.refused or each.origin.kind != RELEASE), *told)

    @property
    def learned(self) -> int:
        """How many learned skills are in place."""
        return sum(item.origin.kind == RELEASE for item in self.delivered)

    @property
    def present(self) -> "Present":
        """Everything we ever delivered that is in the sandbox now, by folder."""
        if self.plan is None:
            return {}
        failed = {item.folder for item in self.failed}
        return {folder: entry for folder, entry in self.plan.manifest.entries.items() if folder not in failed}


def _gives_way(item: ShipItem, injection: Injection) -> bool:
    return item.origin.kind == RELEASE and any(item.folder == other.folder for other in injection.delivered)


class TargetState(NamedTuple):
    """What a sandbox should have; equal while there is nothing to deliver."""

    bundles: tuple[tuple[str, str, Origin], ...]
    shortfalls: tuple[Shortfall, ...]


Present: TypeAlias = Mapping[str, ManifestEntry]
OnInjected: TypeAlias = Callable[[Receiver, Injection], Awaitable[None]]
"""Told after each delivery that reached its sandbox."""


class SkillInjector:
    """Delivers what all its sources want. Never raises: a sandbox without its skills is better than none."""

    def __init__(
        self, sources: Sequence[BundleSource], *, seconds: float = DEADLINE, on_injected: OnInjected | None = None
    ) -> None:
        self._sources = tuple(sources)
        self._seconds = seconds
        self._on_injected = on_injected

    async def inject_learned_skills(self, *, owner: str, sandbox_id: str, session: Workspace) -> int:
        """Deliver everything a sandbox should have, and answer how many learned skills are in place."""
        return (await self.inject(Receiver(owner=owner, sandbox_id=sandbox_id), session)).learned

    async def inject(self, receiver: Receiver, session: Workspace) -> Injection:
        """Deliver what is wanted now. An unchanged sandbox is only looked at; called again, it repairs."""
        try:
            async with asyncio.timeout(self._seconds):
                injection = await self._delivered(receiver, session)
                if self._on_injected is not None:
                    await self._on_injected(receiver, injection)
        except TimeoutError:
            injection = Injection(errors=(f"It took longer than {self._seconds:g} seconds.",))
        except Exception as error:  # noqa: BLE001 -- whatever it is, the sandbox starts
            injection = Injection(errors=(_told(error),))
        _report(receiver, injection)
        return injection

    async def foresee(self, receiver: Receiver) -> Injection:
        """What a delivery into a new sandbox would come to; nothing is read or written."""
        answers = await self._answers(receiver)
        plan = plan_shipping(answers.bundles, Seen(manifest=Manifest.read(None), digests={}), speaks_for=())
        injection = answers.injection(plan)
        _report(receiver, injection)
        return injection

    async def target_state(self, receiver: Receiver) -> TargetState | None:
        """What a sandbox should have now; None if a source failed."""
        return (await self._answers(receiver)).target_state

    async def _delivered(self, receiver: Receiver, session: Workspace) -> Injection:
        answers = await self._answers(receiver)
        # A source that failed says nothing about what it delivered before, and that stays.
        speaks_for = {source.kind for source in self._sources} - {failure.kind for failure in answers.failures}
        return answers.injection(await ship(SandboxPlace(session), answers.bundles, speaks_for=speaks_for))

    async def _answers(self, receiver: Receiver) -> "_Answers":
        answers = await asyncio.gather(*(self._asked(source, receiver) for source in self._sources))
        answered = [answer for answer in answers if isinstance(answer, Desired)]
        return _Answers(
            bundles=[each for answer in answered for each in answer.bundles],
            shortfalls=tuple(each for answer in answered for each in answer.shortfalls),
            failures=[answer for answer in answers if isinstance(answer, _Failure)],
        )

    async def _asked(self, source: BundleSource, receiver: Receiver) -> "Desired | _Failure":
        try:
            async with asyncio.timeout(self._seconds / 2):  # the others' skills have the other half
                return await source.desired(receiver)
        except Exception as error:  # noqa: BLE001 -- one source must not keep the others' skills away
            return _Failure(source.kind, f"The source '{source.kind}' failed: {_told(error)}")


class _Failure(NamedTuple):
    kind: str
    message: str


class _Answers(NamedTuple):
    """What all sources said."""

    bundles: Sequence[DesiredBundle]
    shortfalls: tuple[Shortfall, ...]
    failures: Sequence[_Failure]

    @property
    def target_state(self) -> TargetState | None:
        bundles = tuple((each.folder, each.digest, each.origin) for each in self.bundles)
        return None if self.failures else TargetState(bundles, self.shortfalls)

    def injection(self, plan: ShipPlan) -> Injection:
        errors = tuple(failure.message for failure in self.failures)
        return Injection(plan=plan, shortfalls=self.shortfalls, errors=errors, target=self.target_state)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _report(receiver: Receiver, injection: Injection) -> None:
    for message in injection.errors:
        _warn(_FAILED, receiver, Origin(kind=""), message)
    for shortfall in injection.shortfalls:
        _warn(_SKIPPED, receiver, shortfall.origin, shortfall.reason)
    for item in injection.plan.trouble if injection.plan else ():
        _warn(_FAILED if item.step is Step.FAILED else _SKIPPED, receiver, item.origin, item.reason)


def _warn(event: str, receiver: Receiver, origin: Origin, error: str) -> None:
    release_id = origin.version if origin.kind == RELEASE else ""
    _log.warning(
        event,
        extra={
            "sandbox_id": receiver.sandbox_id,
            "owner": receiver.owner,
            "origin": origin.kind,
            "skill_key": origin.skill,
            "release_id": release_id,
            "error": error,
        },
    )
