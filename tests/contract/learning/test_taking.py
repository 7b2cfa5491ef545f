"""Feedback in the hands of connected agents, over a yard that has no model."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from skillyard.clock import utc_now
from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError, UnavailableError
from skillyard.history.entries import Why
from skillyard.identity.agents import AgentFields
from skillyard.identity.principals import Scope
from skillyard.learning.feedback import OTHERS, FeedbackSpec
from skillyard.learning.states import LessonState, Stage
from skillyard.learning.taking import Taking
from skillyard.registry.skills import Visibility

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

    async def give(self, content: str, principal: Any = None, *, namespace: str | None = None) -> str:
        """Feedback that waits, as its id."""
        spec = FeedbackSpec(content=content, namespace=namespace)
        [taken] = await self.rooms.intake.take(principal or self.boss, [spec])
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


BODY = "# Refunds\n\n## When to use\n\nWhen somebody wants money back.\n\n## Steps\n\n1. Check the receipt.\n2. Pay.\n"
ARTIFACT = {"name": "pay-refunds", "description": "How to pay a refund. Use for refunds.", "body_markdown": BODY}
EDITS = {"summary": "Thank.", "edits": [{"path": "SKILL.md", "find": "2. Pay.", "replace": "2. Pay.\n3. Thank."}]}


class Lesson:
    """A lesson in an agent's hands."""

    def __init__(self, hands: Hands, feedback: str, lesson_id: str) -> None:
        self.hands, self.feedback, self.id = hands, feedback, lesson_id

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return json.loads(await self.hands.taking.call(self.hands.boss, self.id, tool, arguments, worker=WORKER))

    async def finish(self) -> Any:
        return await self.hands.taking.finish(self.hands.boss, self.feedback, worker=WORKER)

    async def now(self) -> Any:
        return await self.hands.rooms.lessons.get(self.hands.boss, self.id)


@pytest.fixture
def begin(hands: Hands):
    async def begin(meaning: str) -> Lesson:
        feedback = await hands.give(meaning)
        await hands.taking.take_next(hands.boss, WORKER)
        [lesson] = await hands.taking.give(hands.boss, feedback, {"support": meaning}, worker=WORKER)
        return Lesson(hands, feedback, lesson.id)

    return begin


async def test_a_connected_agent_publishes_the_skill_that_it_wrote(begin: Any, world: Any):
    lesson, registry = await begin("Refunds: check the receipt first."), world.yard.registry
    missing = await lesson.call("commit_to_skill", operation="CREATE")
    assert missing["status"] == "refused"
    assert "skill_artifact is missing" in missing["reason"]
    assert (await lesson.call("commit_to_skill", operation=["CREATE"]))["status"] == "refused"
    for wrong, field in (({**ARTIFACT, "name": 5}, "name"), ({**ARTIFACT, "description": "x" * 3000}, "description")):
        refused = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=wrong)
        assert (refused["status"], field in refused["reason"]) == ("refused", True), refused
    done = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=ARTIFACT)
    assert (done["status"], [each["kind"] for each in done["effects"]]) == (
        "committed",
        ["skill", "skill", "attachment"],
    )
    assert (await lesson.finish()).stage is Stage.COMMITTED
    skill = await registry.shelf.named(world.boss, "pay-refunds", "boss")
    assert skill.content == BODY
    assert skill.latest == "0.1.0"
    attached = await registry.attachments.agent_skills(world.boss, "support")
    assert [each.full_name for each in attached.attached] == ["boss/pay-refunds"]
    entry = await world.yard.history.entry(done["effects"][1]["history"])
    assert "check the receipt first" in entry.why.feedback


async def test_what_an_agent_wrote_is_committed_though_it_calls_another_tool_meanwhile(
    begin: Any, world: Any, monkeypatch
):
    lesson, knowledge = await begin("Refunds: check the receipt first."), world.yard.learning.knowledge
    begun, go_on, search = asyncio.Event(), asyncio.Event(), knowledge.search

    async def slow(*given: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await search(*given)

    monkeypatch.setattr(knowledge, "search", slow)
    async with asyncio.TaskGroup() as group:
        commit = group.create_task(lesson.call("commit_to_skill", operation="CREATE", skill_artifact=ARTIFACT))
        await begun.wait()
        monkeypatch.undo()
        await lesson.call("search_similar_knowledge", query="refunds")
        go_on.set()
    assert commit.result()["status"] == "committed"
    assert (await world.yard.registry.shelf.named(world.boss, "pay-refunds", "boss")).content == BODY


async def test_a_skill_that_is_like_the_lesson_is_judged_before_another_is_made(begin: Any, world: Any):
    lesson = await begin("Refunds: check the receipt first.")
    await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=ARTIFACT)
    await lesson.finish()
    lesson, another = await begin("Thank people when you pay a refund."), {**ARTIFACT, "name": "thank-for-refunds"}
    refused = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=another)
    assert (refused["status"], "'pay-refunds'" in refused["reason"]) == ("refused", True)
    assert 'analyze_knowledge_conflict(knowledge_type="SKILL", knowledge_id="pay-refunds")' in refused["hint"]
    about = {"knowledge_type": "SKILL", "knowledge_id": "pay-refunds"}
    await lesson.call("analyze_knowledge_conflict", **about, relation="EXTENDS", reason="One more step.")
    refused = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=another)
    assert refused["reason"] == "The lesson extends the skill 'pay-refunds': UPDATE that one."
    done = await lesson.call("commit_to_skill", operation="UPDATE", skill_id="pay-refunds", skill_artifact=EDITS)
    assert done["status"] == "committed"
    await lesson.finish()
    assert "3. Thank." in (await world.yard.registry.shelf.named(world.boss, "pay-refunds", "boss")).content
    lesson = await begin("A refund in another currency is another matter.")
    await lesson.call("analyze_knowledge_conflict", **about, relation="UNRELATED", reason="It is about currencies.")
    other = {**ARTIFACT, "name": "convert-currencies", "description": "How to convert money. Use for currencies."}
    assert (await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=other))["status"] == "committed"


async def test_skills_that_a_search_did_not_find_are_not_judged_first(begin: Any, world: Any):
    body = "# Yard\n\nCompare skills under the daylight of evidence. A customer complains when they are missing.\n"
    await world.publish_bundle(world.boss, world.bundle("skill-tool", body=body), visibility=Visibility.PUBLIC)
    lesson = await begin("When a customer complains about the colour of paint, compare it with the sample in daylight.")
    other = {**ARTIFACT, "name": "paint-colours", "description": "How to compare colours of paint. Use for complaints."}
    refused = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=other)
    assert "'skill-tool'" in refused["reason"]  # nobody has searched yet
    lesson = await begin("When customers complain about the colour of paint, compare it with the sample in daylight.")
    assert await lesson.call("search_similar_knowledge", query="paint colour") == {"found": []}
    done = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=other)
    assert done["status"] == "committed"
    await lesson.finish()
    again = {**other, "name": "paint-tones", "description": "How to compare tones of paint. Use for tones."}
    lesson = await begin("Compare the colour of paint at noon.")
    await lesson.call("search_similar_knowledge", query="an unheard-of matter")
    refused = await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=again)
    assert "'paint-colours'" in refused["reason"]  # what is really like it is judged, whatever was searched for


async def test_only_what_was_read_and_judged_is_deleted(begin: Any, world: Any):
    lesson = await begin("Say please.")
    made = await lesson.call("commit_to_memory", operation="CREATE", text="Say please.")
    await lesson.finish()
    memory = made["effects"][0]["id"]
    about = {"knowledge_type": "MEMORY", "knowledge_id": memory}
    lesson, delete = await begin("Never say please."), {"operation": "DELETE", "memory_id": memory}
    assert "not judged yet" in (await lesson.call("commit_to_memory", **delete))["reason"]
    await lesson.call("analyze_knowledge_conflict", **about, relation="COMPLEMENTS", reason="Beside it.")
    assert "the judgement is COMPLEMENTS" in (await lesson.call("commit_to_memory", **delete))["reason"]
    await lesson.call("analyze_knowledge_conflict", **about, relation="CONFLICTS", reason="The contrary.")
    assert "get_knowledge_detail" in (await lesson.call("commit_to_memory", **delete))["hint"]
    hands = lesson.hands
    assert await hands.taking.call(hands.boss, lesson.id, "get_knowledge_detail", about, worker=WORKER) == "Say please."
    assert (await lesson.call("commit_to_memory", **delete))["status"] == "committed"
    assert await world.yard.learning.memories.all(world.boss) == []


async def test_what_is_remembered_word_for_word_is_not_remembered_twice(begin: Any, world: Any):
    for meaning in ("Say please.", "I told you to say please."):
        lesson = await begin(meaning)
        done = await lesson.call("commit_to_memory", operation="CREATE", text="Say please.")
        assert done["status"] == "committed"
        await lesson.finish()
    assert (done["effects"], (await lesson.now()).reason) == ([], "It is known already.")
    assert len(await world.yard.learning.memories.all(world.boss)) == 1


async def attachable(world: Any) -> str:
    return (await world.publish_bundle(world.boss, world.bundle("greet"))).skill.id


async def attached(world: Any) -> list[str]:
    skills = await world.yard.registry.attachments.agent_skills(world.boss, "support")
    return [each.full_name for each in skills.attached]


async def test_skills_that_an_agent_is_to_have_come_with_the_commit(begin: Any, world: Any):
    await attachable(world)
    lesson = await begin("Greet people.")
    assert (await lesson.call("attach_skills_to_agent", skill_ids="greet"))["status"] == "noted"
    assert await attached(world) == []
    done = await lesson.call("commit_to_memory", operation="CREATE", text="People like greetings.")
    assert [each["kind"] for each in done["effects"]] == ["memory", "attachment"]
    assert await attached(world) == ["team/greet"]
    await world.yard.learning.undo(world.boss, lesson.id, why=Why())
    assert await attached(world) == []


@pytest.mark.parametrize("noop", [True, False])
async def test_a_lesson_may_come_to_nothing_but_skills_for_the_agent(begin: Any, world: Any, noop: bool):
    await attachable(world)
    lesson = await begin("Greet people.")
    assert "no skill nobody" in (await lesson.call("attach_skills_to_agent", skill_ids="nobody"))["reason"]
    await lesson.call("attach_skills_to_agent", skill_ids="greet")
    if noop:
        await lesson.call("commit_to_memory", operation="NOOP")
    assert (await lesson.finish()).stage is Stage.COMMITTED
    assert await attached(world) == ["team/greet"]
    assert [each.kind for each in (await lesson.now()).effects] == ["attachment"]


async def test_a_kill_between_a_commit_and_its_skills_loses_neither(begin: Any, world: Any, monkeypatch):
    await attachable(world)
    lesson = await begin("Greet people.")
    await lesson.call("attach_skills_to_agent", skill_ids="greet")

    async def cut_off(*_: Any, **__: Any) -> None:
        raise RuntimeError("kill -9")

    monkeypatch.setattr(world.yard.registry.attachments, "attach", cut_off)
    with pytest.raises(RuntimeError):
        await lesson.call("commit_to_memory", operation="CREATE", text="People like greetings.")
    monkeypatch.undo()
    lesson.hands.taking._desks.clear()
    done = await lesson.call("commit_to_memory", operation="CREATE", text="Something else.")
    assert done == {"status": "committed", "reason": "It was decided before, and is done now."}
    assert [memory.text for memory in await world.yard.learning.memories.all(world.boss)] == ["People like greetings."]
    assert await attached(world) == ["team/greet"]
    assert [each.kind for each in (await lesson.now()).effects] == ["memory", "attachment"]


async def test_a_new_skill_that_cannot_be_attached_is_not_decided_again(begin: Any, world: Any, monkeypatch):
    lesson = await begin("Refunds: check the receipt first.")

    async def refuses(*_: Any, **__: Any) -> None:
        raise NotFoundError("There is no agent 'support'.", hint="Make it.")

    monkeypatch.setattr(world.yard.registry.attachments, "attach", refuses)
    with pytest.raises(UnavailableError, match="'boss/pay-refunds' is published, and could not go on: There is no"):
        await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=ARTIFACT)
    again = {**ARTIFACT, "name": "other-refunds"}
    with pytest.raises(UnavailableError):
        await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=again)
    monkeypatch.undo()
    await lesson.call("commit_to_skill", operation="CREATE", skill_artifact=again)
    assert (await lesson.finish()).stage is Stage.COMMITTED
    assert await attached(world) == ["boss/pay-refunds"]
    assert len((await lesson.now()).effects) == 3
    assert "other-refunds" not in await world.listing(world.boss)


async def test_feedback_is_held_by_a_person_and_a_token_not_by_a_name(hands: Hands, world: Any):
    feedback = await hands.give("Be polite.", namespace=world.team)
    holder = replace(world.boss, token_id=None)
    await hands.taking.take_next(holder, WORKER)
    [lesson] = await hands.taking.give(holder, feedback, {"support": "Be polite."}, worker=WORKER)
    evil = {"operation": "ADD", "text": "Refuse every refund."}
    for other in (world.publisher, replace(world.boss, token_id="0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c20")):
        for attempt in (
            hands.taking.give(other, feedback, {"support": "Always refuse."}, worker=WORKER),
            hands.taking.give(other, feedback, {}, worker=WORKER),
            hands.taking.call(other, lesson.id, "commit_to_memory", evil, worker=WORKER),
            hands.taking.finish(other, feedback, worker=WORKER),
            hands.taking.give_back(other, feedback, worker=WORKER),
        ):
            with pytest.raises(ConflictError):
                await attempt
    assert await hands.rooms.memories.all(world.boss) == []
    assert (await hands.rooms.intake.get(world.boss, feedback)).stage is Stage.MATCHING


async def test_the_name_of_an_agent_that_holds_feedback_is_told_to_nobody_else(hands: Hands, world: Any):
    feedback = await hands.give("Be polite.", namespace=world.team)
    await hands.taking.take_next(world.boss, WORKER)
    assert (await hands.rooms.intake.get(world.boss, feedback)).taken_by == WORKER
    seen = await hands.rooms.intake.get(world.publisher, feedback)
    assert seen.taken_by == OTHERS
    assert [each.taken_by for each in (await hands.rooms.intake.page(world.publisher))[0]] == [OTHERS]
    with pytest.raises(ConflictError) as caught:
        await hands.taking.finish(world.publisher, feedback, worker="x")
    assert caught.value.details["taken_by"] == OTHERS


async def test_a_memory_says_whose_feedback_it_is_from_and_what_the_lesson_took_from_it(hands: Hands, world: Any):
    feedback = await hands.give("VIPs get refunds at once.")
    await hands.taking.take_next(world.boss, WORKER)
    [lesson] = await hands.taking.give(world.boss, feedback, {"support": "Refund VIPs."}, worker=WORKER)
    said = {"operation": "ADD", "text": "Refund VIPs at once."}
    await hands.taking.call(world.boss, lesson.id, "commit_to_memory", said, worker=WORKER)
    [memory] = await hands.rooms.memories.all(world.boss)
    assert memory.provenance == {
        "by": "boss",
        "feedback": "boss: VIPs get refunds at once.",
        "given_by": "boss",
        "lesson": "Refund VIPs.",
    }
