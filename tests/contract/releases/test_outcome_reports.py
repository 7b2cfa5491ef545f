"""What agents tell about their tasks: a use always, a run of a release only where it is known that it was used."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from skillyard.errors import NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.registry.skills import Visibility
from skillyard.registry.usage import UsageReport
from skillyard.releases.models import ReleaseRow, SkillRunRow
from skillyard.releases.outcome_reports import OutcomeReport
from skillyard.sandbox.executions import ExecType, Run
from skillyard.usage.events import MAX_VISITOR_OUTCOMES, UsageKind

pytestmark = pytest.mark.anyio
NAME = "greet"
KEY = "sk-live-0123456789abcdefghij"


class Agent:
    """One who loads a learned skill and tells how it went."""

    def __init__(self, learning):
        self.learning = learning
        self.caller = learning.caller
        self.full_name = f"{self.caller.name}/{NAME}"

    async def load(self, *, session="s1", kind="loaded", caller=None, **more):
        used = {"skill": self.full_name, "version": await self.number(), "session": session, **more}
        use = UsageReport(event=UsageKind(kind), **used)
        receipt = await self.learning.yard.registry.usage.report(caller or self.caller, [use])
        assert receipt.recorded == 1

    async def number(self):
        """The version that is in use."""
        skill = await self.learning.skill(NAME)
        (version,) = await self.learning.yard.registry.versions.all(self.caller, skill.id)
        return version.version

    async def tell(self, *, succeeded=True, session="s1", caller=None, **more):
        report = OutcomeReport(skill=self.full_name, succeeded=succeeded, session=session, **more)
        return await self.learning.rooms.outcomes.report(caller or self.caller, report)

    async def runs(self):
        return [(run.verdict, run.origin, run.session) for run in await self.learning.rows(SkillRunRow)]

    async def uses(self):
        skill = await self.learning.skill(NAME)
        days = await self.learning.yard.registry.usage.of_skill(self.caller, skill.id)
        return {(day.event.value, day.version): day.count for day in days if day.event.value in {"succeeded", "failed"}}


@pytest.fixture
async def agent(learning):
    learning.release = await learning.released(NAME)
    return Agent(learning)


async def test_an_outcome_of_a_version_that_was_loaded_is_a_run_of_its_release(agent):
    await agent.load()
    told = await agent.tell(succeeded=False, detail=f"It said no. api_key={KEY}", agent="helper")
    assert (told.event, told.recorded, told.release_id, told.remark) == ("failed", True, agent.learning.release.id, "")
    assert await agent.runs() == [("TASK_FAIL", "told", "s1")]
    kept = await agent.learning.log.get(agent.caller, told.run_id)
    assert (kept.release_id, kept.milliseconds) == (agent.learning.release.id, 0)
    assert "It said no." in kept.reason
    assert KEY not in kept.reason
    assert await agent.uses() == {("failed", await agent.number()): 1}
    health = await agent.learning.rooms.health.of(agent.caller, agent.learning.release.id)
    assert (health.samples, health.told) == ((0, 1), 1)


async def test_the_version_that_was_loaded_last_is_meant_where_none_is_named(agent):
    await agent.load()
    told = await agent.tell()
    assert (told.version, told.event) == (await agent.number(), "succeeded")
    assert await agent.runs() == [("PASS", "told", "s1")]


async def test_a_version_may_be_named_by_its_digest(agent):
    await agent.load()
    told = await agent.tell(digest=agent.learning.release.digest)
    assert (told.version, told.release_id) == (await agent.number(), agent.learning.release.id)
    assert told.run_id


async def test_an_outcome_that_is_told_again_counts_once(agent):
    own_id = "x" * 128
    await agent.load(id=own_id)
    first = await agent.tell(id=own_id)
    again = await agent.tell(id=own_id)
    assert (first.recorded, again.recorded) == (True, False)
    assert first.run_id == again.run_id
    assert len(await agent.runs()) == 1
    assert await agent.uses() == {("succeeded", await agent.number()): 1}


@pytest.mark.parametrize("session", ["", "another"])
async def test_without_having_been_loaded_in_the_session_it_is_only_a_use(agent, session):
    await agent.load()
    told = await agent.tell(session=session, version=await agent.number())
    assert (told.recorded, told.run_id) == (True, None)
    assert "not loaded in this session" in told.remark
    assert await agent.runs() == []
    assert await agent.uses() == {("succeeded", await agent.number()): 1}


async def test_each_load_carries_one_outcome(agent):
    await agent.load()
    await agent.load(kind="activated")  # the same use
    assert (await agent.tell()).run_id
    assert (await agent.tell()).run_id is None
    await agent.load()
    assert (await agent.tell()).run_id
    assert len(await agent.runs()) == 2


async def test_what_was_run_in_a_sandbox_that_had_the_release_speaks_for_it_once(agent):
    learning = agent.learning
    learning.sandboxes.log.skills = lambda _: [{"name": NAME, "digest": "d", "release_id": learning.release.id}]
    run = {"exec_type": ExecType.SHELL, "success": True, "ending": "exited", "exit_code": 0, "seconds": 1.0}
    done = Run(code="true", output="", error=None, **run)
    execution = await learning.sandboxes.log.add(await learning.sandbox(), None, done)
    learning.sandboxes.log.skills = lambda _: []
    other = await learning.sandboxes.log.add(await learning.sandbox(), None, done)
    named = {"digest": learning.release.digest, "session": ""}
    assert (await agent.tell(execution_ids=[other.id], **named)).run_id is None
    first = await agent.tell(execution_ids=[execution.id, other.id], **named)
    assert (await agent.tell(execution_ids=[execution.id], **named)).run_id == first.run_id
    assert (await learning.log.get(agent.caller, first.run_id)).execution_ids == [execution.id]


async def test_another_person_adds_no_run_and_learns_nothing_of_what_they_may_not_see(agent, world):
    with pytest.raises(NotFoundError):
        await agent.tell(caller=world.stranger)
    skill = await agent.learning.skill(NAME)
    await agent.learning.yard.registry.workbench.show(agent.caller, skill.id, Visibility.PUBLIC, why=Why())
    await agent.load(caller=world.stranger)
    told = await agent.tell(caller=world.stranger, succeeded=False)
    assert (told.recorded, told.release_id, told.run_id) == (True, None, None)
    assert await agent.runs() == []


async def test_a_token_that_may_only_read_adds_a_use_and_no_run(agent):
    await agent.load()
    told = await agent.tell(caller=replace(agent.caller, scope=Scope.READ))
    assert (told.recorded, told.run_id) == (True, None)
    assert "scope 'write'" in told.remark


async def test_a_release_that_is_not_in_use_gets_no_runs(agent):
    await agent.load()
    await agent.learning.releases.kill(agent.caller, agent.learning.release.id)
    told = await agent.tell()
    assert (told.release_id, told.run_id) == (None, None)
    assert told.remark.startswith("Counted as a use of version ")


async def test_a_version_that_is_not_known_is_said_to_be(agent):
    assert "no version '9.9.9'" in (await agent.tell(version="9.9.9")).remark
    assert "Which version was used is not known" in (await agent.tell()).remark


async def test_of_a_skill_that_the_registry_has_by_itself_everyone_who_may_see_it_tells(agent, world):
    learning = agent.learning
    skill = await learning.skill(NAME)
    async with learning.yard.database.write() as transaction:
        of_skill = update(ReleaseRow).where(ReleaseRow.id == learning.release.id).values(skill_id=skill.id)
        await transaction.session.execute(of_skill)
    await learning.yard.registry.workbench.show(agent.caller, skill.id, Visibility.PUBLIC, why=Why())
    await agent.load(caller=world.stranger)
    told = await agent.tell(caller=world.stranger, succeeded=False)
    assert told.release_id == learning.release.id
    kept = await learning.log.get(agent.caller, told.run_id)
    assert (kept.owner_id, kept.verdict) == (agent.caller.person_id, "TASK_FAIL")
    # Sessions are called alike by different people, who do not take each other's loads.
    await agent.load()
    assert (await agent.tell()).run_id
    assert (await agent.tell(caller=world.stranger)).run_id is None
    assert len(await agent.runs()) == 2


async def test_of_a_visitor_more_outcomes_than_are_counted_are_kept_and_said_to_be(agent, world):
    skill = await agent.learning.skill(NAME)
    await agent.learning.yard.registry.workbench.show(agent.caller, skill.id, Visibility.PUBLIC, why=Why())
    told = [await agent.tell(caller=world.stranger, succeeded=False) for _ in range(MAX_VISITOR_OUTCOMES + 1)]
    assert [each.counted for each in told] == [True] * MAX_VISITOR_OUTCOMES + [False]
    assert told[-1].recorded
    assert told[-1].remark.startswith("Kept, but not counted")
    assert (await agent.tell(succeeded=False)).counted
    assert sum((await agent.uses()).values()) == MAX_VISITOR_OUTCOMES + 1
