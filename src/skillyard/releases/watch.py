"""The policy at work: canaries are promoted or taken back, and stable releases that are worse are taken back."""

import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import ConflictError, NotAllowedError, SkillyardError
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.decisions.sequential import Action
from skillyard.releases.health import Health, ReleaseHealth
from skillyard.releases.health_store import to_be_watched
from skillyard.releases.models import ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Release, ReleaseMode, Stage

_OVERLAP: Final = timedelta(minutes=5)
"""Runs that others were still writing when this looked last."""

_log = logging.getLogger(__name__)


class Deciding(Protocol):
    """Whoever promotes releases and takes them back; to do so twice changes nothing."""

    async def promote(self, caller: Principal, candidate_id: str, promotion: Promotion | None = None) -> Release: ...

    async def rollback(
        self,
        caller: Principal,
        release_id: str,
        *,
        reason: str | None = None,
        mode: ReleaseMode = ReleaseMode.MANUAL,
    ) -> Release: ...


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What became of the releases that were looked at, by their ids."""

    looked_at: int = 0
    promoted: dict[str, str] = field(default_factory=dict[str, str])
    """With the stable release that each became."""
    rolled_back: dict[str, str] = field(default_factory=dict[str, str])
    """With the reason."""
    errors: dict[str, str] = field(default_factory=dict[str, str])


class Watch:
    """Looks at all releases in use now and then, and does what their runs call for, in the name of their owners."""

    def __init__(
        self,
        database: Database,
        releases: Deciding,
        *,
        policy: ReleasePolicy | None = None,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._releases = releases
        self._policy = policy or ReleasePolicy()
        self._health = Health(database, policy=self._policy, clock=clock)
        self._clock = clock
        self._looked_at: datetime | None = None
        self._again: set[str] = set()

    async def tick(self) -> Watched:
        """Look once. What goes wrong with one release keeps no other from being looked at, and is tried again."""
        start, since = self._clock(), self._looked_at
        async with self._database.read() as session:
            found = await to_be_watched(session, since=since and since - _OVERLAP)
        waiting = dict.fromkeys([*found, *self._again])
        watched = Watched(looked_at=len(waiting))
        for release_id in waiting:
            try:
                await self._decide(release_id, watched)
            except (ConflictError, NotAllowedError) as error:  # someone else decided, or the owner has to
                watched.errors[release_id] = error.message
            except SkillyardError as error:
                watched.errors[release_id] = error.message
                _log.warning("The release %s could not be decided on: %s", release_id, error.message)
            except Exception as error:  # noqa: BLE001 -- one broken release never stalls the others
                watched.errors[release_id] = repr(error)
                _log.exception("The release %s could not be decided on.", release_id)
        self._looked_at, self._again = start, set(watched.errors)
        return watched

    async def _decide(self, release_id: str, watched: Watched) -> None:
        async with self._database.read() as session:
            row = await session.get(ReleaseRow, release_id)
            if row is None or not row.is_active:
                return
            health = await self._health.measure(session, row)
            if health.decision.action is Action.WAIT:
                return
            owner = await owner_of(session, row.owner_id, scope=Scope.PUBLISH)
        if health.decision.action is Action.ROLLBACK and self._policy.auto_rollback:
            reason = health.decision.reason
            await self._releases.rollback(owner, release_id, reason=reason, mode=ReleaseMode.AUTO)
            watched.rolled_back[release_id] = reason
        elif health.decision.action is Action.PROMOTE and self._policy.auto_promote:
            stable = await self._releases.promote(owner, health.release.candidate_id, _promotion(health))
            watched.promoted[release_id] = stable.id


def _promotion(health: ReleaseHealth) -> Promotion:
    return Promotion(
        stage=Stage.STABLE,
        upgrade_of_release_id=health.baseline_id,
        upgrade_reason=health.decision.reason,
        mode=ReleaseMode.AUTO,
        auto_promoted_from=health.release.id,
    )
