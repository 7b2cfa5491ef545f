"""Servers that are killed at every step of learning: what was decided first is what happens, and it happens once."""

import asyncio
import json
import os
from pathlib import Path

from sqlalchemy import select
from tests.adversarial.test_jobs_kills import servers_of
from tests.learning_minds import FINISHED, Mind, call, calls, matching, remember

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.history.models import EntryRow
from skillyard.identity.agents import AgentFields
from skillyard.jobs.rows import OPEN
from skillyard.learning.drafts import Author
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.memories import MemoryWish
from skillyard.learning.models import FeedbackRow
from skillyard.learning.states import LessonState, Operation
from skillyard.llm.scripted import Reply, ScriptedModel

WORKER = Path(__file__).with_name("learning_worker.py")
SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
WHY = Why(reason="a test asked for it")
AGENTS = ["a-memory", "b-other-memory", "c-rule", "d-skill", "e-held"]
PLACES = [
    *(f"{where}-match" for where in ("in", "did", "kept")),
    *(f"{where}-a-memory" for where in ("in", "settled", "applied", "did", "kept")),
    *(f"{where}-b-other-memory" for where in ("settled", "applied")),
    *(f"{where}-c-rule" for where in ("settled", "applied", "did", "kept")),
    *(f"{where}-d-skill" for where in ("settled", "published", "applied", "did", "kept")),
    *(f"{where}-e-held" for where in ("settled", "applied")),
    "finishing",
]
MANY_PLACES = [
    "did-match",
    "settled-a-memory",
    "applied-a-memory",
    "did-a-memory",
    "applied-b-other-memory",
    "applied-c-rule",
    "settled-d-skill",
    "published-d-skill",
    "applied-d-skill",
    "applied-e-held",
    "finishing",
]
SOME_PLACES = ["did-match", "applied-b-other-memory", "published-d-skill"]
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier"}],
    "outputs": [{"id": "percent", "type": "number"}],
    "rules": [{"when": ['"gold"'], "then": [10]}],
}
BODY = "# Kindness\n\n## When to use\n\nAlways, with everyone who writes.\n\n## Steps\n\n1. Say please.\n"
SKILL = {"name": "be-kind", "description": "How to be kind. Use always.", "body_markdown": BODY}


class Fickle(Mind):
    """Would decide otherwise whenever it is asked a second time."""

    def __init__(self, decisions):
        super().__init__(decide=self._decide, match=self._match, write=lambda _: Reply(text=json.dumps(SKILL)))
        self._decisions = decisions
        self._asked = set()

    def _match(self, asked):
        agents = AGENTS if self.matched == 1 else ["z-another"]
        return matching(*agents)(asked)

    def _decide(self, asked, said):
        if said:
            return FINISHED
        agent = asked["agent"]["id"]
        again = agent in self._asked
        self._asked.add(agent)
        return remember(f"Another decision for {agent}.") if again else self._decisions[agent]


async def set_up(yard):
    """Agents, a memory that is to be replaced, and one that a person holds."""
    boss = await yard.access.operator("worker")
    yard.jobs._is_following = True  # what is queued here is left to the servers
    for agent in [*AGENTS, "z-another"]:
        await yard.registry.agents.create(boss, AgentFields(name=agent), agent_id=agent, why=WHY)
    memories, author = yard.learning.memories, Author(principal=boss, lesson_id=None, why=WHY)
    made = []
    for text in ("It takes three days.", "A person holds this."):
        [effect] = await memories.apply(
            await memories.draft(boss, MemoryWish(operation=Operation.CREATE, text=text)), author
        )
        made.append(effect.id)
    await memories.lock(author, made[1], locked=True)
    decisions = {
        "a-memory": remember("Say please."),
        "b-other-memory": calls(call("commit_to_memory", operation="UPDATE", memory_id=made[0], text="Five days.")),
        "c-rule": calls(call("commit_to_dmn_rule", operation="CREATE", name="discount", table=TABLE)),
        "d-skill": calls(call("commit_to_skill", operation="CREATE")),
        "e-held": calls(call("commit_to_memory", operation="UPDATE", memory_id=made[1], text="Nobody holds this.")),
    }
    [taken] = await yard.learning.intake.take(boss, [FeedbackSpec(content="Be kind, and quick.")])
    return decisions, taken.feedback.id


async def over(yard, feedback_id):
    async with asyncio.timeout(60):
        while True:
            async with yard.database.read() as session:
                row = await session.get_one(FeedbackRow, feedback_id)
            if row.state not in OPEN:
                return row
            await asyncio.sleep(0.05)


async def told(yard, feedback_id):
    """What came of it: where it stands, the lessons, and all that changed for them."""
    boss = await yard.access.operator("worker")
    row = await over(yard, feedback_id)
    lessons = await yard.learning.lessons.of(boss, feedback_id)
    async with yard.database.read() as session:
        learned = EntryRow.reason.startswith("Learned from feedback")
        entries = list(await session.scalars(select(EntryRow).where(learned).order_by(EntryRow.number)))
    numbers = [effect.history for lesson in lessons for effect in lesson.effects]
    return {
        "feedback": (row.state, row.stage),
        "lessons": {lesson.agent_id: (lesson.state.value, len(lesson.effects)) for lesson in lessons},
        "history": sorted(entry.action for entry in entries),
        "undoable": sorted(numbers) == [entry.number for entry in entries if entry.action != "proposal.created"],
    }


async def undo_all(yard, feedback_id):
    boss = await yard.access.operator("worker")
    for lesson in await yard.learning.lessons.of(boss, feedback_id):
        if lesson.state is LessonState.COMMITTED:
            await yard.learning.undo(boss, lesson.id, why=WHY)
    memories = [each.text for each in await yard.learning.memories.all(boss) if each.superseded_by is None]
    skills = (await yard.registry.shelf.page(boss)).skills
    return sorted(memories), await yard.learning.rules.all(boss), [each.name for each in skills]


def test_learning_that_is_killed_at_every_step_changes_what_was_decided_first_and_once(database_url, tmp_path):
    quick = MANY_PLACES if database_url.startswith("sqlite") else SOME_PLACES
    places = PLACES if SOAK else quick
    settings = Settings(home=tmp_path / "home", database_url=database_url, sandbox_backend="unsafe")

    def ask(question, *args):
        async def asking():
            async with open_yard(settings) as yard:
                return await question(yard, *args)

        return asyncio.run(asking())

    decisions, feedback_id = ask(set_up)
    mind = Fickle(decisions)
    with (
        ScriptedModel(mind) as model,
        servers_of(WORKER, settings.home, database_url, model.base_url) as servers,
    ):
        for place in places:
            pid = servers.start(place)
            assert servers.reached() == {"reached": place}
            servers.kill(pid)
        servers.start()
        end = ask(told, feedback_id)
    assert end == {
        "feedback": ("done", "proposed"),
        "lessons": {
            "a-memory": ("committed", 1),
            "b-other-memory": ("committed", 2),
            "c-rule": ("committed", 1),
            "d-skill": ("committed", 4),
            "e-held": ("proposed", 0),
        },
        "history": [
            "agent.attached",
            "agent.attached",
            "memory.created",
            "memory.created",
            "memory.updated",
            "proposal.created",
            "rule.created",
            "skill.created",
            "version.published",
        ],
        "undoable": True,
    }
    assert (mind.matched, mind.decided) == (1, len(AGENTS))
    assert ask(undo_all, feedback_id) == (["A person holds this.", "It takes three days."], [], [])
