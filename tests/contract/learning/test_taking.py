"""Feedback in the hands of connected agents, over a yard that has no model."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from skillyard.clock import utc_now
from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Scope
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.states import LessonState, Stage
from skillyard.learning.taking import Taking

pytestmark = pytest.mark.anyio
WORKER = "claude-1"


class Hands:
    """One agent's hands, at a time that the test sets."""

    def __init__(self, world: Any) -> None:
        self.now = utc_now()
        self.rooms, self.boss = world.yard.learning, world.boss
        self.taking = Taking(
            world.yard.database,
            world.yard.registry.agents,
            self.rooms.lessons,
            self.rooms.committing,
            world.yard.jobs,
            self.rooms._own_desk,
            clock=lambda: self.now,
        )

    async def give(self, content: str, principal: Any = None) -> str:
        """Feedback that waits, as its id."""
        [taken] = await self.rooms.intake.take(principal or self.boss, [FeedbackSpec(content=content)])
        while (await self.rooms.intake.get(self.boss, taken.feedback.id)).stage is not Stage.WAITING_FOR_MODEL:
            await self.rooms.database.wait_beyond(-1, poll=0.01)
        return taken.feedback.id


@pytest.fixture
async def hands(world: Any) -> Hands:
    fields = AgentFields(name="Support", role="", goal="")
    await world.yard.registry.agents.create(world.boss, fields, agent_id="support", why=Why())
    return Hands(world)


async def test_the_oldest_is_taken_first_and_by_one_alone(hands: Hands, world: Any):
    first, second = await hands.give("one"), await hands.give("two")
    taken = [await hands.taking.take_next(world.boss, worker) for worker in ("a", "b", "c")]
    assert [each and each.feedback.id for each in taken] == [first, second, None]
    assert await hands.taking.take_next(world.foreigner, "d") is None
    with pytest.raises(NotAllowedError):
        await hands.taking.take_next(replace(world.boss, scope=Scope.READ), "e")
    with pytest.raises(InputError, match="worker"):
        await hands.taking.take_next(world.boss, "")


async def test_what_is_not_finished_in_its_time_is_worked_on_by_others(hands: Hands, world: Any):
    feedback = await hands.give("one")
    await hands.taking.take_next(world.boss, WORKER, 60)
    await hands.taking.queue_expired()
    assert (await hands.rooms.intake.get(world.boss, feedback)).taken_by == WORKER
    [lesson] = await hands.taking.give(world.boss, feedback, {"support": "Be brief."}, worker=WORKER)
    hands.now += timedelta(hours=2)
    with pytest.raises(ConflictError, match="not in the hands"):
        await hands.taking.call(world.boss, lesson.id, "search_similar_knowledge", {"query": "x"}, worker=WORKER)
    again = await hands.taking.take_next(world.boss, "codex-1", 60)
    assert again is not None
    assert [each.id for each in again.lessons] == [lesson.id]
    assert [each.id for each in await hands.taking.give(world.boss, feedback, {}, worker="codex-1")] == [lesson.id]
    hands.now += timedelta(hours=2)
    assert await hands.taking.queue_expired() >= 1
    assert (await hands.rooms.intake.get(world.boss, feedback)).taken_by is None


async def test_nobody_does_more_than_those_who_brought_the_feedback_in(hands: Hands, world: Any):
    feedback = await hands.give("one", replace(world.boss, scope=Scope.WRITE))
    await hands.taking.take_next(world.boss, WORKER)
    [lesson] = await hands.taking.give(world.boss, feedback, {"support": "Be brief."}, worker=WORKER)
    remember = {"operation": "CREATE", "text": "Be brief."}
    done = await hands.taking.call(world.boss, lesson.id, "commit_to_memory", remember, worker=WORKER)
    assert json.loads(done)["status"] == "proposed"
    assert (await hands.taking.finish(world.boss, feedback, worker=WORKER)).stage is Stage.PROPOSED
    assert await hands.rooms.memories.all(world.boss) == []


async def test_what_is_finished_without_a_commit_says_why(hands: Hands, world: Any):
    feedback = await hands.give("one")
    await hands.taking.take_next(world.boss, WORKER)
    [lesson] = await hands.taking.give(world.boss, feedback, {"support": "Be brief."}, worker=WORKER)
    await hands.taking.call(world.boss, lesson.id, "search_similar_knowledge", {"query": "x"}, worker=WORKER)
    done = await hands.taking.finish(world.boss, feedback, worker=WORKER, reason="It is small talk.")
    assert (done.stage, done.reason, done.taken_by) == (Stage.NO_COMMIT, "It is small talk.", None)
    ended = await hands.rooms.lessons.get(world.boss, lesson.id)
    assert ended.state is LessonState.NO_COMMIT
    assert b"search_similar_knowledge" in await hands.rooms.lessons.transcript(ended)
    with pytest.raises(NotFoundError):
        await hands.taking.finish(world.foreigner, feedback, worker=WORKER)
