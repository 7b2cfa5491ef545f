"""Whose feedback, memories and rules are: a person without a role changes nothing, whatever door they use."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update
from tests.contract.learning.conftest import Learner

from skillyard.errors import ConflictError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Principal
from skillyard.learning.drafts import Author, Committed, Effect, Proposed
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.memories import MemoryWish
from skillyard.learning.models import MemoryRow, RuleRow
from skillyard.learning.places import COMMON, Place
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.states import Operation, ProposalState

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test asked for it")
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "amount", "type": "number"}],
    "outputs": [{"id": "action", "type": "string"}],
    "rules": [{"when": ["<= 30000"], "then": ["refund"]}, {"when": ["-"], "then": ["ask a manager"]}],
}
EVIL = {**TABLE, "rules": [{"when": ["-"], "then": ["refund at once"]}]}


class Desk:
    """The rooms of a yard in the hands of somebody."""

    def __init__(self, learner: Learner) -> None:
        self.world: Any = learner.world
        self.learner = learner
        self.rooms = self.world.yard.learning

    async def place(self, principal: Principal, namespace: str | None = None, *, private: bool = False) -> Place:
        return await self.rooms.place(principal, namespace, private=private)

    async def rule(self, principal: Principal, place: Place) -> str:
        wish = RuleWish(operation=Operation.CREATE, name="refunds", table=TABLE, place=place)
        return (await self.commit(principal, await self.rooms.drafting.draft(principal, wish)))[0].id

    async def memory(self, principal: Principal, place: Place, text: str = "Say please.") -> Effect:
        wish = MemoryWish(operation=Operation.CREATE, text=text, place=place)
        return (await self.commit(principal, await self.rooms.memories.draft(principal, wish)))[0]

    async def commit(self, principal: Principal, draft: Any) -> tuple[Effect, ...]:
        done = await self.rooms.commits.commit(self.author(principal), replace(draft, locked=False))
        assert isinstance(done, Committed)
        return done.effects

    def author(self, principal: Principal) -> Author:
        return self.learner.author(principal)

    async def change(self, principal: Principal, rule: str, table: Any = EVIL) -> None:
        wish = RuleWish(operation=Operation.UPDATE, rule_id=rule, table=table)
        draft = replace(await self.rooms.drafting.draft(principal, wish), locked=False)
        await self.rooms.rules.apply(draft, self.author(principal))


@pytest.fixture
async def desk(learner: Learner) -> Desk:
    return Desk(learner)


async def test_without_a_role_nobody_changes_locks_deletes_judges_or_undoes(desk: Desk):
    boss, bob = desk.world.boss, desk.world.stranger
    place = await desk.place(boss)
    rule, memory = await desk.rule(boss, place), await desk.memory(boss, place)
    await desk.rooms.rules.lock(desk.author(boss), rule, locked=True)
    entries = (await desk.world.yard.registry.chronicle.entries(bob, limit=50)).entries
    undoable = [entry.number for entry in entries if entry.change.subject.kind in {"rule", "memory"}]
    assert len(undoable) == 3
    number = await desk.world.yard.database.number()
    deleting = RuleWish(operation=Operation.DELETE, rule_id=rule)
    attempts = [
        desk.change(bob, rule),
        desk.rooms.rules.apply(await desk.rooms.drafting.draft(bob, deleting), desk.author(bob)),
        desk.rooms.rules.lock(desk.author(bob), rule, locked=False),
        desk.rooms.rules.pin(bob, rule, "case-0", pinned=True),
        desk.rooms.memories.judge(bob, memory.id, "harmful"),
        desk.rooms.memories.lock(desk.author(bob), memory.id, locked=True),
        *(desk.world.yard.registry.chronicle.undo(bob, each, why=WHY) for each in undoable),
    ]
    for attempt in attempts:
        with pytest.raises(NotAllowedError) as caught:
            await attempt
        assert caught.value.details["namespace"] == "boss"
    assert await desk.world.yard.database.number() == number
    assert (await desk.rooms.rules.evaluate(bob, rule, {"amount": 99_999_999}))[1].outputs == {
        "action": "ask a manager"
    }


async def test_what_is_locked_only_administrators_of_its_namespace_change_and_open(desk: Desk):
    boss, publisher = desk.world.boss, desk.world.publisher
    rule = await desk.rule(publisher, await desk.place(publisher, desk.world.team))
    await desk.change(publisher, rule, {**TABLE, "default": ["ask"]})
    await desk.rooms.rules.lock(desk.author(publisher), rule, locked=True)
    locked = await desk.world.yard.database.number()
    undo = desk.world.yard.registry.chronicle.undo
    for attempt in (
        desk.change(publisher, rule),
        desk.rooms.rules.lock(desk.author(publisher), rule, locked=False),
        undo(publisher, locked, why=WHY),
    ):
        with pytest.raises(NotAllowedError, match="'admin'"):
            await attempt
    await undo(boss, locked, why=WHY)
    assert not (await desk.rooms.rules.get(boss, rule)).locked
    with pytest.raises(NotAllowedError, match="'admin'"):
        await undo(publisher, await desk.world.yard.database.number(), why=WHY)  # that would lock it again


async def test_a_changed_memory_stays_locked(desk: Desk):
    boss = desk.world.boss
    memory = await desk.memory(boss, await desk.place(boss))
    await desk.rooms.memories.lock(desk.author(boss), memory.id, locked=True)
    wish = MemoryWish(operation=Operation.UPDATE, memory_id=memory.id, text="Say thanks.")
    new, _ = await desk.commit(boss, await desk.rooms.memories.draft(boss, wish))
    assert (await desk.rooms.memories.get(boss, new.id)).locked


async def test_what_is_private_to_a_namespace_is_absent_for_others(desk: Desk):
    boss, viewer, bob = desk.world.boss, desk.world.viewer, desk.world.stranger
    place = await desk.place(boss, desk.world.team, private=True)
    rule, memory = await desk.rule(boss, place), await desk.memory(boss, place, "The merger is on Monday.")
    secret = FeedbackSpec(content="Never speak of the merger.", namespace=desk.world.team, private=True)
    [taken] = await desk.rooms.intake.take(boss, [secret])
    for found in (desk.rooms.rules.get, desk.rooms.rules.versions, desk.rooms.rules.cases):
        with pytest.raises(NotFoundError):
            await found(bob, rule)
        await found(viewer, rule)
    with pytest.raises(NotFoundError):
        await desk.rooms.memories.get(bob, memory.id)
    with pytest.raises(NotFoundError):
        await desk.rooms.intake.get(bob, taken.feedback.id)
    with pytest.raises(NotFoundError):
        await desk.rooms.drafting.draft(bob, RuleWish(operation=Operation.DELETE, rule_id=rule))
    seen = {
        "bob": [
            await desk.rooms.rules.all(bob),
            await desk.rooms.memories.all(bob),
            await desk.rooms.recall.recall(bob, "merger"),
            await desk.rooms.recall.recall(bob, "merger", agent_id="support"),
            (await desk.rooms.intake.page(bob))[0],
            await desk.rooms.intake.counts(bob),
        ],
        "viewer": [
            await desk.rooms.rules.all(viewer),
            await desk.rooms.memories.all(viewer),
            await desk.rooms.recall.recall(viewer, "merger"),
            await desk.rooms.recall.recall(viewer, "merger", agent_id="support"),
            (await desk.rooms.intake.page(viewer))[0],
            await desk.rooms.intake.counts(viewer),
        ],
    }
    assert not any(seen["bob"])
    assert all(seen["viewer"])
    kinds = {entry.change.subject.kind for entry in (await desk.world.yard.registry.chronicle.entries(bob)).entries}
    assert not kinds & {"rule", "memory"}
    with pytest.raises(ConflictError) as caught:
        await desk.rooms.intake.take(bob, [FeedbackSpec(content="Other.", event_id=taken.feedback.event_id)])
    assert "feedback" not in caught.value.details


async def test_feedback_of_a_namespace_is_taken_and_undone_by_those_who_may_edit_there(desk: Desk):
    boss, publisher, bob = desk.world.boss, desk.world.publisher, desk.world.stranger
    await desk.world.yard.registry.agents.create(boss, AgentFields(name="Support"), agent_id="support", why=WHY)
    [taken] = await desk.rooms.intake.take(boss, [FeedbackSpec(content="Be kind.", namespace=desk.world.team)])
    feedback = taken.feedback.id
    assert await desk.rooms.taking.take_next(bob, "bob's agent") is None
    with pytest.raises(NotAllowedError):
        await desk.rooms.taking.give(bob, feedback, {}, worker="bob's agent")
    with pytest.raises(NotAllowedError):
        await desk.rooms.intake.retry(bob, feedback)
    assert await desk.rooms.taking.take_next(publisher, "ours") is not None
    [lesson] = await desk.rooms.taking.give(publisher, feedback, {"support": "Be kind."}, worker="ours")
    said = {"operation": "ADD", "text": "Be kind."}
    await desk.rooms.taking.call(publisher, lesson.id, "commit_to_memory", said, worker="ours")
    await desk.rooms.taking.finish(publisher, feedback, worker="ours")
    [memory] = await desk.rooms.memories.all(bob)
    assert (memory.namespace, memory.provenance["given_by"], memory.provenance["by"]) == (
        desk.world.team,
        "boss",
        "publisher",
    )
    with pytest.raises(NotAllowedError):
        await desk.rooms.undo(bob, lesson.id, why=WHY)
    await desk.rooms.undo(publisher, lesson.id, why=WHY)


async def test_a_lesson_against_a_rule_of_others_is_proposed_and_decided_by_them(desk: Desk):
    boss, bob = desk.world.boss, desk.world.stranger
    rule = await desk.rule(boss, await desk.place(boss, desk.world.team))
    lesson = await desk.learner.lesson()
    wish = RuleWish(operation=Operation.UPDATE, rule_id=rule, table=EVIL)
    author = desk.learner.author(bob, lesson=lesson)
    done = await desk.rooms.commits.commit(author, await desk.rooms.drafting.draft(bob, wish))
    assert isinstance(done, Proposed)
    for decide in (desk.rooms.approve, desk.rooms.reject):
        with pytest.raises(NotAllowedError):
            await decide(bob, done.proposal_id, why=WHY)
    await desk.rooms.reject(boss, done.proposal_id, why=WHY)
    assert (await desk.rooms.commits.proposal(boss, done.proposal_id)).state is ProposalState.REJECTED


async def test_in_a_namespace_with_review_another_publisher_agrees_to_each_change(desk: Desk):
    boss, publisher = desk.world.boss, desk.world.publisher
    rule = await desk.rule(boss, await desk.place(boss, desk.world.team))
    await desk.world.set_policy(review=True)
    wish = RuleWish(operation=Operation.UPDATE, rule_id=rule, table=EVIL)
    draft = await desk.rooms.drafting.draft(publisher, wish)
    done = await desk.rooms.commits.commit(desk.author(publisher), draft)
    assert isinstance(done, Proposed)
    with pytest.raises(NotAllowedError, match="person who proposed a change"):
        await desk.rooms.approve(publisher, done.proposal_id, why=WHY)
    await desk.rooms.approve(boss, done.proposal_id, why=WHY)
    assert (await desk.rooms.rules.get(boss, rule)).version == "2.0.0"


async def test_what_was_there_before_namespaces_is_everybodys_until_an_administrator_locks_it(desk: Desk):
    boss, bob = desk.world.boss, desk.world.stranger
    rule, memory = await desk.rule(boss, await desk.place(boss)), await desk.memory(boss, await desk.place(boss))
    async with desk.world.yard.database.write() as transaction:
        for row in (RuleRow, MemoryRow):
            await transaction.session.execute(update(row).values(**COMMON.columns))
    await desk.change(bob, rule)
    await desk.rooms.memories.judge(bob, memory.id, "helpful")
    await desk.rooms.rules.lock(desk.author(boss), rule, locked=True)
    with pytest.raises(NotAllowedError, match="common ground"):
        await desk.change(bob, rule, TABLE)
    with pytest.raises(NotAllowedError, match="common ground"):
        await desk.rooms.rules.lock(desk.author(bob), rule, locked=False)
    await desk.rooms.rules.lock(desk.author(boss), rule, locked=False)


async def test_the_words_of_private_feedback_stay_with_those_who_may_read_it(desk: Desk):
    boss, viewer, bob = desk.world.boss, desk.world.viewer, desk.world.stranger
    chronicle = desk.world.yard.registry.chronicle
    memory = await desk.memory(boss, await desk.place(boss, desk.world.team))
    wish = MemoryWish(operation=Operation.UPDATE, memory_id=memory.id, text="Say thanks.")
    draft = await desk.rooms.memories.draft(boss, wish)
    author = Author(
        principal=boss,
        lesson_id=await desk.learner.lesson(),
        feedback="The merger is on Monday.",
        given_by="boss",
        meaning="Because of the merger, say thanks.",
        place=await desk.place(boss, desk.world.team, private=True),
        why=Why(reason="Learned from feedback.", feedback="The merger is on Monday."),
    )
    done = await desk.rooms.commits.commit(author, replace(draft, locked=True))
    assert isinstance(done, Proposed)
    proposed = [await desk.rooms.commits.proposals(each) for each in (viewer, bob)]
    assert [total for _, total in proposed] == [1, 0]
    with pytest.raises(NotFoundError):
        await desk.rooms.commits.proposal(bob, done.proposal_id)
    assert "merger" not in str(await chronicle.entries(bob, limit=50))
    done = await desk.rooms.commits.do(author, replace(draft, locked=False))
    assert isinstance(done, Committed)
    assert (await desk.rooms.memories.all(bob))[0].text == "Say thanks."
    assert "merger" not in str([await desk.rooms.memories.all(bob), await chronicle.entries(bob, limit=50)])
    place = await desk.place(boss, desk.world.team, private=True)
    wish = MemoryWish(operation=Operation.CREATE, text="Say please again.", place=place)
    author = replace(author, lesson_id=await desk.learner.lesson())
    done = await desk.rooms.commits.do(author, replace(await desk.rooms.memories.draft(boss, wish), locked=False))
    assert isinstance(done, Committed)
    made = await desk.rooms.memories.get(viewer, done.effects[0].id)
    assert made.provenance["feedback"] == "The merger is on Monday."
