"""What people are told of lessons: feedback is everybody's in a tenant, a private skill is not, on each engine."""

import pytest
from tests.contract.learning.conftest import Learner

from skillyard.history.entries import Why
from skillyard.learning.drafts import Draft, Effect
from skillyard.learning.feedback import feedback_of
from skillyard.learning.intake import feedback_row
from skillyard.learning.lessons import Lessons
from skillyard.learning.memories import MemoryWish
from skillyard.learning.shown_lessons import ShownLessons
from skillyard.learning.states import LessonState, Operation, Target
from skillyard.llm.transcripts import Transcript
from skillyard.registry.skills import Visibility

pytestmark = pytest.mark.anyio

SECRET = "The skill 'team/merger' has changed since."


async def test_a_lesson_about_a_private_skill_says_to_strangers_only_that_it_is_there(learner: Learner, world):
    yard, lessons = world.yard, Lessons(world.yard.database, world.yard.blobs)
    shown = ShownLessons(yard.database, lessons)
    skill = await world.create(world.boss, "merger")
    lesson_id = await learner.lesson()
    draft = Draft(
        target=Target.SKILL,
        operation=Operation.UPDATE,
        target_id=skill.id,
        target_name=skill.full_name,
        base=skill.digest,
        content={"digest": skill.digest},
        summary="The merger is on Monday.",
    )
    await lessons.settle(lesson_id, draft, admin=True)
    said = Transcript()
    said.add("tool", f"{skill.id}: The merger is on Monday.")
    effect = Effect(kind="skill", operation=Operation.UPDATE, id=skill.id, label=skill.full_name)
    await lessons.conclude(lesson_id, LessonState.NEEDS_REVIEW, reason=SECRET, effects=[effect], transcript=said)

    async def told(principal):
        lesson = await shown.get(principal, lesson_id)
        async with yard.database.read() as session:
            kept = feedback_of(await feedback_row(session, principal, lesson.feedback_id))
        [feedback] = await shown.feedback(principal, [kept])
        transcript = await shown.transcript(principal, await lessons.get(principal, lesson_id))
        return lesson.state, feedback.stage, f"{lesson} {feedback} {transcript.decode()}"

    for principal in (world.boss, world.viewer):
        assert (await told(principal))[2].count(SECRET) == 2
    state, stage, words = await told(world.stranger)
    assert (state.value, stage.value) == ("needs_review", "needs_review")
    assert "merger" not in words
    assert skill.id not in words
    await yard.registry.workbench.show(world.boss, skill.id, Visibility.PUBLIC, why=Why())
    assert (await told(world.stranger))[2].count(SECRET) == 2


async def test_a_lesson_that_changed_a_private_memory_tells_others_nothing_of_it(learner: Learner, world):
    rooms = world.yard.learning
    place = await rooms.place(world.boss, world.team, private=True)
    wish = MemoryWish(operation=Operation.CREATE, text="The merger is on Monday.", place=place)
    [memory] = await rooms.memories.apply(await rooms.memories.draft(world.boss, wish), learner.author(world.boss))
    lesson_id = await learner.lesson()
    wish = MemoryWish(operation=Operation.UPDATE, memory_id=memory.id, text="The merger is on Friday.")
    draft = await rooms.memories.draft(world.boss, wish)
    effects = await rooms.memories.apply(draft, learner.author(world.boss, lesson=lesson_id))
    said = Transcript()
    said.add("tool", f"{memory.id}: The merger is on Monday.")
    await rooms.lessons.settle(lesson_id, draft, admin=True)
    await rooms.lessons.conclude(lesson_id, LessonState.COMMITTED, effects=effects, transcript=said)

    async def told(principal):
        lesson = await rooms.shown.get(principal, lesson_id)
        transcript = await rooms.shown.transcript(principal, await rooms.lessons.get(principal, lesson_id))
        return lesson.state, f"{lesson} {transcript.decode()}"

    assert (await told(world.viewer))[1].count("The merger is on") > 2
    state, words = await told(world.stranger)
    assert state is LessonState.COMMITTED
    assert "merger" not in words
    assert memory.id not in words
