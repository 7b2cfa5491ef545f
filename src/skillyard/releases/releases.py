"""Releases: candidates are put to use by some or by all, and taken back."""

from collections.abc import Sequence

from sqlalchemy import func

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.candidate_spec import clean_text
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.promotion import Promotion, require_promotable
from skillyard.releases.publishing import ReleasePublishing
from skillyard.releases.release_ledger import DELETED, KILLED, PROMOTED, RETIRED, ROLLED_BACK, ReleaseLedger
from skillyard.releases.store import (
    active_releases,
    last_good,
    newest_of_each,
    own_candidate,
    own_release,
    releases_of,
    require_page,
    was_replayed,
)
from skillyard.releases.values import Page, Release, ReleaseMode, ReleaseState, Stage, value_of


class Releases:
    """What is in use, by whose decision, and what was taken back."""

    def __init__(
        self, database: Database, publishing: ReleasePublishing, ledger: ReleaseLedger, policy: ReleasePolicy
    ) -> None:
        self._database = database
        self._publishing = publishing
        self._ledger = ledger
        self._policy = policy

    async def get(self, caller: Principal, release_id: str) -> Release:
        async with self._database.read() as session:
            return value_of(Release, await own_release(session, caller, release_id))

    async def page(
        self,
        caller: Principal,
        *,
        skill_key: str | None = None,
        stage: Stage | None = None,
        active_only: bool = False,
        every_stage: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> Page[Release]:
        """Some of the caller's releases, the newest first, and how many there are.

        Of those in use, each skill has one, the newest: a canary hides the stable release beside it, unless a stage or
        `every_stage` is asked for.
        """
        require_page(limit, offset)
        query = releases_of(caller, skill_key=skill_key, stage=stage, active_only=active_only)
        if active_only and stage is None and not every_stage:
            query = newest_of_each(query)
        newest = query.order_by(ReleaseRow.promoted_at.desc(), ReleaseRow.version.desc(), ReleaseRow.id)
        async with self._database.read() as session:
            total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
            rows = await session.scalars(newest.limit(limit).offset(offset))
            return Page(items=[value_of(Release, row) for row in rows], total=total)

    async def promote(self, caller: Principal, candidate_id: str, promotion: Promotion | None = None) -> Release:
        """Put a candidate to use. A canary leaves what is stable; a stable release takes the place of both.

        What is in use so already stays as it is.
        """
        caller.require_scope(Scope.PUBLISH)
        promotion = promotion or Promotion()
        cap = self._policy.active_cap
        why = Why(reason=clean_text(promotion.upgrade_reason or promotion.change_summary) or "")
        async with self._database.read() as session:
            candidate = await own_candidate(session, caller, candidate_id)
            await require_promotable(session, caller, candidate, promotion, cap=cap)
        if candidate.name is not None and candidate.digest is not None:
            await self._publishing.publish(caller, candidate.name, candidate.digest, why)
        async with self._database.write() as transaction:
            session = transaction.session
            candidate = await own_candidate(session, caller, candidate_id)
            await require_promotable(session, caller, candidate, promotion, cap=cap)
            active = await active_releases(session, caller.person_id, candidate.skill_key)
            for other in active:
                if other.candidate_id == candidate.id and other.stage == promotion.stage:
                    return value_of(Release, other)
            row = await self._ledger.add(
                transaction,
                caller,
                candidate,
                promotion.stage,
                promotion.mode,
                external=not await was_replayed(session, candidate.id),
                auto_promoted_from=promotion.auto_promoted_from,
                upgrade_of_release_id=promotion.upgrade_of_release_id,
                upgrade_reason=clean_text(promotion.upgrade_reason),
                change_summary=clean_text(promotion.change_summary),
            )
            replaced = [each for each in active if promotion.stage in {Stage.STABLE, each.stage}]
            await self._show(transaction, caller, row, replaced, why)
        return value_of(Release, row)

    async def rollback(
        self,
        caller: Principal,
        release_id: str,
        *,
        reason: str | None = None,
        mode: ReleaseMode = ReleaseMode.MANUAL,
    ) -> Release:
        """Take a release back. What was good last is released anew; without any, the skill is in use no more.

        Done again it changes nothing, and answers the same.
        """
        caller.require_scope(Scope.WRITE)
        why = Why(reason=clean_text(reason) or "")
        async with self._database.write() as transaction:
            session = transaction.session
            row = await own_release(session, caller, release_id)
            if row.state == ReleaseState.ROLLED_BACK:
                again = releases_of(caller, skill_key=row.skill_key).where(ReleaseRow.rollback_of == row.id)
                return value_of(Release, await session.scalar(again) or row)
            if not row.is_active:
                raise ConflictError(
                    f"The release {release_id} is not in use: it is {row.state}.",
                    hint="Roll back the release that is: skillyard release list",
                    details={"release_id": release_id, "state": row.state},
                )
            await self._ledger.take_back(session, row, ReleaseState.ROLLED_BACK, why.reason)
            self._ledger.record(transaction, caller, ROLLED_BACK, row, why, mode)
            restored = await self._restore(transaction, caller, row, mode, why)
            await self._ledger.settle(transaction, caller, row, why, bad=row.digest)
        return value_of(Release, restored or row)

    async def kill(self, caller: Principal, release_id: str, *, reason: str | None = None) -> Release:
        """Take a release out of use at once, with nothing in its place. Done again it changes nothing."""
        caller.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            row = await own_release(transaction.session, caller, release_id)
            await self._kill(transaction, caller, [row], reason)
        return value_of(Release, row)

    async def kill_skill(self, caller: Principal, skill_key: str, *, reason: str | None = None) -> list[Release]:
        """Take all releases of a skill out of use at once, and answer with those that were in use."""
        caller.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            rows = await active_releases(transaction.session, caller.person_id, skill_key)
            await self._kill(transaction, caller, rows, reason)
        return [value_of(Release, row) for row in rows]

    async def retire(self, caller: Principal, release_id: str, *, reason: str | None = None) -> Release:
        """Put a release that served its time out of use; nothing speaks against its candidate."""
        caller.require_scope(Scope.WRITE)
        why = Why(reason=clean_text(reason) or "")
        async with self._database.write() as transaction:
            row = await own_release(transaction.session, caller, release_id)
            if row.is_active:
                self._ledger.end(row, ReleaseState.RETIRED, why.reason)
                self._ledger.record(transaction, caller, RETIRED, row, why)
                await self._ledger.settle(transaction, caller, row, why)
        return value_of(Release, row)

    async def delete(self, caller: Principal, release_id: str, *, reason: str | None = None) -> Release:
        """Take a release away, out of use if it is in use."""
        caller.require_scope(Scope.WRITE)
        why = Why(reason=clean_text(reason) or "")
        async with self._database.write() as transaction:
            row = await own_release(transaction.session, caller, release_id)
            self._ledger.delete(row, caller, clean_text(reason))
            self._ledger.record(transaction, caller, DELETED, row, why)
            await self._ledger.settle(transaction, caller, row, why)
        return value_of(Release, row)

    async def _restore(
        self, transaction: Transaction, caller: Principal, bad: ReleaseRow, mode: ReleaseMode, why: Why
    ) -> ReleaseRow | None:
        """Release anew what was good last."""
        session = transaction.session
        good = await last_good(session, bad)
        if good is None:
            return None
        candidate = await session.get_one(CandidateRow, good.candidate_id)
        active = await active_releases(session, good.owner_id, good.skill_key)
        row = await self._ledger.add(
            transaction,
            caller,
            candidate,
            Stage(good.stage),
            mode,
            external=good.external,
            rollback_of=bad.id,
            upgrade_reason=why.reason or None,
        )
        await self._show(transaction, caller, row, [each for each in active if each.stage == good.stage], why)
        return row

    async def _show(
        self, transaction: Transaction, caller: Principal, row: ReleaseRow, replaced: Sequence[ReleaseRow], why: Why
    ) -> None:
        """Let a new release take the place of others."""
        for other in replaced:
            self._ledger.end(other, ReleaseState.SUPERSEDED, f"{row.id} took its place.")
        self._ledger.record(transaction, caller, PROMOTED, row, why, ReleaseMode(row.release_mode))
        await self._ledger.settle(transaction, caller, row, why)

    async def _kill(
        self, transaction: Transaction, caller: Principal, rows: Sequence[ReleaseRow], reason: str | None
    ) -> None:
        why = Why(reason=clean_text(reason) or "")
        for row in rows:
            if row.is_active:
                await self._ledger.take_back(transaction.session, row, ReleaseState.KILLED, why.reason)
                self._ledger.record(transaction, caller, KILLED, row, why)
                await self._ledger.settle(transaction, caller, row, why, bad=row.digest)
