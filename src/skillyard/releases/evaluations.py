"""Verdicts on candidates: from elsewhere, or of replays, which jobs carry out."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.history.entries import Actor, Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Scope
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.releases.benchmarks import Benchmarks
from skillyard.releases.candidate_spec import clean_text
from skillyard.releases.decisions.evaluation import Judgement
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.health_store import speaking_for, tally_of
from skillyard.releases.ids import new_id
from skillyard.releases.models import CandidateRow, EvaluationRow, ReleaseRow
from skillyard.releases.payload_store import PayloadStore, unsupported
from skillyard.releases.promotion import why_unproven
from skillyard.releases.secret_desk import SecretDesk
from skillyard.releases.store import active_releases, is_released, own_candidate, own_evaluation
from skillyard.releases.values import (
    Evaluation,
    EvaluationKind,
    Stage,
    Status,
    candidate_subject,
    columns_of,
    value_of,
)

EVALUATED: Final = "candidate.evaluated"
EVALUATION: Final = "evaluation"
"""The kind of its jobs."""
_YARD: Final = "skillyard"
_ELSEWHERE: Final = "A verdict from elsewhere is no replay."


class Evaluations:
    """What is known of how good candidates are."""

    def __init__(
        self,
        database: Database,
        history: History,
        payloads: PayloadStore,
        benchmarks: Benchmarks,
        jobs: Jobs,
        desk: SecretDesk,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._history = history
        self._payloads = payloads
        self._benchmarks = benchmarks
        self._jobs = jobs
        self._desk = desk
        self._clock = clock

    async def evaluate(
        self,
        caller: Principal,
        candidate_id: str,
        *,
        passed: bool,
        score: float | None = None,
        benchmark_id: str | None = None,
        report: str | None = None,
    ) -> Evaluation:
        """Take a verdict from elsewhere. It permits a release, and is marked as what it is."""
        caller.require_scope(Scope.WRITE)
        now = self._clock()
        async with self._database.write() as transaction:
            candidate = await own_candidate(transaction.session, caller, candidate_id)
            evaluation = Evaluation(
                id=new_id("se"),
                candidate_id=candidate.id,
                owner_id=candidate.owner_id,
                kind=EvaluationKind.EXTERNAL.value,
                state=JobState.DONE.value,
                benchmark_id=clean_text(benchmark_id),
                digest=candidate.digest,
                score=score,
                passed=passed,
                verdict="pass" if passed else "fail",
                report=clean_text(report),
                evaluated_by=caller.person_id,
                created_at=now,
                finished_at=now,
            )
            transaction.session.add(EvaluationRow(**columns_of(evaluation)))
            await self._settle(transaction, caller.actor, candidate, evaluation)
        return evaluation

    async def begin(self, caller: Principal, candidate_id: str, wish: ReplayWish | None = None) -> Evaluation:
        """Ask for replays; a job carries them out. The values of secrets are handed to it, and written nowhere."""
        caller.require_scope(Scope.WRITE)
        wish = wish or ReplayWish()
        async with self._database.read() as session:
            candidate = await own_candidate(session, caller, candidate_id)
        if candidate.payload_ref is None:
            raise unsupported(None)
        payload = await self._payloads.payload(caller.person_id, candidate.payload_ref)
        kept = None if wish.benchmark is None else (await self._benchmarks.get(caller, wish.benchmark)).cases
        evaluation = Evaluation(
            id=new_id("se"),
            candidate_id=candidate.id,
            owner_id=candidate.owner_id,
            kind=EvaluationKind.REPLAY.value,
            state=JobState.QUEUED.value,
            benchmark_id=wish.benchmark,
            digest=candidate.digest,
            wanted_runs=wish.runs,
            cases=wish.cases(payload, kept),
            seconds=wish.seconds,
            evaluated_by=caller.person_id,
            created_at=self._clock(),
        )
        secrets = wish.hidden(payload)
        if not secrets:
            await self._queue(caller, evaluation)
            self._jobs.wake(EVALUATION, evaluation.id)
            return evaluation
        async with self._jobs.kept_here(EVALUATION, evaluation.id):
            self._desk.leave(evaluation.id, {name: str(value) for name, value in secrets.items()})
            await self._queue(caller, evaluation)
        return evaluation

    async def all(self, caller: Principal, candidate_id: str) -> list[Evaluation]:
        """The evaluations of a candidate, the newest first."""
        async with self._database.read() as session:
            await own_candidate(session, caller, candidate_id)
            query = select(EvaluationRow).where(EvaluationRow.candidate_id == candidate_id)
            rows = await session.scalars(query.order_by(EvaluationRow.created_at.desc(), EvaluationRow.id.desc()))
            return [value_of(Evaluation, row) for row in rows]

    async def get(self, caller: Principal, evaluation_id: str) -> Evaluation:
        async with self._database.read() as session:
            return value_of(Evaluation, await own_evaluation(session, caller, evaluation_id))

    async def baseline(self, evaluation: Evaluation | EvaluationRow) -> tuple[int, int] | None:
        """How often the release that would be replaced passed, of how many runs; None where there is none."""
        if evaluation.compared_with is None:
            return None
        async with self._database.read() as session:
            release = await session.get_one(ReleaseRow, evaluation.compared_with)
            tally = await tally_of(session, await speaking_for(session, release))
        return tally.passes, tally.runs

    async def conclude(
        self,
        transaction: Transaction,
        evaluation: EvaluationRow,
        judgement: Judgement,
        *,
        unproven: Mapping[str, int] | None = None,
    ) -> None:
        """Let what came of replays count; the job ends with the same transaction.

        `unproven` are the variables of which replays prove nothing, with the steps that show their values.
        """
        evaluation.passed = judgement.passed
        evaluation.score = judgement.score
        evaluation.verdict = judgement.verdict.value
        evaluation.report = judgement.reason
        candidate = await transaction.session.get_one(CandidateRow, evaluation.candidate_id)
        await self._settle(transaction, _yard(candidate), candidate, evaluation, unproven=unproven or {})

    async def give_up(self, transaction: Transaction, evaluation_id: str, reason: str) -> None:
        """Leave a candidate as it was before an evaluation that could not be done."""
        evaluation = await transaction.session.get_one(EvaluationRow, evaluation_id)
        evaluation.report = clean_text(reason)
        candidate = await transaction.session.get_one(CandidateRow, evaluation.candidate_id)
        candidate.status = _standing(candidate, released=await is_released(transaction.session, candidate.id)).value
        candidate.updated_at = self._clock()

    async def _queue(self, caller: Principal, evaluation: Evaluation) -> None:
        async with self._database.write() as transaction:
            transaction.once = True
            candidate = await own_candidate(transaction.session, caller, evaluation.candidate_id)
            row = EvaluationRow(**columns_of(evaluation))
            row.compared_with = await _replaced(transaction.session, candidate)
            transaction.session.add(row)
            if not await is_released(transaction.session, candidate.id):
                candidate.status = Status.EVALUATING.value
            candidate.updated_at = self._clock()

    async def _settle(
        self,
        transaction: Transaction,
        actor: Actor,
        candidate: CandidateRow,
        evaluation: Evaluation | EvaluationRow,
        *,
        unproven: Mapping[str, int] | None = None,
    ) -> None:
        """Apply a verdict to its candidate; an inconclusive one changes nothing."""
        before = candidate.status
        candidate.updated_at = self._clock()
        if evaluation.passed is not None:
            candidate.latest_score = evaluation.score
            candidate.latest_pass = evaluation.passed
            candidate.last_evaluated_at = candidate.updated_at
            replayed = evaluation.kind == EvaluationKind.REPLAY
            candidate.auto_release_eligible = replayed and evaluation.passed and not unproven
            candidate.auto_release_reason = evaluation.report if replayed else _ELSEWHERE
            if evaluation.passed and unproven:
                candidate.auto_release_reason = why_unproven(unproven)
        candidate.status = _standing(candidate, released=await is_released(transaction.session, candidate.id)).value
        change = Change(
            action=EVALUATED,
            subject=candidate_subject(candidate.id, candidate.skill_key, candidate.owner_id),
            before={"status": before},
            after={
                "status": candidate.status,
                "evaluation_id": evaluation.id,
                "kind": evaluation.kind,
                "verdict": evaluation.verdict,
                "score": evaluation.score,
            },
            digest_after=evaluation.digest,
        )
        self._history.record(transaction, actor, change, Why())


def _standing(candidate: CandidateRow, *, released: bool) -> Status:
    """How a candidate stands by what is known of it."""
    back, evaluated = candidate.rolled_back_at, candidate.last_evaluated_at
    if candidate.latest_pass is False:
        return Status.REJECTED
    if released:
        return Status.PROMOTED
    if back is not None and (evaluated is None or evaluated <= back):
        return Status.ROLLED_BACK
    return Status.EVALUATING if candidate.latest_pass else Status.DRAFT


async def _replaced(session: AsyncSession, candidate: CandidateRow) -> str | None:
    """The release whose place a candidate would take."""
    rows = await active_releases(session, candidate.owner_id, candidate.skill_key)
    others = [row for row in rows if row.candidate_id != candidate.id]
    return next((row.id for row in sorted(others, key=lambda row: row.stage != Stage.STABLE)), None)


def _yard(candidate: CandidateRow) -> Actor:
    return Actor(tenant_id=candidate.tenant_id, name=_YARD)
