"""Learning: everything that is done with feedback and what comes of it, in one place."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.config.sections import Learning
from skillyard.db.database import Database
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.identity.turns import Turns
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.learning.commits import Commits
from skillyard.learning.committing import Committing, Pupil
from skillyard.learning.decisions import Decisions
from skillyard.learning.drafts import Applier, Effect
from skillyard.learning.intake import FEEDBACK, Intake
from skillyard.learning.kept_texts import kept
from skillyard.learning.knowledge import Knowledge, SkillShelf
from skillyard.learning.lessons import Lesson, Lessons
from skillyard.learning.memories import Memories
from skillyard.learning.models import FeedbackRow
from skillyard.learning.pipeline import Deciders, LearningWork, wake_waiting
from skillyard.learning.places import Place, place_named, require_at
from skillyard.learning.proposal_diffs import ProposalDiffs
from skillyard.learning.react_tools import Desk
from skillyard.learning.recall import Recall
from skillyard.learning.rules.drafting import RuleDrafting
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.shown_lessons import ShownLessons
from skillyard.learning.skill_wish import SkillCommitter
from skillyard.learning.sources.service import FeedbackSources
from skillyard.learning.states import LessonState
from skillyard.learning.taking import Taking
from skillyard.llm.budget import Budget
from skillyard.llm.models import ModelSource
from skillyard.llm.transcripts import Transcript
from skillyard.registry.service import Registry


@dataclass(frozen=True, kw_only=True)
class SkillParts:
    """How learning reads and changes skills."""

    shelf: SkillShelf
    applier: Applier


class LearningRooms:
    """One object per job, sharing one store."""

    def __init__(  # noqa: PLR0913 -- one parameter for each room that learning needs
        self,
        database: Database,
        blobs: Blobs,
        history: History,
        registry: Registry,
        jobs: Jobs,
        turns: Turns,
        models: ModelSource,
        policy: Learning,
        skills: SkillParts,
        *,
        clock: Clock = utc_now,
    ) -> None:
        agents = registry.agents
        self.database = database
        self.models = models
        self.policy = policy
        self.intake = Intake(database, jobs, agents, has_model=lambda: models.configured, clock=clock)
        self.lessons = Lessons(database, blobs, clock=clock)
        self.shown = ShownLessons(database, self.lessons)
        self.memories = Memories(database, history, clock=clock)
        self.recall = Recall(database, self.memories, clock=clock)
        self.turns = turns
        self.rules = Rulebook(database, history, self.turns, clock=clock)
        self.drafting = RuleDrafting(database, self.turns)
        self.commits = Commits(database, history, [self.memories, self.rules, skills.applier], policy, clock=clock)
        self.decisions = Decisions(database, history, self.commits, policy, clock=clock)
        self.diffs = ProposalDiffs(self.memories, self.rules, registry)
        self.committing = Committing(self.commits, self.lessons)
        self.knowledge = Knowledge(self.memories, self.recall, self.rules, skills.shelf)
        self.sources = FeedbackSources(database, history, self.intake, clock=clock)
        self.taking = Taking(database, agents, self.lessons, self.committing, jobs, self._own_desk, clock=clock)
        self._chronicle = registry.chronicle
        self._agents = agents
        self._jobs = jobs
        self._clock = clock
        self._skills: SkillCommitter | None = None

    def begin(self, skills: SkillCommitter) -> None:
        """Let jobs learn, with whoever makes skills."""
        self._skills = skills
        deciders = Deciders(models=self.models, desk=self.desk, policy=self.policy)
        work = LearningWork(self.database, self._agents, self.lessons, self.committing, deciders, clock=self._clock)
        self._jobs.register(FEEDBACK, work)

    def desk(self, pupil: Pupil, budget: Budget, transcript: Transcript, *, judges: bool = True) -> Desk:
        """The tools with which a lesson is decided; without `judges`, whoever holds them judges relations."""
        assert self._skills is not None  # noqa: S101 -- nothing is decided before it has begun
        return Desk(
            pupil=pupil,
            knowledge=self.knowledge,
            memories=self.memories,
            rules=self.drafting,
            skills=self._skills,
            committing=self.committing,
            model=self.models.chat if judges else None,
            budget=budget,
            transcript=transcript,
        )

    async def place(self, principal: Principal, namespace: str | None, *, private: bool = False) -> Place:
        """Where something new of a principal goes."""
        principal.require_scope(Scope.WRITE)
        async with self.database.read() as session:
            return await place_named(session, principal, namespace, private=private)

    async def work(self, principal: Principal) -> int:
        """Have begun with what nobody works on, of one tenant; how much that is."""
        principal.require_scope(Scope.WRITE)
        if self.models.configured:
            await wake_waiting(self.database, self._jobs)
        row = FeedbackRow
        states = [JobState.QUEUED.value, JobState.RUNNING.value]
        query = select(row.id).where(row.tenant_id == principal.tenant_id, row.state.in_(states))
        async with self.database.read() as session:
            ids = list(await session.scalars(query.order_by(row.created_at, row.id)))
        for each in ids:
            self._jobs.wake(FEEDBACK, each)
        return len(ids)

    async def approve(self, principal: Principal, proposal_id: str, *, why: Why) -> Sequence[Effect]:
        """Make a proposed change, and let its lesson know."""
        return await self.decisions.approve(principal, proposal_id, why=why)

    async def reject(self, principal: Principal, proposal_id: str, *, why: Why) -> None:
        """Turn a proposed change down, and let its lesson know."""
        await self.decisions.reject(principal, proposal_id, why=why)

    async def undo(self, principal: Principal, lesson_id: str, *, why: Why) -> Lesson:
        """Take back all that a lesson changed, the last change first. Done again it changes nothing."""
        principal.require_scope(Scope.PUBLISH)
        lesson = await self.lessons.get(principal, lesson_id)
        feedback = await self.intake.get(principal, lesson.feedback_id)
        require_at(principal, feedback.place, Role.EDITOR, Scope.PUBLISH)
        if lesson.state is LessonState.UNDONE:
            return lesson
        if lesson.state is not LessonState.COMMITTED:
            raise ConflictError(
                f"The lesson {lesson_id} is {lesson.state.value}: it has changed nothing that could be taken back.",
                hint=f"Look at it: skillyard learn show {lesson.feedback_id}",
                details={"lesson": lesson_id, "state": lesson.state.value},
            )
        for effect in reversed(lesson.effects):
            if effect.history is not None:
                entry = await self._chronicle.entry(principal, effect.history)
                if entry.undone_by is None:
                    await self._chronicle.undo(principal, effect.history, why=why)
        await self.lessons.conclude(lesson_id, LessonState.UNDONE, reason=why.reason)
        return await self.lessons.get(principal, lesson_id)

    def _own_desk(self, pupil: Pupil) -> Desk:
        """The tools in the hands of a connected agent, which has a budget of its own."""
        return self.desk(pupil, Budget(), Transcript(mask=kept), judges=False)
