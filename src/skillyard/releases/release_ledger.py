"""Releases as a transaction writes them: begun, ended, and shown as they stand in the history and the registry."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.transaction import Transaction
from skillyard.history.entries import Actor, Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal
from skillyard.registry.store import skill_with_id
from skillyard.releases.ids import new_id
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.publishing import ReleasePublishing
from skillyard.releases.store import active_releases, next_version
from skillyard.releases.values import (
    Release,
    ReleaseMode,
    ReleaseState,
    Stage,
    Status,
    columns_of,
    release_subject,
)

ROLLED_BACK: Final = "release.rolled_back"
KILLED: Final = "release.killed"
RETIRED: Final = "release.retired"
DELETED: Final = "release.deleted"
_YARD: Final = "skillyard"


class ReleaseLedger:
    """Writes within transactions that others began; who may is settled by then."""

    def __init__(
        self, history: History, publishing: ReleasePublishing, policy: ReleasePolicy, *, clock: Clock = utc_now
    ) -> None:
        self._history = history
        self._publishing = publishing
        self._policy = policy
        self._clock = clock

    async def add(
        self,
        transaction: Transaction,
        caller: Principal,
        candidate: CandidateRow,
        stage: Stage,
        mode: ReleaseMode,
        **more: Any,  # noqa: ANN401 -- further fields of the release
    ) -> ReleaseRow:
        """Release a candidate, in the place of what it is put before."""
        session, now = transaction.session, self._clock()
        release = Release(
            id=new_id("sr"),
            tenant_id=candidate.tenant_id,
            owner_id=candidate.owner_id,
            skill_key=candidate.skill_key,
            skill_id=candidate.skill_id,
            candidate_id=candidate.id,
            version=await next_version(session, candidate.owner_id, candidate.skill_key),
            name=candidate.name,
            digest=candidate.digest,
            stage=stage.value,
            release_mode=mode.value,
            promoted_by=caller.person_id if mode is ReleaseMode.MANUAL else None,
            promoted_at=now,
            health_window_end_at=self._window_end(stage, now),
            **more,
        )
        candidate.status = Status.PROMOTED.value
        candidate.promotion_release_id = release.id
        candidate.updated_at = now
        row = ReleaseRow(**columns_of(release))
        session.add(row)
        return row

    def end(self, row: ReleaseRow, state: ReleaseState, reason: str) -> None:
        row.is_active = False
        row.state = state.value
        row.ended_at = self._clock()
        row.end_reason = reason or None

    async def delete(self, session: AsyncSession, row: ReleaseRow, caller: Principal, reason: str | None) -> None:
        candidate = await session.get_one(CandidateRow, row.candidate_id)
        if candidate.promotion_release_id == row.id:
            candidate.promotion_release_id = None
        if row.is_active:
            self.end(row, ReleaseState.RETIRED, "It was deleted.")
        row.deleted_at = self._clock()
        row.deleted_by = caller.person_id
        row.delete_reason = reason

    async def take_back(self, session: AsyncSession, row: ReleaseRow, state: ReleaseState, reason: str) -> None:
        """End a release that was no good, and ask for new evidence before its candidate is released again."""
        self.end(row, state, reason)
        candidate = await session.get_one(CandidateRow, row.candidate_id)
        candidate.status = Status.ROLLED_BACK.value
        candidate.rolled_back_at = candidate.updated_at = self._clock()

    async def record(
        self,
        transaction: Transaction,
        caller: Principal,
        action: str,
        row: ReleaseRow,
        why: Why,
        mode: ReleaseMode = ReleaseMode.MANUAL,
    ) -> None:
        """Note what happens to a release; what a policy does, the yard does."""
        actor = caller.actor if mode is ReleaseMode.MANUAL else Actor(tenant_id=caller.tenant_id, name=_YARD)
        change = await self.change_of(transaction.session, action, row, mode)
        self._history.record(transaction, actor, change, why)

    async def change_of(
        self, session: AsyncSession, action: str, row: ReleaseRow, mode: ReleaseMode = ReleaseMode.MANUAL
    ) -> Change:
        """What the history says of a release: to its owner, and of a skill of the registry to all who see that."""
        subject = release_subject(row.id, row.skill_key, row.version, row.owner_id)
        after = {"stage": row.stage, "state": row.state, "candidate_id": row.candidate_id, "mode": mode.value}
        if row.skill_id is not None:
            after["skill_id"] = row.skill_id
            skill = await skill_with_id(session, row.skill_id)
            subject = subject if skill is None else replace(subject, audience=skill.audience)
        return Change(action=action, subject=subject, after=after, digest_after=row.digest)

    async def settle(
        self, transaction: Transaction, caller: Principal, row: ReleaseRow, why: Why, *, bad: str | None = None
    ) -> None:
        """Have the registry show what is in use of a skill now, and nobody be given what was `bad`."""
        if row.name is None:
            return
        await transaction.session.flush()
        rows = await active_releases(transaction.session, row.owner_id, row.skill_key)
        active = {each.stage: each.digest for each in rows if each.digest is not None}
        await self._publishing.settle(transaction, caller, row, active, bad=bad, why=why)

    def _window_end(self, stage: Stage, now: datetime) -> datetime | None:
        return now + self._policy.window if stage is Stage.CANARY else None
