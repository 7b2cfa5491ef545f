"""The parts of learning over a yard of each kind."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from skillyard.config.sections import Learning
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.turns import Turns
from skillyard.jobs.rows import JobState
from skillyard.learning.commits import Commits
from skillyard.learning.decisions import Decisions
from skillyard.learning.drafts import Author
from skillyard.learning.ids import new_id
from skillyard.learning.memories import Memories
from skillyard.learning.models import FeedbackRow, LessonRow
from skillyard.learning.recall import Recall
from skillyard.learning.rules.drafting import RuleDrafting
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.states import LessonState, Stage


@dataclass(frozen=True, kw_only=True)
class Learner:
    """What learning changes, and those who change it."""

    world: object
    memories: Memories
    recall: Recall
    rules: Rulebook
    drafting: RuleDrafting
    commits: Callable[..., Commits]
    decisions: Callable[..., Decisions]
    boss: Principal
    publisher: Principal
    foreigner: Principal

    def author(self, principal: Principal | None = None, *, lesson: str | None = None) -> Author:
        return Author(principal=principal or self.boss, lesson_id=lesson, why=Why(reason="a test asked for it"))

    async def lesson(self) -> str:
        """A lesson that somebody is to learn, as its id."""
        now = datetime(2026, 1, 1, tzinfo=UTC)
        feedback_id, lesson_id = new_id("fb"), new_id("les")
        yard = self.world.yard  # pyright: ignore[reportAttributeAccessIssue]
        said = FeedbackRow(
            id=feedback_id,
            owner_id=self.boss.person_id,
            scope=self.boss.scope.value,
            event_id=feedback_id,
            content_hash="",
            source="api",
            content="Say please.",
            task="",
            description="",
            events=[],
            agents=[],
            said_by="",
            said_at=now,
            state=JobState.RUNNING,
            stage=Stage.DECIDING,
            reason="",
            tenant_id=self.boss.tenant_id,
            created_at=now,
        )
        lesson = LessonRow(
            id=lesson_id,
            feedback_id=feedback_id,
            agent_id="a",
            meaning="",
            state=LessonState.DECIDING,
            effects=[],
            spent={},
            reason="",
            tenant_id=self.boss.tenant_id,
            created_at=now,
            updated_at=now,
        )
        async with yard.database.write() as transaction:
            transaction.session.add(said)
            await transaction.session.flush()
            transaction.session.add(lesson)
        return lesson_id

    async def undo(self, number: int | None) -> int:
        history = self.world.yard.history  # pyright: ignore[reportAttributeAccessIssue]
        entry = await history.entry(number)
        return await history.undo(self.boss.actor, entry, Why())


@pytest.fixture
async def learner(world) -> Learner:
    database, history = world.yard.database, world.yard.history
    turns = Turns()
    memories, rules = Memories(database, history), Rulebook(database, history, turns)

    def commits(**policy) -> Commits:
        return Commits(database, history, [memories, rules], Learning(**policy))

    def decisions(**policy) -> Decisions:
        return Decisions(database, history, commits(**policy), Learning(**policy))

    return Learner(
        world=world,
        memories=memories,
        recall=Recall(database, memories),
        rules=rules,
        drafting=RuleDrafting(database, turns),
        commits=commits,
        decisions=decisions,
        boss=world.boss,
        publisher=world.publisher,
        foreigner=world.foreigner,
    )


def without_publishing(principal: Principal) -> Principal:
    return replace(principal, scope=Scope.WRITE)
