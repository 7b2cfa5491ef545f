"""Servers that are killed at every step of learning: what was decided first is what happens, and it happens once."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select
from tests.adversarial.test_jobs_kills import servers_of
from tests.learning_minds import FINISHED, Mind, call, calls, matching, remember

from skillyard.app.yard import open_yard
from skillyard.clock import utc_now
from skillyard.config.sections import Learning
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.history.models import EntryRow
from skillyard.identity.agents import AgentFields
from skillyard.jobs.rows import OPEN
from skillyard.learning.committing import Pupil
from skillyard.learning.concluding import conclude
from skillyard.learning.decisions import CUT_OFF_AFTER, Decisions
from skillyard.learning.drafts import Author
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.memories import MemoryWish
from skillyard.learning.models import FeedbackRow
from skillyard.learning.rules.drafting import RuleWish
from skillyard.learning.skill_wish import SkillWish
from skillyard.learning.sources.source import SourceKind
from skillyard.learning.states import LessonState, MergeMode, Operation, ProposalState
from skillyard.llm.budget import Budget
from skillyard.llm.scripted import Reply, ScriptedModel
from skillyard.llm.transcripts import Transcript

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


def asker(settings):
    """Asks a yard that is opened for one question."""

    def ask(question, *args):
        async def asking():
            async with open_yard(settings) as yard:
                return await question(yard, *args)

        return asyncio.run(asking())

    return ask


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
    nobody = {"model": "openai:nobody", "model_base_url": "http://127.0.0.1:9/v1"}  # is asked: the servers are
    settings = Settings(home=tmp_path / "home", database_url=database_url, sandbox_backend="unsafe", **nobody)

    ask = asker(settings)
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
            "d-skill": ("committed", 3),
            "e-held": ("proposed", 0),
        },
        "history": [
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


APPROVAL_PLACES = ["claimed", "made", "ended"]
SKILL_PLACES = ["claimed", "published", "made"]
"""What was approved is then gone on with by a server that nobody asked to."""


async def propose(yard):
    """Proposals of every kind: of lessons, and by hand."""
    boss, rooms = await yard.access.operator("worker"), yard.learning
    yard.jobs._is_following = True
    await yard.registry.agents.create(boss, AgentFields(name="support"), agent_id="support", why=WHY)
    by_hand = Author(principal=boss, lesson_id=None, why=WHY)
    table = {"name": "discount", "table": TABLE}
    rule = await rooms.drafting.draft(boss, RuleWish(operation=Operation.CREATE, **table))
    [made] = await rooms.rules.apply(rule, by_hand)
    row = {**TABLE, "rules": [{"when": ['"silver"'], "then": [5]}]}
    more = RuleWish(operation=Operation.UPDATE, rule_id=made.id, table=row, merge_mode=MergeMode.EXTEND)
    drafts = {
        "memory by hand": await rooms.memories.draft(boss, MemoryWish(operation=Operation.CREATE, text="By hand.")),
        "rule by hand": await rooms.drafting.draft(boss, RuleWish(operation=Operation.CREATE, name="n", table=TABLE)),
        "row by hand": await rooms.drafting.draft(boss, more),
    }
    proposals = {name: (await rooms.commits.commit(by_hand, draft)).proposal_id for name, draft in drafts.items()}
    for name, artifact in (("memory", None), ("skill", SKILL)):
        pupil = await a_pupil(rooms, boss, f"Learn a {name}.")
        if artifact is None:
            wish = MemoryWish(operation=Operation.CREATE, text="Of a lesson.", agent_id="support")
            result = await rooms.committing.commit(pupil, await rooms.memories.draft(boss, wish))
        else:
            asked = {"budget": Budget(), "transcript": Transcript(), "skill_artifact": artifact}
            result = await rooms._skills.commit_to_skill(pupil, SkillWish(operation=Operation.CREATE), **asked)
        await conclude(rooms.lessons, pupil.lesson.id, result)
        proposals[name] = result.proposal_id
    return proposals


async def a_pupil(rooms, boss, content):
    [taken] = await rooms.intake.take(boss, [FeedbackSpec(content=content)])
    [lesson_id] = await rooms.lessons.begin(boss, taken.feedback.id, {"support": content})
    lesson = await rooms.lessons.get(boss, lesson_id)
    return Pupil(principal=boss, feedback=taken.feedback, lesson=lesson)


async def reject(yard, proposal):
    boss = await yard.access.operator("worker")
    try:
        await yard.learning.reject(boss, proposal, why=WHY)
    except ConflictError as error:
        return error.message
    return "rejected"


async def go_on(yard):
    """As a server does some time after another has died."""
    rooms = yard.learning
    late = Decisions(
        yard.database,
        yard.history,
        rooms.commits,
        rooms.policy,
        clock=lambda: utc_now() + CUT_OFF_AFTER + timedelta(seconds=1),
    )
    return await late.resume()


async def decided(yard, proposals):
    """How proposals and their lessons stand, and all that changed on someone's approval."""
    boss, rooms = await yard.access.operator("worker"), yard.learning
    stand = {}
    for name, proposal_id in proposals.items():
        proposal = await rooms.commits.proposal(boss, proposal_id)
        lesson = proposal.lesson_id and await rooms.lessons.get(boss, proposal.lesson_id)
        stand[name] = (proposal.state, lesson and (lesson.state, len(lesson.effects)))
    async with yard.database.read() as session:
        on_approval = EntryRow.reason == "approved"
        return stand, sorted(await session.scalars(select(EntryRow.action).where(on_approval)))


def test_an_approval_that_is_killed_anywhere_is_carried_out_once_and_cannot_be_rejected(database_url, tmp_path):
    settings = Settings(
        home=tmp_path / "home",
        database_url=database_url,
        sandbox_backend="unsafe",
        learning=Learning(memory="review", rules="review", skills="review"),
    )

    ask = asker(settings)
    proposals = ask(propose)
    with servers_of(WORKER, settings.home, database_url, "http://127.0.0.1:9/v1") as servers:
        for name, proposal in proposals.items():
            if name == "skill":
                continue
            for place in APPROVAL_PLACES:
                pid = servers.start(f"approve={proposal}", place)
                assert servers.reached() == {"reached": place}
                servers.kill(pid)
                stands = "approved" if place == "ended" else "being approved"
                assert ask(reject, proposal) == f"The proposal {proposal} is {stands} already."
        for place in SKILL_PLACES:
            pid = servers.start(f"approve={proposals['skill']}", place)
            assert servers.reached() == {"reached": place}
            servers.kill(pid)
    assert ask(go_on) == 1
    assert ask(go_on) == 0
    by_hand, of_lesson = (ProposalState.APPROVED, None), (ProposalState.APPROVED, (LessonState.COMMITTED, 1))
    stand, history = ask(decided, proposals)
    assert stand == {
        "memory by hand": by_hand,
        "rule by hand": by_hand,
        "row by hand": by_hand,
        "memory": of_lesson,
        "skill": (ProposalState.APPROVED, (LessonState.COMMITTED, 3)),
    }
    assert history == [
        "agent.attached",
        "memory.created",
        "memory.created",
        *["proposal.decided"] * 5,
        "rule.created",
        "rule.updated",
        "skill.created",
        "version.published",
    ]


POLLING_PLACES = ["read", "taken", "moved", "taken", "over"]
"""Those who come later come to the same place with another page."""


async def set_up_source(yard, file):
    boss = replace(await yard.access.operator("worker"), operator=True)
    yard.jobs._is_following = True
    place = {"database": f"sqlite:///{file}", "table": "comments", "fields": {"content": "said", "event_id": "id"}}
    source = await yard.learning.sources.create(
        boss, name="desk", kind=SourceKind.TABLE, place=place, every_seconds=60, why=WHY
    )
    return source.id


async def came_in(yard, source_id):
    boss = replace(await yard.access.operator("worker"), operator=True)
    async with yard.database.read() as session:
        said = list(await session.scalars(select(FeedbackRow.content)))
    dead, _ = await yard.learning.sources.dead_letters(boss, source_id)
    return sorted(said), len(dead)


def test_a_source_whose_reader_is_killed_anywhere_is_read_to_its_end_and_each_piece_is_taken_once(
    database_url, tmp_path
):
    """What is taken is durable before the reader moves on; what is read again is known."""
    file = tmp_path / "desk.sqlite"
    with closing(sqlite3.connect(file)) as table:
        table.execute("CREATE TABLE comments (id TEXT, said TEXT)")
        table.executemany("INSERT INTO comments VALUES (?, ?)", [(f"c-{at:02}", f"Comment {at}.") for at in range(17)])
        table.execute("INSERT INTO comments VALUES ('c-99', '')")
        table.commit()
    settings = Settings(home=tmp_path / "home", database_url=database_url, sandbox_backend="unsafe")
    ask = asker(settings)
    source = ask(set_up_source, file)
    with servers_of(WORKER, settings.home, database_url, "http://127.0.0.1:9/v1") as servers:
        for hours, place in enumerate(POLLING_PLACES, start=1):
            pid = servers.start(f"poll={source}", f"hours={hours}", "page=5", place)
            assert servers.reached() == {"reached": place}
            servers.kill(pid)
        servers.start(f"poll={source}", f"hours={len(POLLING_PLACES) + 1}", "page=5")
        polled = servers._hear("polled")["polled"]
    assert (polled["created"], polled["read"], polled["dead"]) == (0, 18, 0)
    assert ask(came_in, source) == (sorted(f"Comment {at}." for at in range(17)), 1)
