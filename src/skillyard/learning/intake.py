"""Taking feedback in: durable before it is acknowledged, and the same only once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.paging import total_of
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, LimitError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields, Agents, agent_with_id
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.learning.feedback import Feedback, FeedbackSpec, feedback_of
from skillyard.learning.ids import new_id
from skillyard.learning.kept_texts import kept, kept_json
from skillyard.learning.lessons import begin_again
from skillyard.learning.models import FeedbackRow, LessonRow
from skillyard.learning.places import Place, is_visible, place_named, place_of, require_at, role_at, visible
from skillyard.learning.states import LessonState, Stage
from skillyard.redact import redact, storable

FEEDBACK: Final = "feedback"
"""The kind of the jobs."""
WAITING: Final = "waiting"
"""The state of a job that no runner takes up, because there is no model yet."""
NO_MODEL: Final = "No model is set; it is worked on when there is one, or when a connected agent takes it."
MAX_AT_ONCE: Final = 1_000
MAX_PAGE: Final = 200
_STOPPED: Final = frozenset({LessonState.NEEDS_REVIEW, LessonState.FAILED, LessonState.NO_COMMIT})
_UNDER_WAY: Final = frozenset({Stage.QUEUED, Stage.MATCHING, Stage.DECIDING})
_RETRIED: Final = frozenset({Stage.NEEDS_REVIEW, Stage.FAILED, Stage.NO_COMMIT, Stage.WAITING_FOR_MODEL})


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    feedback: Feedback
    created: bool
    """False: it had come before."""
    again: bool = False
    """Its effects were undone, and it is learned again."""


class Intake:
    """Feedback of a tenant: taken in, told, and sent round again."""

    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        agents: Agents,
        *,
        has_model: Callable[[], bool],
        clock: Clock = utc_now,
    ) -> None:
        """Without a model to learn from it, feedback waits at once."""
        self._database = database
        self._jobs = jobs
        self._agents = agents
        self._has_model = has_model
        self._clock = clock

    async def take(
        self,
        principal: Principal,
        specs: Sequence[FeedbackSpec],
        *,
        source: str = "api",
        by_hand: bool = False,
        place: Place | None = None,
    ) -> list[Taken]:
        """Take some in, all or none. Agents that it describes and nobody knows are made, where the caller may.

        The same words given again `by_hand` are learned again if their effects were undone, for callers who may undo;
        words that come again with an id, from a file or from a source do nothing.
        Each goes into the namespace that it names, else into `place` or the caller's own.
        """
        principal.require_scope(Scope.WRITE)
        if len(specs) > MAX_AT_ONCE:
            raise LimitError(
                f"{len(specs):,} pieces of feedback are too many at once; at most {MAX_AT_ONCE:,} are taken.",
                hint="Send them in several requests.",
                details={"field": "items", "value": len(specs), "limit": MAX_AT_ONCE},
            )
        async with self._database.write() as transaction:
            taken = [
                await self._take(transaction, principal, spec, source, by_hand=by_hand, place=place) for spec in specs
            ]
            transaction.once = True
        for each in taken:
            if each.created or each.again:
                self._wake(each.feedback)
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
            found = [
                feedback_of(row).seen_by(principal.person_id)
                for row in await session.scalars(newest.limit(limit).offset(offset))
            ]
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
            return feedback_of(await feedback_row(session, principal, feedback_id)).seen_by(principal.person_id)

    async def retry(self, principal: Principal, feedback_id: str) -> Feedback:
        """Work on it again, from where it stopped. To learn again what was undone takes the right to undo it."""
        principal.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            row = await feedback_row(transaction.session, principal, feedback_id)
            require_at(principal, place_of(row), Role.EDITOR, Scope.WRITE)
            lessons = await _lessons_of(transaction, row)
            if row.stage not in _UNDER_WAY and any(each.state == LessonState.UNDONE for each in lessons):
                principal.require_scope(Scope.PUBLISH)
            elif row.stage not in _RETRIED:
                raise ConflictError(
                    f"The feedback {feedback_id} is {row.stage}; there is nothing to try again.",
                    hint=f"Look at it: skillyard learn show {feedback_id}",
                    details={"feedback": feedback_id, "stage": row.stage},
                )
            await self._begin_again(transaction, row, lessons)
            transaction.once = True
            feedback = feedback_of(row)
        self._wake(feedback)
        return feedback

    def _wake(self, feedback: Feedback) -> None:
        if feedback.stage is Stage.QUEUED:
            self._jobs.wake(FEEDBACK, feedback.id)

    def _start(self) -> Mapping[str, str]:
        """The first state of feedback that is to be learned from."""
        if self._has_model():
            return {"state": JobState.QUEUED.value, "stage": Stage.QUEUED.value, "reason": ""}
        return {"state": WAITING, "stage": Stage.WAITING_FOR_MODEL.value, "reason": NO_MODEL}

    async def _begin_again(self, transaction: Transaction, row: FeedbackRow, lessons: Sequence[LessonRow]) -> None:
        for column, value in self._start().items():
            setattr(row, column, value)
        row.attempts, row.due_at, row.error, row.finished_at = 0, None, None, None
        for lesson in lessons:
            if lesson.state in {*_STOPPED, LessonState.UNDONE}:
                begin_again(lesson, now=self._clock())
        await transaction.session.flush()

    async def _take(
        self,
        transaction: Transaction,
        principal: Principal,
        spec: FeedbackSpec,
        source: str,
        *,
        by_hand: bool,
        place: Place | None,
    ) -> Taken:
        hashed = spec.content_hash
        event_id = storable(spec.event_id or "") or f"sha256:{hashed}"
        session = transaction.session
        same = select(FeedbackRow).where(FeedbackRow.tenant_id == principal.tenant_id, FeedbackRow.event_id == event_id)
        present = await session.scalar(same)
        if present is not None:
            if not is_visible(principal, present):
                raise ConflictError(
                    f"Feedback with the event id {event_id!r} already exists, and you may not see it.",
                    hint="Give it an event id of its own.",
                    details={"field": "event_id", "value": event_id},
                )
            if present.content_hash != hashed:
                raise ConflictError(
                    f"Feedback with the event id {event_id!r} says something else.",
                    hint="Give each piece of feedback an id of its own; what was said is never changed.",
                    details={"field": "event_id", "value": event_id, "feedback": present.id},
                )
            may_repeat = by_hand and spec.event_id is None and principal.scope.covers(Scope.PUBLISH)
            may_repeat = may_repeat and role_at(principal, place_of(present)).covers(Role.EDITOR)
            again = may_repeat and present.stage == Stage.UNDONE
            if again:
                await self._begin_again(transaction, present, await _lessons_of(transaction, present))
            return Taken(feedback=feedback_of(present).seen_by(principal.person_id), created=False, again=again)
        if place is None or spec.namespace or spec.private:
            place = await place_named(session, principal, spec.namespace, private=spec.private)
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
            attempts=0,
            created_at=now,
            **place.columns,
            **self._start(),
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


async def feedback_row(session: AsyncSession, principal: Principal, feedback_id: str) -> FeedbackRow:
    row = await session.get(FeedbackRow, feedback_id)
    if row is None or not is_visible(principal, row):
        raise NotFoundError(
            f"There is no feedback {feedback_id[:64]!r}.",
            hint="List it: skillyard learn list",
            details={"feedback": feedback_id[:64]},
        )
    return row


async def _lessons_of(transaction: Transaction, row: FeedbackRow) -> Sequence[LessonRow]:
    return (await transaction.session.scalars(select(LessonRow).where(LessonRow.feedback_id == row.id))).all()


def _of(principal: Principal) -> Select[Any]:
    return select(FeedbackRow).where(visible(principal, FeedbackRow))


def _named(agents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Agents as they are described, under the ids that they have: one may look like a key."""
    return [{**kept_json(agent), "id": redact(storable(agent["id"]))} for agent in agents]
