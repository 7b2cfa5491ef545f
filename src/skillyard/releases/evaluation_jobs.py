"""Evaluations carried out: replays one after the other, each kept once, and then the verdict."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import InputError, NotFoundError, QuotaError, UnavailableError
from skillyard.identity.owners import owner_of
from skillyard.jobs.rows import JobRow
from skillyard.jobs.work import Job
from skillyard.releases.decisions.evaluation import judge
from skillyard.releases.evaluations import Evaluations
from skillyard.releases.ids import run_id
from skillyard.releases.models import CandidateRow, EvaluationRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.payload_checks import parse_checks
from skillyard.releases.payload_store import PayloadStore, unsupported
from skillyard.releases.payloads import Payload
from skillyard.releases.run_log import RunLog
from skillyard.releases.runs import SECONDS, Replays, hiding
from skillyard.releases.secret_desk import SecretDesk


class EvaluationWork:
    """The work behind `Evaluations.begin`."""

    rows: type[JobRow] = EvaluationRow

    def __init__(
        self,
        database: Database,
        evaluations: Evaluations,
        payloads: PayloadStore,
        log: RunLog,
        replays: Replays,
        desk: SecretDesk,
    ) -> None:
        self._database = database
        self._evaluations = evaluations
        self._payloads = payloads
        self._log = log
        self._replays = replays
        self._desk = desk

    async def run(self, job: Job) -> None:
        async with self._database.read() as session:
            evaluation = await session.get_one(EvaluationRow, job.id)
            candidate = await session.get_one(CandidateRow, evaluation.candidate_id)
        if candidate.deleted_at is not None:
            raise NotFoundError("The candidate was deleted before it was evaluated.")
        if candidate.payload_ref is None:
            raise unsupported(None)
        payload = await self._payloads.payload(candidate.owner_id, candidate.payload_ref)
        wanted = evaluation.wanted_runs or 1
        verdicts = [
            await job.step(f"run-{number}", partial(self._replay, evaluation, payload, number))
            for number in range(wanted)
        ]
        passes = sum(verdict == Verdict.PASS for verdict in verdicts)
        judgement = judge(passes, wanted, baseline=await self._evaluations.baseline(evaluation))
        async with self._database.write(bookkeeping=True) as transaction:
            await job.finish(transaction)
            row = await transaction.session.get_one(EvaluationRow, job.id)
            await self._evaluations.conclude(transaction, row, judgement, unproven=payload.unproven)
        self._desk.clear(job.id)

    async def give_up(self, transaction: Transaction, job_id: str, reason: str) -> None:
        await self._evaluations.give_up(transaction, job_id, reason)
        self._desk.clear(job_id)

    async def _replay(self, evaluation: EvaluationRow, payload: Payload, number: int) -> str:
        """The verdict of one replay, which may be kept already."""
        async with self._database.read() as session:
            run = await session.get(SkillRunRow, run_id(evaluation.id, number))
            owner = await owner_of(session, evaluation.owner_id)
        if run is not None:
            return run.verdict
        case = evaluation.cases[number % len(evaluation.cases)] if evaluation.cases else {}
        given, payload = self._given(evaluation.id, case, payload)
        try:
            replay = await self._replays.replay(owner, payload, given, seconds=evaluation.seconds or SECONDS)
        except QuotaError as error:  # a sandbox may be free later
            raise UnavailableError(error.message, hint=error.hint) from error
        await self._log.keep(
            owner_id=evaluation.owner_id,
            candidate_id=evaluation.candidate_id,
            evaluation_id=evaluation.id,
            number=number,
            payload=payload,
            variables=given,
            replay=replay,
        )
        return replay.verdict.value

    def _given(self, job_id: str, case: Mapping[str, Any], payload: Payload) -> tuple[dict[str, Any], Payload]:
        """The values of one replay, and the payload with what else is to hold."""
        hidden = self._desk.look(job_id)
        lost = [name for name in case.get("secrets", ()) if name not in hidden]
        if lost:
            raise InputError(
                f"The values of secrets ({', '.join(lost)}) are written nowhere, and the process that had them ended.",
                hint="Ask for the replays again.",
            )
        checks = parse_checks(case.get("checks") or None, "checks")
        payload = replace(hiding(payload, hidden), postconditions=(*payload.postconditions, *checks))
        return {**case.get("variables", {}), **hidden}, payload
