"""Feedback that was undone: it says so, and the same words, or trying it again, have their effects again."""

import json
from dataclasses import replace
from typing import Any

import pytest

from skillyard.errors import ConflictError, NotAllowedError
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Scope
from skillyard.learning.drafts import Author
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.intake import FEEDBACK
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.states import LessonState, Operation, ProposalState, Stage
from skillyard.llm.scripted import Reply, ToolCall, in_turn

from .test_pipeline import DONE, MATCHED, REMEMBER, ROW, RULE, SEARCH, WHY, Make, learning  # noqa: F401 -- the fixture
from .test_taking import ARTIFACT, begin, hands  # noqa: F401 -- the fixtures

pytestmark = pytest.mark.anyio
SAID = "환불은 3일이 아니라 5일 걸립니다"


async def undone(school: Any, *, stage: Stage = Stage.UNDONE) -> str:
    feedback = await school.learn(SAID)
    await school.rooms.undo(school.world.boss, (await school.lesson(feedback)).id, why=WHY)
    assert (await school.stage(feedback))[0] is stage
    return feedback


async def again(school: Any, *replies: Reply, feedback: str) -> Any:
    school.model.script = in_turn(SEARCH, *replies, DONE)
    await school.world.yard.jobs.run(FEEDBACK, feedback)
    return await school.lesson(feedback)


async def test_what_was_undone_is_learned_again_by_trying_it_again(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, REMEMBER, DONE))
    feedback = await undone(school)
    assert (await school.rooms.intake.counts(school.world.boss)) == {"undone": 1}
    tried = await school.rooms.intake.retry(school.world.boss, feedback)
    assert tried.stage is Stage.QUEUED
    lesson = await again(school, REMEMBER, feedback=feedback)
    assert (lesson.state, await school.stage(feedback)) == (LessonState.COMMITTED, (Stage.COMMITTED, ""))
    assert await school.remembered() == ["환불은 5일 걸린다."]
    await school.rooms.undo(school.world.boss, lesson.id, why=WHY)
    assert await school.remembered() == []
    assert (await school.stage(feedback))[0] is Stage.UNDONE


async def test_the_same_words_given_again_are_learned_again_once_they_were_undone(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, REMEMBER, DONE))
    intake, boss, spec = school.rooms.intake, school.world.boss, FeedbackSpec(content=SAID)
    feedback = await undone(school)
    [taken] = await intake.take(boss, [spec], by_hand=True)
    assert (taken.feedback.id, taken.created, taken.again) == (feedback, False, True)
    assert (await again(school, REMEMBER, feedback=feedback)).state is LessonState.COMMITTED
    [taken] = await intake.take(boss, [spec], by_hand=True)
    assert (taken.created, taken.again, taken.feedback.stage) == (False, False, Stage.COMMITTED)


async def test_what_a_source_sends_again_stays_undone(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, REMEMBER, DONE))
    intake, boss = school.rooms.intake, school.world.boss
    feedback = await undone(school)
    [polled] = await intake.take(boss, [FeedbackSpec(content=SAID)], source="tickets")
    assert (polled.feedback.id, polled.again, polled.feedback.stage) == (feedback, False, Stage.UNDONE)


async def test_words_with_an_id_of_their_own_stay_undone(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, REMEMBER, DONE))
    intake, boss, spec = school.rooms.intake, school.world.boss, FeedbackSpec(content=SAID, event_id="t-1")
    [taken] = await intake.take(boss, [spec], by_hand=True)
    await school.world.yard.jobs.run(FEEDBACK, taken.feedback.id)
    await school.rooms.undo(boss, (await school.lesson(taken.feedback.id)).id, why=WHY)
    [sent] = await intake.take(boss, [spec], by_hand=True)
    assert (sent.again, sent.feedback.stage) == (False, Stage.UNDONE)


async def test_only_those_who_may_undo_have_it_learned_again(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, REMEMBER, DONE))
    feedback = await undone(school)
    writer = replace(school.world.boss, scope=Scope.WRITE)
    with pytest.raises(NotAllowedError):
        await school.rooms.intake.retry(writer, feedback)
    [taken] = await school.rooms.intake.take(writer, [FeedbackSpec(content=SAID)], by_hand=True)
    assert (taken.again, taken.feedback.stage) == (False, Stage.UNDONE)


async def test_a_rule_that_was_undone_is_changed_again(learning: Make):  # noqa: F811
    school = await learning(in_turn(DONE))
    boss, rules = school.world.boss, school.rooms.rules
    wish = RuleWish(operation=Operation.CREATE, name="할인", table={**ROW, "rules": ROW["rules"][1:]})
    [made] = await school.rooms.commits.apply(
        Author(principal=boss, lesson_id=None, why=WHY), await school.rooms.drafting.draft(boss, wish)
    )
    change = {"operation": "UPDATE", "rule_id": made.id, "table": {**ROW, "rules": ROW["rules"][:1]}}
    row = Reply(calls=[ToolCall(name="commit_to_dmn_rule", arguments=change)])
    school.model.script = in_turn(MATCHED, SEARCH, row, DONE)
    feedback = await undone(school)
    _, before = await rules.evaluate(boss, made.id, {"tier": "gold"})
    await school.rooms.intake.retry(boss, feedback)
    lesson = await again(school, row, feedback=feedback)
    _, after = await rules.evaluate(boss, made.id, {"tier": "gold"})
    assert (before.outputs, after.outputs) == ({"percent": 0}, {"percent": 10})
    assert [effect.version for effect in lesson.effects] == ["1.0.2"]


async def test_a_new_rule_that_was_undone_is_proposed_and_made_again(learning: Make):  # noqa: F811
    school = await learning(in_turn(MATCHED, SEARCH, RULE, DONE), rules="review")
    rooms, boss = school.rooms, school.world.boss
    feedback = await school.learn(SAID)
    [first], _ = await rooms.commits.proposals(boss, state=ProposalState.OPEN)
    await rooms.approve(boss, first.id, why=WHY)
    await rooms.undo(boss, (await school.lesson(feedback)).id, why=WHY)
    await rooms.intake.retry(boss, feedback)
    lesson = await again(school, RULE, feedback=feedback)
    [second], _ = await rooms.commits.proposals(boss, state=ProposalState.OPEN)
    assert (lesson.state, lesson.proposal_id) == (LessonState.PROPOSED, second.id)
    assert second.id != first.id
    await rooms.approve(boss, second.id, why=WHY)
    assert [rule.name for rule in await rooms.rules.all(boss)] == ["할인"]
    assert (await school.stage(feedback))[0] is Stage.COMMITTED


async def test_a_skill_that_was_undone_is_made_again_by_a_connected_agent(begin: Any, world: Any):  # noqa: F811
    lesson = await begin("How to pay a refund")
    hands = lesson.hands  # noqa: F811 -- those of this lesson
    more = {"operation": "CREATE", "skill_artifact": ARTIFACT}
    assert (await lesson.call("commit_to_skill", **more))["status"] == "committed"
    await lesson.finish()
    await hands.rooms.undo(world.boss, lesson.id, why=WHY)
    tried = await hands.rooms.intake.retry(world.boss, lesson.feedback)
    assert tried.stage is Stage.WAITING_FOR_MODEL
    taken = await hands.taking.take_next(world.boss, "claude-1")
    assert [each.id for each in taken.lessons] == [lesson.id]
    await lesson.call("commit_to_skill", **more)
    now = await lesson.now()
    assert (now.state, (await lesson.finish()).stage) == (LessonState.COMMITTED, Stage.COMMITTED)
    skill = await world.yard.registry.shelf.named(world.boss, "pay-refunds", None)
    given = (await world.yard.registry.attachments.agent_skills(world.boss, "support")).attached
    assert skill.id in {each.skill_id for each in given}
    assert {effect.id for effect in now.effects if effect.kind == "skill"} == {skill.id}


async def test_one_lesson_of_several_that_was_undone_is_learned_again(learning: Make, world: Any):  # noqa: F811
    school = await learning(in_turn(DONE))
    rooms, boss = school.rooms, school.world.boss
    await world.yard.registry.agents.create(boss, AgentFields(name="Sales"), agent_id="sales", why=WHY)
    both = [{"agent_id": name, "meaning": SAID} for name in ("sales", "support")]
    matched = Reply(text=json.dumps({"matches": both}))
    school.model.script = in_turn(matched, REMEMBER, DONE, REMEMBER, DONE)
    feedback = await school.learn(SAID)
    lessons = await rooms.lessons.of(boss, feedback)
    await rooms.undo(boss, lessons[0].id, why=WHY)
    assert (await school.stage(feedback))[0] is Stage.COMMITTED
    await rooms.intake.retry(boss, feedback)
    school.model.script = in_turn(REMEMBER, DONE)
    await world.yard.jobs.run(FEEDBACK, feedback)
    assert {each.state for each in await rooms.lessons.of(boss, feedback)} == {LessonState.COMMITTED}
    with pytest.raises(ConflictError, match="nothing to try again"):
        await rooms.intake.retry(boss, feedback)
