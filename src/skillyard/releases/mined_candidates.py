"""Candidates that were found in executions: one for each task, however often it was done."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.candidate_ledger import CandidateLedger
from skillyard.releases.candidate_spec import clean_text
from skillyard.releases.ids import new_id
from skillyard.releases.mining.findings import MinedSequence
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.payload_store import PayloadStore
from skillyard.releases.payloads import Payload
from skillyard.releases.rendered import Rendering
from skillyard.releases.store import own_executions
from skillyard.releases.values import Candidate, Status, value_of

MAX_EVIDENCE: Final = 1_000
"""Executions that are kept as evidence; more of the same say nothing new."""
_NO_GUESS: Final = (None, "", "false")
"""Defaults that leave something out; any other is what was given the only time that the task was done."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SameTask:
    """What there is already of the task that a sequence is."""

    candidates: tuple[Candidate, ...]
    """The newest first."""
    released: frozenset[str]
    """Those of them that are, or were, in use."""

    @property
    def current(self) -> Candidate | None:
        return self.candidates[0] if self.candidates else None

    @property
    def replaceable(self) -> list[str]:
        """Those that nobody was ever given: a better one takes their place."""
        return [each.id for each in self.candidates if each.id not in self.released]

    def evidence(self, sequence: MinedSequence) -> list[str]:
        """All executions that speak for the task."""
        known = self.current.source_execution_ids if self.current else ()
        return list(dict.fromkeys([*known, *sequence.execution_ids]))[:MAX_EVIDENCE]


class MinedCandidates:
    """Keeps what mining finds: the same task of one person is one candidate."""

    def __init__(
        self,
        database: Database,
        payloads: PayloadStore,
        rendering: Rendering,
        ledger: CandidateLedger,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._payloads = payloads
        self._rendering = rendering
        self._ledger = ledger
        self._clock = clock

    async def keep(self, owner: Principal, sequence: MinedSequence) -> tuple[Candidate, bool]:
        """Make a candidate of what was found in executions, and answer whether it is new.

        A task that is known gets the new evidence. Where it turned out what of it differs, or is not always done, a new
        candidate takes its place, unless it was released: then both stay.
        """
        owner.require_scope(Scope.WRITE)
        stored = await self._payloads.put_parsed(owner, sequence.payload)
        while True:  # until nobody else was there meanwhile
            async with self._database.read() as session:
                known = await same_task(session, owner.person_id, sequence)
            if known.current is not None and not await self._is_richer(known.current, stored.ref, sequence.payload):
                done = await self._add_evidence(owner, sequence, known.current)
            else:
                done = await self._add(owner, sequence, known, stored.ref)
            if done is not None:
                return done

    async def let_go_of_parts(self, owner: Principal, sequence: MinedSequence, found: Collection[str]) -> None:
        """Delete what was taken for a task when only the beginning of this one had been done.

        All that speaks for such a candidate speaks for the whole, and it is none of the forms that are `found` now.
        """
        query = select(CandidateRow).where(
            CandidateRow.owner_id == owner.person_id,
            CandidateRow.mined.is_(True),
            CandidateRow.deleted_at.is_(None),
            CandidateRow.status == Status.DRAFT.value,
            CandidateRow.canonical.not_in([*found, sequence.canonical, *sequence.variants]),
        )
        whole = set(sequence.execution_ids)
        async with self._database.read() as session:
            parts = [row.id for row in await session.scalars(query) if whole.issuperset(row.source_execution_ids)]
        if not parts:
            return
        async with self._database.write() as transaction:
            for row in await transaction.session.scalars(query.where(CandidateRow.id.in_(parts))):
                self._ledger.delete(transaction, owner, row, f"It is a part of {sequence.skill_key}.")

    async def evidence(self, owner_id: str) -> dict[str, tuple[str, ...]]:
        """The executions that speak for each task that was found, by its canonical form."""
        query = select(CandidateRow.canonical, CandidateRow.source_execution_ids).where(
            CandidateRow.owner_id == owner_id, CandidateRow.mined.is_(True), CandidateRow.deleted_at.is_(None)
        )
        async with self._database.read() as session:
            rows = await session.execute(query.order_by(CandidateRow.created_at))
            return {canonical: tuple(ids) for canonical, ids in rows if canonical is not None}

    async def _is_richer(self, current: Candidate, ref: str, payload: Payload) -> bool:
        """Whether a payload says more of what differs than the one of a candidate."""
        if current.payload_ref is None or ref == current.payload_ref:
            return current.payload_ref is None
        before = await self._payloads.payload(current.owner_id, current.payload_ref)
        return _known_of(payload) > _known_of(before)

    async def _add_evidence(
        self, owner: Principal, sequence: MinedSequence, current: Candidate
    ) -> tuple[Candidate, bool] | None:
        async with self._database.write() as transaction:
            now = await same_task(transaction.session, owner.person_id, sequence)
            if now.current is None or now.current.id != current.id:
                return None
            row = await transaction.session.get_one(CandidateRow, current.id)
            evidence = now.evidence(sequence)
            if evidence != row.source_execution_ids:
                row.source_execution_ids = evidence
                row.updated_at = self._clock()
        return value_of(Candidate, row), False

    async def _add(
        self, owner: Principal, sequence: MinedSequence, known: SameTask, payload_ref: str
    ) -> tuple[Candidate, bool] | None:
        now = self._clock()
        evidence = known.evidence(sequence)
        async with self._database.read() as session:
            key = known.current.skill_key if known.current else None
            key = key or await free_key(session, owner.person_id, sequence.skill_key)
            executions = await own_executions(session, owner.person_id, evidence)
        candidate = Candidate(
            id=new_id("sc"),
            tenant_id=owner.tenant_id,
            owner_id=owner.person_id,
            skill_key=key,
            skill_type=sequence.payload.skill_type,
            source_execution_ids=evidence,
            payload_ref=payload_ref,
            summary=clean_text(sequence.summary),
            canonical=sequence.canonical,
            mined=True,
            created_by=owner.person_id,
            created_at=now,
            updated_at=now,
        )
        rendered = await self._rendering.render(owner, candidate, sequence.payload, list(executions.values()))

        async def work(transaction: Transaction) -> tuple[Candidate, bool] | None:
            if await same_task(transaction.session, owner.person_id, sequence) != known:
                return None
            for old in known.replaceable:
                row = await transaction.session.get_one(CandidateRow, old)
                self._ledger.delete(transaction, owner, row, f"{candidate.id} took its place.")
            return self._ledger.add(transaction, owner, candidate, rendered), True

        return await self._ledger.commit(rendered, work)


def _known_of(payload: Payload) -> tuple[int, int, int]:
    """How much is known of what differs: the fewest guesses, the most variables, the most that may be left out."""
    guesses = sum(variable.default not in _NO_GUESS for variable in payload.variables.values())
    return (-guesses, len(payload.variables), sum(bool(step.when) for step in payload.steps))


async def same_task(session: AsyncSession, owner_id: str, sequence: MinedSequence) -> SameTask:
    """The mined candidates of a person that are this task, whatever its values."""
    query = select(CandidateRow).where(
        CandidateRow.owner_id == owner_id,
        CandidateRow.canonical.in_([sequence.canonical, *sequence.variants]),
        CandidateRow.deleted_at.is_(None),
    )
    rows = list(await session.scalars(query.order_by(CandidateRow.created_at.desc(), CandidateRow.id.desc())))
    ids = [row.id for row in rows]
    released = await session.scalars(select(ReleaseRow.candidate_id).where(ReleaseRow.candidate_id.in_(ids)))
    return SameTask(candidates=tuple(value_of(Candidate, row) for row in rows), released=frozenset(released))


async def free_key(session: AsyncSession, owner_id: str, wanted: str) -> str:
    """The key that a new task gets: the wanted one, with a number where another task has it."""
    query = select(CandidateRow.skill_key).where(
        CandidateRow.owner_id == owner_id, CandidateRow.skill_key.startswith(wanted, autoescape=True)
    )
    taken = set(await session.scalars(query.distinct()))
    return next(key for key in _numbered(wanted, len(taken)) if key not in taken)


def _numbered(key: str, most: int) -> Sequence[str]:
    return [key, *(f"{key}-{number}" for number in range(2, most + 3))]
