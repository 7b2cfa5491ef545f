"""Mining carried out by jobs: what is looked through, what becomes of it, and what is said beside the runs."""

import asyncio
import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import select

from skillyard.clock import utc_now
from skillyard.errors import UnavailableError
from skillyard.releases import mining_jobs, mining_material
from skillyard.releases.learning_runs import LearningRuns
from skillyard.releases.mining.sequences import MinedSequence, MiningResult
from skillyard.releases.mining_requests import MINING
from skillyard.releases.models import MiningRow
from skillyard.releases.payloads import Payload, PayloadKind, Step, StepType
from skillyard.sandbox.execution_log import ExecutionLog
from skillyard.sandbox.executions import ExecType, Run, Said
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio


def each_command_once(sessions, *, chosen=False):
    """Takes every command for a task of its own, whatever mining thinks of it."""
    evidence = {}
    for session in sessions:
        for entry in session.entries:
            evidence.setdefault(entry.execution.code, []).append(entry.execution.id)
    sequences = [
        MinedSequence(
            canonical=hashlib.sha256(code.encode()).hexdigest(),
            payload=Payload(kind=PayloadKind.CODE, steps=(Step(type=StepType.SHELL, text=code),)),
            skill_key=f"do-{code.partition(' ')[0]}",
            summary=code,
            execution_ids=tuple(ids),
            repeats=len(ids),
        )
        for code, ids in sorted(evidence.items())
    ]
    return MiningResult(sequences=tuple(sequences), examined=sum(map(len, evidence.values())))


class Mining:
    """Runs of one person, written down as if they had been made, and what is mined of them."""

    def __init__(self, world):
        self.yard = world.yard
        self.owner = world.publisher
        self.moment = utc_now() - timedelta(hours=1)
        self.log = ExecutionLog(self.yard.database, self.yard.blobs, clock=lambda: self.moment)
        self.candidates = self.yard.releases.candidates

    async def sandbox(self):
        return await self.yard.sandboxes.sandboxes.create(self.owner, SandboxSpec())

    async def ran(self, sandbox, code, *, learn=True, tags=None, output=""):
        run = Run(
            exec_type=ExecType.SHELL,
            code=code,
            success=True,
            ending="exited",
            exit_code=0,
            seconds=0.1,
            output=output,
            error=None,
            learn=learn,
            said=Said(tags=tags),
        )
        self.moment += timedelta(seconds=1)
        return (await self.log.add(sandbox, None, run, touch=False)).id

    async def mine(self, **asked):
        mining = await self.yard.releases.mining.begin(self.owner, **asked)
        return await self.done(mining.id)

    async def done(self, mining_id):
        await self.yard.jobs.run(MINING, mining_id)
        async with self.yard.database.read() as session:
            return await session.get_one(MiningRow, mining_id)

    async def evidence(self):
        """What the candidates are, with the runs that speak for each."""
        page = await self.candidates.page(self.owner)
        return {each.summary: sorted(each.source_execution_ids) for each in page.items}

    async def status(self, sandbox, execution_id):
        return await self.log.get(sandbox.id, execution_id)

    async def queued(self):
        async with self.yard.database.read() as session:
            query = select(MiningRow).where(MiningRow.owner_id == self.owner.person_id)
            return list(await session.scalars(query.order_by(MiningRow.created_at)))


@pytest.fixture
def mining(world, monkeypatch):
    monkeypatch.setattr(mining_jobs, "mine", each_command_once)
    return Mining(world)


async def test_what_is_found_becomes_candidates_and_the_runs_are_processed(mining):
    sandbox = await mining.sandbox()
    first, second = await mining.ran(sandbox, "ls -l"), await mining.ran(sandbox, "cat file")
    row = await mining.mine(sandbox_ids=[sandbox.id])
    assert (row.state, row.found["examined"], row.found["refused"]) == ("done", 2, [])
    assert await mining.evidence() == {"ls -l": [first], "cat file": [second]}
    assert sorted(row.found["candidates"]) == sorted(row.found["created"])
    for execution_id in (first, second):
        told = await mining.status(sandbox, execution_id)
        assert (told.learn_status, told.learn_error) == ("processed", None)
        assert told.learn_processed_at is not None


async def test_a_task_that_is_done_again_adds_to_the_candidate_that_there_is(mining):
    sandbox = await mining.sandbox()
    first = await mining.ran(sandbox, "ls -l")
    before = await mining.mine(sandbox_ids=[sandbox.id])
    second = await mining.ran(sandbox, "ls -l")
    row = await mining.mine(execution_ids=[second])
    assert row.found["candidates"] == before.found["candidates"]
    assert row.found["created"] == []
    assert await mining.evidence() == {"ls -l": sorted([first, second])}


async def test_what_was_thrown_away_does_not_come_back_without_new_evidence(mining):
    sandbox = await mining.sandbox()
    await mining.ran(sandbox, "ls -l")
    row = await mining.mine(sandbox_ids=[sandbox.id])
    await mining.candidates.delete(mining.owner, row.found["created"][0])
    newer = await mining.ran(sandbox, "cat file")
    await mining.mine(execution_ids=[newer])
    assert await mining.evidence() == {"cat file": [newer]}


async def test_only_what_was_asked_for_is_looked_through(mining):
    here, there = await mining.sandbox(), await mining.sandbox()
    await mining.ran(here, "ls -l", learn=False)
    since = mining.moment + timedelta(milliseconds=500)
    later = await mining.ran(here, "cat file", learn=False)
    await mining.ran(there, "rm file", learn=False)
    await mining.mine(sandbox_ids=[here.id], since=since)
    assert await mining.evidence() == {"cat file": [later]}
    assert (await mining.status(here, later)).learn_status is None


async def test_replays_are_no_evidence(mining):
    sandbox = await mining.sandbox()
    await mining.ran(sandbox, "ls -l", tags="skill-replay")
    await mining.yard.sandboxes.sandboxes.delete(mining.owner, sandbox.id)
    assert await LearningRuns(mining.yard.database, mining.yard.jobs).look() == []
    assert (await mining.mine()).found["examined"] == 0
    assert await mining.evidence() == {}


async def test_no_more_is_looked_through_at_once_than_there_is_room_for(mining, monkeypatch):
    monkeypatch.setattr(mining_material, "MAX_CHARACTERS", 1000)
    sandbox = await mining.sandbox()
    older = await mining.ran(sandbox, "ls -l", output="o" * 600)
    newer = await mining.ran(sandbox, "cat file", output="n" * 600)
    assert (await mining.mine()).found["examined"] == 1
    assert (await mining.status(sandbox, newer)).learn_status == "processed"
    assert (await mining.status(sandbox, older)).learn_status == "pending"


async def test_the_runs_of_others_are_out_of_reach(mining, world):
    sandbox = await mining.sandbox()
    execution = await mining.ran(sandbox, "ls -l")
    asked = await world.yard.releases.mining.begin(world.editor, execution_ids=[execution], sandbox_ids=[sandbox.id])
    row = await mining.done(asked.id)
    assert (row.state, row.found["candidates"], row.found["examined"]) == ("done", [], 0)
    assert (await mining.status(sandbox, execution)).learn_status == "pending"


async def test_runs_to_learn_from_are_looked_through_once_their_sandbox_is_quiet(mining):
    now = [mining.moment]
    quiet = LearningRuns(mining.yard.database, mining.yard.jobs, quiet=timedelta(seconds=30), clock=lambda: now[0])
    sandbox = await mining.sandbox()
    await mining.yard.sandboxes.runs.shell(mining.owner, sandbox.id, "true")  # so that it is running
    mining.moment = utc_now()
    execution = await mining.ran(sandbox, "ls -l")
    now[0] = mining.moment + timedelta(seconds=29)
    await quiet.look()
    assert await mining.queued() == []
    now[0] = mining.moment + timedelta(seconds=31)
    await asyncio.gather(quiet.look(), quiet.look())
    [row] = await mining.queued()
    await mining.done(row.id)
    assert await mining.evidence() == {"ls -l": [execution]}
    assert (await mining.status(sandbox, execution)).learn_status == "processed"
    await quiet.look()
    assert len(await mining.queued()) == 1


async def test_runs_of_a_sandbox_that_is_gone_are_looked_through_at_once(mining):
    looks = LearningRuns(mining.yard.database, mining.yard.jobs)
    sandbox = await mining.sandbox()
    mining.moment = utc_now()
    execution = await mining.ran(sandbox, "ls -l")
    await mining.yard.sandboxes.sandboxes.delete(mining.owner, sandbox.id)
    await looks.look()
    [row] = await mining.queued()
    assert row.asked == {"learn": True, "execution_ids": [execution]}
    await mining.done(row.id)
    assert await mining.evidence() == {"ls -l": [execution]}


async def test_runs_that_cannot_be_looked_through_say_why(mining, monkeypatch):
    def broken(sessions, *, chosen=False):
        raise UnavailableError("The dictionary is away.")

    monkeypatch.setattr(mining_jobs, "mine", broken)
    looks = LearningRuns(mining.yard.database, mining.yard.jobs)
    sandbox = await mining.sandbox()
    execution = await mining.ran(sandbox, "ls -l")
    monkeypatch.setattr("skillyard.jobs.attempts.RETRY_AFTER", ())
    await looks.look()
    [row] = await mining.queued()
    assert (await mining.done(row.id)).state == "failed"
    told = await mining.status(sandbox, execution)
    assert (told.learn_status, told.learn_error) == ("failed", "The dictionary is away.")
    assert told.learn_processed_at is not None


async def test_a_trace_that_is_lost_keeps_nothing_else_from_being_learned(mining, monkeypatch):
    seen = {}

    def look(sessions, *, chosen=False):
        seen.update({entry.execution.id: entry.trace for session in sessions for entry in session.entries})
        return MiningResult(sequences=(), examined=0)

    monkeypatch.setattr(mining_jobs, "mine", look)
    sandbox = await mining.sandbox()
    lost, kept = [await browsed(mining, sandbox, number) for number in range(2)]
    hashes = await mining.yard.blobs.put(trace_bytes(0))
    await mining.yard.blobs.delete(hashes)
    assert (await mining.mine(sandbox_ids=[sandbox.id])).state == "done"
    assert seen[lost] is None
    assert seen[kept]["steps"] == [1]


def trace_bytes(number):
    return b'{"steps": [%d]}' % number


async def browsed(mining, sandbox, number):
    run = Run(
        exec_type=ExecType.BROWSER,
        code=f"open {number}",
        success=True,
        ending="exited",
        exit_code=None,
        seconds=0.1,
        output="",
        error=None,
        trace={"steps": [number]},
    )
    mining.moment += timedelta(seconds=1)
    return (await mining.log.add(sandbox, None, run, touch=False)).id
