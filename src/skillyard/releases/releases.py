"""Releases: candidates are put to use by some or by all, and taken back."""

from collections.abc import Collection, Mapping, Sequence

from skillyard.db.database import Database
from skillyard.db.paging import total_of
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.history.entries import Change, Entry, Why
from skillyard.history.service import Step, moved_on
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.drafts import Draft
from skillyard.releases.candidate_spec import clean_text
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.payload_store import PayloadStore
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.promotion import Promotion, require_promotable, require_proven
from skillyard.releases.publishing import ReleasePublishing
from skillyard.releases.release_ledger import DELETED, KILLED, RETIRED, ROLLED_BACK, ReleaseLedger
from skillyard.releases.store import (
    active_releases,
    in_use_of,
    is_released,
    last_good,
    newest_of_each,
    own_candidate,
    own_release,
    releases_of,
    require_page,
    was_replayed,
)
from skillyard.releases.values import PROMOTED, Page, Release, ReleaseMode, ReleaseState, Stage, value_of


class Releases:
    """What is in use, by whose decision, and what was taken back."""

    def __init__(
        self,
        database: Database,
        payloads: PayloadStore,
        publishing: ReleasePublishing,
        ledger: ReleaseLedger,
        policy: ReleasePolicy,
    ) -> None:
        self._database = database
        self._payloads = payloads
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
            rows = await session.scalars(newest.limit(limit).offset(offset))
            items = [value_of(Release, row) for row in rows]
            total = await total_of(session, query, shown=len(items), limit=limit, offset=offset)
        return Page(items=items, total=total)

    async def holding(self, caller: Principal, digests: Collection[str]) -> list[Release]:
        """The caller's releases in use that are one of these bundles, the newest first."""
        query = releases_of(caller, active_only=True).where(ReleaseRow.digest.in_(digests))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(ReleaseRow.promoted_at.desc(), ReleaseRow.id))
            return [value_of(Release, row) for row in rows]

    async def before(self, caller: Principal, release_id: str) -> Release | None:
        """What a rollback of a release would go to; None where nothing was good before it."""
        async with self._database.read() as session:
            good = await last_good(session, await own_release(session, caller, release_id))
            return None if good is None else value_of(Release, good)

    async def promote(self, caller: Principal, candidate_id: str, promotion: Promotion | None = None) -> Release:
        """Put a candidate to use. A canary leaves what is stable; a stable release takes the place of both.

        What is in use so already stays as it is.
        """
        caller.require_scope(Scope.PUBLISH)
        promotion = promotion or Promotion()
        cap = self._policy.active_cap
        reason = clean_text(promotion.upgrade_reason or promotion.change_summary) or ""
        why = Why(reason=reason, feedback=promotion.feedback, allow_risky=promotion.allow_risky)
        async with self._database.read() as session:
            candidate = await own_candidate(session, caller, candidate_id)
            await require_promotable(session, caller, candidate, promotion, cap=cap)
            is_accepted = await is_released(session, candidate.id)
        if not is_accepted:
            require_proven(candidate, await self._unproven(candidate), why)

        async def release(transaction: Transaction) -> Release:
            session = transaction.session
            candidate = await own_candidate(session, caller, candidate_id)
            await require_promotable(session, caller, candidate, promotion, cap=cap)
            active = await active_releases(session, candidate.owner_id, candidate.skill_key)
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

        return await self._publishing.publish(caller, candidate, promotion.stage, why, release)

    async def _unproven(self, candidate: CandidateRow) -> Mapping[str, int]:
        """The variables of a candidate of which replays prove nothing."""
        if candidate.payload_ref is None:
            return {}
        try:
            return (await self._payloads.payload(candidate.owner_id, candidate.payload_ref)).unproven
        except (InputError, NotFoundError):
            return {}  # it cannot be replayed at all

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
        copy = await self._copy_before(caller, release_id)
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
            await self._ledger.record(transaction, caller, ROLLED_BACK, row, why, mode)
            restored = await self._go_back(transaction, caller, row, copy, mode, why)
        return value_of(Release, restored or row)

    async def undo(self, entry: Entry) -> Step:
        """Take the release back that an entry of the history tells of: what its candidate has in use by now."""
        async with self._database.read() as session:
            row = await session.get_one(ReleaseRow, entry.change.subject.id)
            owner = await owner_of(session, row.owner_id, scope=Scope.PUBLISH)
            now = await in_use_of(session, row)
        copy = None if now is None else await self._copy_before(owner, now.id)

        async def step(transaction: Transaction) -> Change:
            session = transaction.session
            row = await session.get_one(ReleaseRow, entry.change.subject.id)
            now = await in_use_of(session, row)
            if now is not None:
                why = Why(reason=f"Undone (entry {entry.number}).")
                await self._ledger.take_back(session, now, ReleaseState.ROLLED_BACK, why.reason)
                await self._go_back(transaction, owner, now, copy, ReleaseMode.MANUAL, why)
            elif row.state != ReleaseState.ROLLED_BACK:
                raise moved_on(entry)
            return await self._ledger.change_of(session, ROLLED_BACK, now or row)

        return step

    async def kill(self, caller: Principal, release_id: str, *, reason: str | None = None) -> Release:
        """Take a release out of use at once, with nothing in its place. Done again it changes nothing."""
        caller.require_scope(Scope.WRITE)
        copy = await self._copy_before(caller, release_id)
        async with self._database.write() as transaction:
            row = await own_release(transaction.session, caller, release_id)
            await self._kill(transaction, caller, [row], reason)
            await self._publishing.go_back(transaction, caller, row, copy, Why(reason=clean_text(reason) or ""))
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
                await self._ledger.record(transaction, caller, RETIRED, row, why)
                await self._ledger.settle(transaction, caller, row, why)
        return value_of(Release, row)

    async def delete(self, caller: Principal, release_id: str, *, reason: str | None = None) -> Release:
        """Take a release away, out of use if it is in use."""
        caller.require_scope(Scope.WRITE)
        why = Why(reason=clean_text(reason) or "")
        async with self._database.write() as transaction:
            row = await own_release(transaction.session, caller, release_id)
            await self._ledger.delete(transaction.session, row, caller, clean_text(reason))
            await self._ledger.record(transaction, caller, DELETED, row, why)
            await self._ledger.settle(transaction, caller, row, why)
        return value_of(Release, row)

    async def _copy_before(self, caller: Principal, release_id: str) -> Draft | None:
        """What a skill of the registry is worked on from again, once a release of it is taken back."""
        async with self._database.read() as session:
            row = await own_release(session, caller, release_id)
            good = await last_good(session, row)
        return await self._publishing.working_copy(row, good and good.digest)

    async def _go_back(
        self,
        transaction: Transaction,
        caller: Principal,
        row: ReleaseRow,
        copy: Draft | None,
        mode: ReleaseMode,
        why: Why,
    ) -> ReleaseRow | None:
        """Let what was good before a release that ended take its place."""
        restored = await self._restore(transaction, caller, row, mode, why)
        await self._ledger.settle(transaction, caller, row, why, bad=row.digest)
        await self._publishing.go_back(transaction, caller, row, copy, why)
        return restored

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
        await self._ledger.record(transaction, caller, PROMOTED, row, why, ReleaseMode(row.release_mode))
        await self._ledger.settle(transaction, caller, row, why)

    async def _kill(
        self, transaction: Transaction, caller: Principal, rows: Sequence[ReleaseRow], reason: str | None
    ) -> None:
        why = Why(reason=clean_text(reason) or "")
        for row in rows:
            if row.is_active:
                await self._ledger.take_back(transaction.session, row, ReleaseState.KILLED, why.reason)
                await self._ledger.record(transaction, caller, KILLED, row, why)
                await self._ledger.settle(transaction, caller, row, why, bad=row.digest)
