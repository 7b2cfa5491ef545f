"""Taking feedback in: durable before it is acknowledged, and the same only once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.paging import total_of
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import ConflictError, LimitError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields, Agents, agent_with_id
from skillyard.identity.principals import Principal, Scope
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.learning.feedback import Feedback, FeedbackSpec, feedback_of
from skillyard.learning.ids import new_id
from skillyard.learning.kept_texts import kept, kept_json
from skillyard.learning.models import FeedbackRow, LessonRow
from skillyard.learning.states import LessonState, Stage
from skillyard.redact import redact, storable

FEEDBACK: Final = "feedback"
"""The kind of the jobs."""
MAX_AT_ONCE: Final = 1_000
MAX_PAGE: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    feedback: Feedback
    created: bool
    """False: it had come before."""


class Intake:
    """Feedback of a tenant: taken in, told, and sent round again."""

    def __init__(self, database: Database, jobs: Jobs, agents: Agents, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._jobs = jobs
        self._agents = agents
        self._clock = clock

    async def take(self, principal: Principal, specs: Sequence[FeedbackSpec], *, source: str = "api") -> list[Taken]:
        """Take some in, all or none. Agents that it describes and nobody knows are made, where the caller may."""
        principal.require_scope(Scope.WRITE)
        if len(specs) > MAX_AT_ONCE:
            raise LimitError(
                f"{len(specs):,} pieces of feedback are too many at once; at most {MAX_AT_ONCE:,} are taken.",
                hint="Send them in several requests.",
                details={"field": "items", "value": len(specs), "limit": MAX_AT_ONCE},
            )
        async with self._database.write() as transaction:
            taken = [await self._take(transaction, principal, spec, source) for spec in specs]
            transaction.once = True
        for each in taken:
            if each.created:
                self._jobs.wake(FEEDBACK, each.feedback.id)
        return taken

    async def page(
        self, principal: Principal, *, stage: Stage | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[Feedback], int]:
        """Feedback, the newest first, and how much there is."""
        principal.require_scope(Scope.READ)
        query = _of(principal)
        if stage is not None:
            query = query.where(FeedbackRow.stage == stage.value)
        newest = query.order_by(FeedbackRow.created_at.desc(), FeedbackRow.id)
        limit = min(limit, MAX_PAGE)
        async with self._database.read() as session:
            found = [feedback_of(row) for row in await session.scalars(newest.limit(limit).offset(offset))]
            return found, await total_of(session, query, shown=len(found), limit=limit, offset=offset)

    async def counts(self, principal: Principal) -> dict[str, int]:
        """How much stands where."""
        principal.require_scope(Scope.READ)
        query = _of(principal).with_only_columns(FeedbackRow.stage, func.count()).group_by(FeedbackRow.stage)
        async with self._database.read() as session:
            return dict((await session.execute(query)).all())

    async def get(self, principal: Principal, feedback_id: str) -> Feedback:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return feedback_of(await feedback_row(session, principal.tenant_id, feedback_id))

    async def retry(self, principal: Principal, feedback_id: str) -> Feedback:
        """Work on it again, from where it stopped."""
        principal.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            row = await feedback_row(transaction.session, principal.tenant_id, feedback_id)
            if row.stage not in {Stage.NEEDS_REVIEW, Stage.FAILED, Stage.NO_COMMIT, Stage.WAITING_FOR_MODEL}:
                raise ConflictError(
                    f"The feedback {feedback_id} is {row.stage}; there is nothing to try again.",
                    hint=f"Look at it: skillyard learn show {feedback_id}",
                    details={"feedback": feedback_id, "stage": row.stage},
                )
            row.state, row.stage, row.attempts, row.due_at = JobState.QUEUED.value, Stage.QUEUED.value, 0, None
            row.reason, row.error, row.finished_at = "", None, None
            stopped = [LessonState.NEEDS_REVIEW.value, LessonState.FAILED.value, LessonState.NO_COMMIT.value]
            lessons = update(LessonRow).where(LessonRow.feedback_id == feedback_id, LessonRow.state.in_(stopped))
            again = lessons.values(state=LessonState.DECIDING.value, reason="")
            await transaction.session.execute(again, execution_options=UNSEEN)
            transaction.once = True
            feedback = feedback_of(row)
        self._jobs.wake(FEEDBACK, feedback_id)
        return feedback

    async def _take(self, transaction: Transaction, principal: Principal, spec: FeedbackSpec, source: str) -> Taken:
        hashed = spec.content_hash
        event_id = storable(spec.event_id or "") or f"sha256:{hashed}"
        session = transaction.session
        present = await session.scalar(_of(principal).where(FeedbackRow.event_id == event_id))
        if present is not None:
            if present.content_hash != hashed:
                raise ConflictError(
                    f"Feedback with the event id {event_id!r} says something else.",
                    hint="Give each piece of feedback an id of its own; what was said is never changed.",
                    details={"field": "event_id", "value": event_id, "feedback": present.id},
                )
            return Taken(feedback=feedback_of(present), created=False)
        await self._make_agents(transaction, principal, spec)
        now = self._clock()
        row = FeedbackRow(
            id=new_id("fb"),
            tenant_id=principal.tenant_id,
            owner_id=principal.person_id,
            scope=principal.scope.value,
            event_id=event_id,
            content_hash=hashed,
            source=source,
            content=kept(spec.content),
            task=kept(spec.task),
            description=kept(spec.description),
            events=kept_json(spec.events),
            agents=_named(spec.agents),
            said_by=kept(spec.user) or principal.name,
            said_at=spec.time or now,
            state=JobState.QUEUED.value,
            attempts=0,
            stage=Stage.QUEUED.value,
            reason="",
            created_at=now,
        )
        session.add(row)
        await session.flush()
        return Taken(feedback=feedback_of(row), created=True)

    async def _make_agents(self, transaction: Transaction, principal: Principal, spec: FeedbackSpec) -> None:
        if not principal.admin:
            return
        for agent in _named(spec.agents):
            if await agent_with_id(transaction.session, principal.tenant_id, agent["id"]) is None:
                fields = AgentFields(
                    name=str(agent.get("name") or agent["id"]),
                    role=str(agent.get("role") or ""),
                    goal=str(agent.get("goal") or ""),
                )
                why = Why(reason="Feedback names this agent.")
                await self._agents.add(transaction, principal, agent["id"], fields, why)


async def feedback_row(session: AsyncSession, tenant_id: str, feedback_id: str) -> FeedbackRow:
    row = await session.get(FeedbackRow, feedback_id)
    if row is None or row.tenant_id != tenant_id:
        raise NotFoundError(
            f"There is no feedback {feedback_id[:64]!r}.",
            hint="List it: skillyard learn list",
            details={"feedback": feedback_id[:64]},
        )
    return row


def _of(principal: Principal) -> Select[Any]:
    return select(FeedbackRow).where(FeedbackRow.tenant_id == principal.tenant_id)


def _named(agents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Agents as they are described, under the ids that they have: one may look like a key."""
    return [{**kept_json(agent), "id": redact(storable(agent["id"]))} for agent in agents]
