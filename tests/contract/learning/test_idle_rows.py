"""Rows of a lesson that could change no answer go back to whoever decides; a person may still keep them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from skillyard.errors import InputError
from skillyard.learning.drafts import Author
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.states import LessonState, MergeMode, Operation, ProposalState, Stage
from skillyard.llm.scripted import Reply, ToolCall, in_turn

from .conftest import Learner
from .test_pipeline import DONE, MATCHED, WHY, Make, learning  # noqa: F401 -- the fixture
from .test_taking import begin, hands  # noqa: F401 -- the fixtures

pytestmark = pytest.mark.anyio

REFUNDS: dict[str, Any] = {
    "hit_policy": "F",
    "inputs": [
        {"id": "grade", "values": '"vip", "regular"'},
        {"id": "amount", "type": "number", "values": ">= 0"},
        {"id": "since", "type": "date", "optional": True},
    ],
    "outputs": [{"id": "action"}],
    "rules": [
        {"id": "r1", "when": ["-", "<= 30000", "-"], "then": ["refund at once"]},
        {"id": "r2", "when": ["-", "-", "-"], "then": ["ask a manager"]},
    ],
}


def row(*when: str, then: str = "refund at once", **more: Any) -> dict[str, Any]:
    return {**REFUNDS, "rules": [{"when": list(when), "then": [then]}], **more}


async def refunds(learner: Any, **more: Any) -> str:
    wish = RuleWish(operation=Operation.CREATE, name="refunds", table={**REFUNDS, **more})
    draft = await learner.drafting.draft(learner.boss, wish)
    [effect] = await learner.rules.apply(draft, Author(principal=learner.boss, lesson_id=None))
    return effect.id


def update(rule_id: str, table: dict[str, Any], mode: MergeMode = MergeMode.REFINE) -> RuleWish:
    return RuleWish(operation=Operation.UPDATE, rule_id=rule_id, table=table, merge_mode=mode)


@pytest.mark.parametrize(
    ("when", "problem", "hint"),
    [
        (('"VIP"', "<= 100000", "-"), 'tests grade for "VIP", which it can never be', 'Write "vip".'),
        (('"VIP", "regular"', "-", "-"), 'tests grade for "VIP"', '"vip", "regular"'),
        (('not("VIP")', "<= 100000", "-"), 'tests grade for "VIP"', 'Write "vip".'),
        (('not("vip", "regular")', "-", "-"), 'tests grade for not\\("vip", "regular"\\)', '"vip", "regular"'),
        (("null", "-", "-"), "tests grade for null", '"vip", "regular"'),
        (('"vip"', "< 0", "-"), "tests amount for < 0", "amount can be >= 0."),
    ],
)
async def test_a_row_of_a_lesson_that_can_never_hold_is_refused_with_the_allowed_values(
    learner: Learner, when, problem, hint
):
    rule_id = await refunds(learner)
    with pytest.raises(InputError, match=problem) as refused:
        await learner.drafting.lesson_draft(learner.boss, update(rule_id, row(*when)))
    assert hint in refused.value.hint


async def test_a_new_rule_of_a_lesson_holds_no_row_that_can_never_hold(learner: Learner):
    wish = RuleWish(operation=Operation.CREATE, name="refunds", table=row('"VIP"', "-", "-"))
    with pytest.raises(InputError, match="can never be"):
        await learner.drafting.lesson_draft(learner.boss, wish)


async def test_a_row_that_earlier_rows_cover_is_refused_with_the_merge_mode_that_would_do(learner: Learner):
    rule_id = await refunds(learner)
    late = update(rule_id, row('"vip"', "<= 100000", "-"), MergeMode.EXTEND)
    with pytest.raises(InputError, match=r"r3 \(.*\) would never count") as refused:
        await learner.drafting.lesson_draft(learner.boss, late)
    assert 'merge_mode="REFINE"' in refused.value.hint
    assert await learner.drafting.lesson_draft(learner.boss, update(rule_id, row('"vip"', "<= 100000", "-")))


async def test_a_row_that_more_important_rows_cover_is_refused(learner: Learner):
    outputs = [{"id": "action", "values": ["ask a manager", "refund at once"]}]
    rule_id = await refunds(learner, hit_policy="P", outputs=outputs)
    wish = update(rule_id, row('"vip"', "<= 100000", "-", outputs=outputs, hit_policy="P"))
    with pytest.raises(InputError, match="would never count") as refused:
        await learner.drafting.lesson_draft(learner.boss, wish)
    assert "more important" in refused.value.hint


async def test_rows_that_were_idle_before_do_not_keep_a_lesson_out(learner: Learner):
    dead = {"id": "dead", "when": ['"VIP"', "-", "-"], "then": ["refund at once"]}
    late = {"id": "late", "when": ['"vip"', "-", "-"], "then": ["refund at once"]}
    rule_id = await refunds(learner, rules=[dead, *REFUNDS["rules"], late])
    draft = await learner.drafting.lesson_draft(learner.boss, update(rule_id, row('"vip"', "<= 100000", "-")))
    column = {"id": "country"}
    wider = {**row('"regular"', "<= 50000", "-"), "inputs": [*REFUNDS["inputs"], column]}
    wider["rules"] = [{"when": ['"regular"', "<= 50000", "-", '"KR"'], "then": ["refund at once"]}]
    assert await learner.drafting.lesson_draft(learner.boss, update(rule_id, wider))
    assert {each["kind"] for each in draft.warnings} >= {"impossible", "unreachable"}


async def test_a_person_may_keep_a_row_that_can_never_hold_and_is_warned(learner: Learner):
    rule_id = await refunds(learner)
    draft = await learner.drafting.draft(learner.boss, update(rule_id, row('"VIP"', "-", "-")))
    assert "impossible" in {each["kind"] for each in draft.warnings}
    [effect] = await learner.rules.apply(draft, learner.author())
    assert effect.version == "1.0.1"


def commit(table: dict[str, Any], rule_id: str) -> Reply:
    arguments = {"operation": "UPDATE", "rule_id": rule_id, "merge_mode": "REFINE", "table": table}
    return Reply(calls=[ToolCall(name="commit_to_dmn_rule", arguments=arguments)])


async def test_a_model_is_told_the_allowed_values_and_puts_its_row_right(learning: Make):  # noqa: F811
    school = await learning(in_turn(DONE))
    school.drafting, school.rules, school.boss = school.rooms.drafting, school.rooms.rules, school.world.boss
    rule_id = await refunds(school)
    tries = [commit(row(grade, "<= 100000", "-"), rule_id) for grade in ('"VIP"', '"vip"')]
    school.model.script = in_turn(MATCHED, *tries, DONE)
    feedback = await school.learn("VIP customers get their money back right away up to 100,000 won")
    transcript = json.loads(await school.rooms.lessons.transcript(await school.lesson(feedback)))
    told = [json.loads(entry["text"]) for entry in transcript if entry["role"] == "tool"]
    assert [each["status"] for each in told] == ["refused", "committed"]
    assert told[0]["hint"] == 'grade can be "vip", "regular". Write "vip".'
    _, decided = await school.rules.evaluate(school.boss, rule_id, {"grade": "vip", "amount": 80_000})
    assert decided.outputs == {"action": "refund at once"}


async def test_a_connected_agent_is_told_the_allowed_values(begin: Any, world: Any):  # noqa: F811
    rooms = world.yard.learning
    learner: Any = type("Rooms", (), {"drafting": rooms.drafting, "rules": rooms.rules, "boss": world.boss})
    rule_id = await refunds(learner)
    lesson = await begin("VIP customers get their money back")
    arguments = {"operation": "UPDATE", "rule_id": rule_id, "table": row('"VIP"', "-", "-")}
    told = await lesson.call("commit_to_dmn_rule", **arguments)
    assert told["status"] == "refused"
    assert told["hint"] == 'grade can be "vip", "regular". Write "vip".'
    assert (await lesson.now()).state is LessonState.DECIDING


async def test_a_proposal_from_before_this_check_is_not_approved(learning: Make, monkeypatch):  # noqa: F811
    school = await learning(in_turn(DONE), rules="review")
    rooms, boss = school.rooms, school.world.boss
    school.drafting, school.rules, school.boss = rooms.drafting, rooms.rules, boss
    rule_id = await refunds(school)
    monkeypatch.setattr(rooms.drafting, "lesson_draft", rooms.drafting.draft)
    school.model.script = in_turn(MATCHED, commit(row('"VIP"', "-", "-"), rule_id), DONE)
    feedback = await school.learn("VIP customers get their money back")
    [proposal], _ = await rooms.commits.proposals(boss, state=ProposalState.OPEN)
    with pytest.raises(InputError, match="can never be"):
        await rooms.approve(boss, proposal.id, why=WHY)
    assert (await rooms.commits.proposal(boss, proposal.id)).state is ProposalState.OPEN
    assert (await school.stage(feedback))[0] is Stage.PROPOSED
    assert (await rooms.rules.get(boss, rule_id)).version == "1.0.0"
    assert await rooms.reject(boss, proposal.id, why=replace(WHY)) is None
