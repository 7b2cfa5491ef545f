"""Skills of the registry that are tried by some before they are for all: what learning makes of feedback, if so set."""

import hashlib
from dataclasses import dataclass
from itertools import count
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import namespace_named, namespace_with_id
from skillyard.jobs.rows import JobState
from skillyard.registry.skills import Skill, Version
from skillyard.registry.store import latest_of, version_taken, versions_of
from skillyard.releases.candidate_spec import clean_text
from skillyard.releases.ids import new_id
from skillyard.releases.models import CandidateRow, EvaluationRow, ReleaseRow
from skillyard.releases.promotion import Promotion
from skillyard.releases.release_ledger import ReleaseLedger
from skillyard.releases.releases import Releases
from skillyard.releases.rendered import LEARNED
from skillyard.releases.store import active_releases, releases_of_skills
from skillyard.releases.values import (
    PROMOTED,
    Candidate,
    Evaluation,
    EvaluationKind,
    Release,
    ReleaseMode,
    ReleaseState,
    Stage,
    Status,
    columns_of,
    value_of,
)
from skillyard.skill.versions import Version as Number

_FIRST: Final = Number.parse("0.1.0")
_DOCUMENT: Final = "document"
"""The type of a candidate that is read, and not replayed."""
_BEFORE: Final = "It was in use before."


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A version that is to be tried, and what led to it."""

    skill: Skill
    version: Version
    key: str | None
    """What has one trial, however often it is begun: a lesson, or a proposal; None for a change by hand."""
    summary: str
    report: str
    """What speaks for it before anyone has used it."""
    feedback: str = ""
    proven: bool = False
    """Whether what speaks for it is enough for all to be given it: its evals held."""


class SkillCanaries:
    """Puts versions of skills on the way that releases go: to some, watched, then to all or back."""

    def __init__(
        self, database: Database, ledger: ReleaseLedger, releases: Releases, *, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._releases = releases
        self._clock = clock

    async def number(self, caller: Principal, skill: Skill | None, name: str, wanted: str | None) -> str | None:
        """The number to try a version under: a prerelease, which nobody is given who does not take part.

        None where the namespace has its versions reviewed, people decide on each of them anyway, and for what was
        made of executions, which has releases of its own.
        """
        async with self._database.read() as session:
            if skill is None:
                namespace = await namespace_named(session, caller.tenant_id, caller.name)
            else:
                namespace = await namespace_with_id(session, skill.namespace_id)
            made = skill is not None and skill.metadata.get("source") == LEARNED
            if namespace is None or namespace.policy.review or made:
                return None
            present = (await versions_of(session, [skill.id]))[skill.id] if skill else []
            newest = max((Number.parse(one.version) for one in present), default=None)
            base = Number.parse(wanted) if wanted else newest.bump("patch") if newest else _FIRST
            for each in count(1):
                number = f"{base}-{Stage.CANARY.value}.{each}"
                if await version_taken(session, namespace.id, name, number) is None:
                    return number
        return None

    async def begin(self, caller: Principal, trial: Trial) -> Release:
        """Let some use a version that was published as a prerelease; all, if it is proven. With the same key it happens
        once.
        """
        caller.require_scope(Scope.PUBLISH)
        candidate_id = _candidate_id(trial)
        async with self._database.write() as transaction:
            session = transaction.session
            candidate = await session.get(CandidateRow, candidate_id)
            if candidate is None:
                owner_id = await self._keep_stable(transaction, caller, trial.skill)
                self._add(transaction, caller, owner_id, trial, candidate_id)
            elif candidate.promotion_release_id is not None:
                return value_of(Release, await session.get_one(ReleaseRow, candidate.promotion_release_id))
        promotion = Promotion(
            stage=Stage.STABLE if trial.proven else Stage.CANARY,
            change_summary=trial.summary,
            mode=ReleaseMode.AUTO,
            feedback=trial.feedback,
        )
        return await self._releases.promote(caller, candidate_id, promotion)

    async def _keep_stable(self, transaction: Transaction, caller: Principal, skill: Skill) -> str:
        """Have what everyone is given now be a stable release, and answer whose the releases of the skill are."""
        session = transaction.session
        active = await releases_of_skills(session, [skill.id])
        owner_id = active[0].owner_id if active else caller.person_id
        for row in await active_releases(session, owner_id, skill.full_name):
            if row.skill_id != skill.id:
                self._ledger.end(row, ReleaseState.RETIRED, "Another skill has its name now.")
        latest = latest_of((await versions_of(session, [skill.id]))[skill.id])
        if latest is None or Number.parse(latest.version).is_prerelease:
            return owner_id
        stable = next((row for row in active if row.stage == Stage.STABLE), None)
        if stable is not None and stable.digest == latest.digest:
            return owner_id
        candidate = CandidateRow(
            **columns_of(
                self._candidate(caller, owner_id, skill, latest.digest, new_id("sc"), summary=latest.notes or None)
            )
        )
        session.add(candidate)
        await session.flush()
        row = await self._ledger.add(
            transaction, caller, candidate, Stage.STABLE, ReleaseMode.AUTO, external=True, upgrade_reason=_BEFORE
        )
        if stable is not None:
            self._ledger.end(stable, ReleaseState.SUPERSEDED, f"{latest.version} was published.")
        await self._ledger.record(transaction, caller, PROMOTED, row, Why(reason=_BEFORE), ReleaseMode.AUTO)
        return owner_id

    def _add(self, transaction: Transaction, caller: Principal, owner_id: str, trial: Trial, candidate_id: str) -> None:
        candidate = self._candidate(
            caller, owner_id, trial.skill, trial.version.digest, candidate_id, summary=clean_text(trial.summary)
        )
        now = self._clock()
        evaluation = Evaluation(
            id=new_id("se"),
            candidate_id=candidate_id,
            owner_id=owner_id,
            kind=EvaluationKind.EXTERNAL.value,
            state=JobState.DONE.value,
            digest=candidate.digest,
            passed=True,
            verdict="pass",
            report=clean_text(trial.report),
            evaluated_by=caller.person_id,
            created_at=now,
            finished_at=now,
        )
        transaction.session.add_all([CandidateRow(**columns_of(candidate)), EvaluationRow(**columns_of(evaluation))])

    def _candidate(
        self, caller: Principal, owner_id: str, skill: Skill, digest: str, candidate_id: str, *, summary: str | None
    ) -> Candidate:
        now = self._clock()
        return Candidate(
            id=candidate_id,
            tenant_id=skill.tenant_id,
            owner_id=owner_id,
            skill_key=skill.full_name,
            skill_id=skill.id,
            skill_type=_DOCUMENT,
            source_execution_ids=[],
            summary=summary,
            name=skill.name,
            digest=digest,
            status=Status.EVALUATING.value,
            latest_pass=True,
            last_evaluated_at=now,
            created_by=caller.person_id,
            created_at=now,
            updated_at=now,
        )


def _candidate_id(trial: Trial) -> str:
    if trial.key is None:
        return new_id("sc")
    return f"sc-{hashlib.sha256(f'{trial.key}:{trial.version.digest}'.encode()).hexdigest()[:12]}"
