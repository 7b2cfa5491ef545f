"""Decisions on proposals: one wins, and what was approved is carried out once, whoever was cut off."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.contract.learning.conftest import Learner

from skillyard.clock import utc_now
from skillyard.config.sections import Learning
from skillyard.errors import ConflictError, NotAllowedError, UnavailableError
from skillyard.history.entries import Why
from skillyard.learning.commits import Commits
from skillyard.learning.decisions import CUT_OFF_AFTER, Decisions
from skillyard.learning.lessons import Lessons
from skillyard.learning.memories import MemoryWish
from skillyard.learning.models import LessonRow
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.states import LessonState, MergeMode, Operation, ProposalState

pytestmark = pytest.mark.anyio

WHY = Why(reason="it is right")
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"id": "gold", "when": ['"gold"'], "then": [10]}],
}


class Bench:
    """Proposals that wait, and those who decide on them."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.boss, self.publisher = learner.boss, learner.publisher
        self.yard = learner.world.yard  # pyright: ignore[reportAttributeAccessIssue]
        self.commits = learner.commits(memory="review", rules="review")
        self.decisions = Decisions(self.yard.database, self.yard.history, self.commits, Learning())
        self.lessons = Lessons(self.yard.database, self.yard.blobs)

    async def memory(self, text: str, lesson: str | None = None) -> str:
        draft = await self.learner.memories.draft(self.boss, MemoryWish(operation=Operation.CREATE, text=text))
        return await self.propose(draft, lesson)

    async def propose(self, draft, lesson=None) -> str:
        return (await self.commits.commit(self.learner.author(lesson=lesson), draft)).proposal_id

    async def state(self, proposal_id: str) -> ProposalState:
        return (await self.commits.proposal(self.boss, proposal_id)).state

    async def remembered(self) -> list[str]:
        return sorted(memory.text for memory in await self.learner.memories.all(self.boss))

    async def lesson(self, lesson_id: str) -> LessonRow:
        async with self.yard.database.read() as session:
            return await session.get_one(LessonRow, lesson_id)

    def later(self) -> Decisions:
        """The same at a time when whoever was cut off is missed."""
        late = utc_now() + CUT_OFF_AFTER + timedelta(seconds=1)
        return Decisions(self.yard.database, self.yard.history, self.commits, Learning(), clock=lambda: late)


@pytest.fixture
async def bench(learner: Learner) -> Bench:
    return Bench(learner)


async def test_approving_and_rejecting_at_once_is_one_decision(bench: Bench):
    approved = []
    for number in range(12):
        lesson = await bench.learner.lesson()
        proposal = await bench.memory(f"Memory {number}.", lesson)
        ways = [
            bench.decisions.approve(bench.boss, proposal, why=WHY),
            bench.decisions.reject(bench.publisher, proposal, why=WHY),
        ]
        done = await asyncio.gather(*(ways if number % 2 else reversed(ways)), return_exceptions=True)
        assert [type(each) for each in done if isinstance(each, Exception)] == [ConflictError]
        state, row = await bench.state(proposal), await bench.lesson(lesson)
        if state is ProposalState.APPROVED:
            approved.append(f"Memory {number}.")
            assert (row.state, len(row.effects)) == (LessonState.COMMITTED, 1)
        else:
            assert (state, row.state, row.effects) == (ProposalState.REJECTED, LessonState.REJECTED, [])
    assert await bench.remembered() == sorted(approved)


async def test_two_who_approve_at_once_what_somebody_made_by_hand_make_it_once(bench: Bench):
    rule = await bench.learner.drafting.draft(
        bench.boss, RuleWish(operation=Operation.CREATE, name="discount", table=TABLE)
    )
    for proposal in (await bench.memory("Say please."), await bench.propose(rule)):
        approvals = (bench.decisions.approve(who, proposal, why=WHY) for who in (bench.boss, bench.publisher))
        done = await asyncio.gather(*approvals, return_exceptions=True)
        made = [each for each in done if not isinstance(each, Exception)]
        assert made
        assert all(each == made[0] for each in made)
        assert await bench.state(proposal) is ProposalState.APPROVED
    assert await bench.remembered() == ["Say please."]
    [only] = await bench.learner.rules.all(bench.boss)
    wish = RuleWish(
        operation=Operation.UPDATE,
        rule_id=only.id,
        table={**TABLE, "rules": [{"id": "silver", "when": ['"silver"'], "then": [5]}]},
        merge_mode=MergeMode.EXTEND,
    )
    proposal = await bench.propose(await bench.learner.drafting.draft(bench.boss, wish))
    approvals = (bench.decisions.approve(who, proposal, why=WHY) for who in (bench.boss, bench.publisher))
    await asyncio.gather(*approvals, return_exceptions=True)
    assert len(await bench.learner.rules.versions(bench.boss, only.id)) == 2


async def test_a_change_of_what_was_deleted_meanwhile_is_stale_and_may_be_decided_anew(bench: Bench):
    by_hand, memories, rules = bench.learner.author(), bench.learner.memories, bench.learner.rules
    [memory] = await memories.apply(
        await memories.draft(bench.boss, MemoryWish(operation=Operation.CREATE, text="Three days.")), by_hand
    )
    table = RuleWish(operation=Operation.CREATE, name="discount", table=TABLE)
    [rule] = await rules.apply(await bench.learner.drafting.draft(bench.boss, table), by_hand)
    memory_wish = MemoryWish(operation=Operation.UPDATE, memory_id=memory.id, text="Five days.")
    rule_wish = replace(table, operation=Operation.UPDATE, rule_id=rule.id, name=None, merge_mode=MergeMode.REPLACE)
    rule_wish = replace(rule_wish, table={**TABLE, "rules": [{"when": ['"gold"'], "then": [20]}]})
    drafts = [
        await memories.draft(bench.boss, memory_wish),
        await bench.learner.drafting.draft(bench.boss, rule_wish),
    ]
    lessons = [await bench.learner.lesson() for _ in drafts]
    proposals = [await bench.propose(draft, lesson) for draft, lesson in zip(drafts, lessons, strict=True)]
    forget = MemoryWish(operation=Operation.DELETE, memory_id=memory.id)
    await memories.apply(await memories.draft(bench.boss, forget), by_hand)
    drop = RuleWish(operation=Operation.DELETE, rule_id=rule.id)
    await rules.apply(await bench.learner.drafting.draft(bench.boss, drop), by_hand)
    for proposal, lesson in zip(proposals, lessons, strict=True):
        with pytest.raises(ConflictError, match="is not there any more"):
            await bench.decisions.approve(bench.boss, proposal, why=WHY)
        row = await bench.lesson(lesson)
        assert (await bench.state(proposal), row.state) == (ProposalState.STALE, LessonState.NEEDS_REVIEW)
        assert row.decision is None


@pytest.mark.parametrize("place", ["before", "after"])
async def test_an_approval_that_was_cut_off_is_carried_out_once_in_the_name_of_who_approved(
    bench: Bench, monkeypatch, place
):
    lesson = await bench.learner.lesson()
    proposal = await bench.memory("Say please.", lesson)
    apply = Commits.apply

    async def cut_off(commits, author, draft):
        if place == "after":
            await apply(commits, author, draft)
        raise RuntimeError("kill -9")

    monkeypatch.setattr(Commits, "apply", cut_off)
    with pytest.raises(RuntimeError):
        await bench.decisions.approve(bench.publisher, proposal, why=WHY)
    monkeypatch.undo()
    assert await bench.state(proposal) is ProposalState.APPROVING
    with pytest.raises(ConflictError, match="being approved already"):
        await bench.decisions.reject(bench.boss, proposal, why=WHY)
    assert await bench.decisions.resume() == 0  # whoever approved it may still be at it
    if place == "before":
        [effect] = await bench.decisions.approve(bench.boss, proposal, why=Why(reason="again"))
    else:
        assert await bench.later().resume() == 1
        [effect] = (await bench.lessons.get(bench.boss, lesson)).effects
    assert await bench.later().resume() == 0
    assert await bench.remembered() == ["Say please."]
    entry = await bench.yard.history.entry(effect.history)
    assert (entry.actor.id, entry.why.reason) == (bench.publisher.person_id, WHY.reason)
    row = await bench.lesson(lesson)
    assert (row.state, row.reason) == (LessonState.COMMITTED, WHY.reason)
    with pytest.raises(ConflictError, match="approved already"):
        await bench.decisions.approve(bench.boss, proposal, why=WHY)


async def test_what_cannot_be_reached_stays_approved_and_is_gone_on_with(bench: Bench, monkeypatch):
    proposal = await bench.memory("Say please.")

    async def unreachable(*_):
        raise UnavailableError("The database is away.")

    monkeypatch.setattr(Commits, "apply", unreachable)
    with pytest.raises(UnavailableError):
        await bench.decisions.approve(bench.boss, proposal, why=WHY)
    assert await bench.later().resume() == 1
    assert await bench.state(proposal) is ProposalState.APPROVING
    monkeypatch.undo()
    assert await bench.later().resume() == 1
    assert await bench.state(proposal) is ProposalState.APPROVED
    assert await bench.remembered() == ["Say please."]


async def test_what_somebody_may_not_do_is_open_for_others(bench: Bench, monkeypatch):
    proposal = await bench.memory("Say please.")
    apply = Commits.apply

    async def only_the_boss(commits, author, draft):
        if author.principal.person_id != bench.boss.person_id:
            raise NotAllowedError("Only the boss may.")
        return await apply(commits, author, draft)

    monkeypatch.setattr(Commits, "apply", only_the_boss)
    with pytest.raises(NotAllowedError):
        await bench.decisions.approve(bench.publisher, proposal, why=WHY)
    found = await bench.commits.proposal(bench.boss, proposal)
    assert (found.state, found.decided_by, found.decision_reason) == (ProposalState.OPEN, None, "")
    await bench.decisions.approve(bench.boss, proposal, why=WHY)
    assert await bench.remembered() == ["Say please."]


async def test_a_decision_that_is_quicker_than_the_lesson_is_not_overwritten(bench: Bench):
    lesson = await bench.learner.lesson()
    proposal = await bench.memory("Say please.", lesson)
    await bench.decisions.approve(bench.boss, proposal, why=WHY)
    await bench.lessons.conclude(lesson, LessonState.PROPOSED, reason="Waits for a decision.")
    row = await bench.lesson(lesson)
    assert (row.state, row.reason, len(row.effects)) == (LessonState.COMMITTED, WHY.reason, 1)


async def test_what_was_settled_to_happen_at_once_does_so_under_another_policy(bench: Bench):
    lesson = await bench.learner.lesson()
    author = bench.learner.author(lesson=lesson)
    draft = await bench.learner.memories.draft(bench.boss, MemoryWish(operation=Operation.CREATE, text="Say please."))
    at_once, reviewing = bench.learner.commits(), bench.commits
    settled = await bench.lessons.settle(lesson, await at_once.asking(author, draft), admin=True)
    await reviewing.do(author, settled)
    assert await bench.remembered() == ["Say please."]
    other = bench.learner.author(lesson=await bench.learner.lesson())
    asked = await reviewing.asking(other, replace(draft, summary="Another."))
    await at_once.do(other, asked)
    assert await bench.remembered() == ["Say please."]
