"""Servers that are killed at every place of a job: the next one goes on, and the end is as if none had been killed."""

import asyncio
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.models import EntryRow
from skillyard.jobs.rows import OPEN
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.models import CandidateRow, EvaluationRow, MiningRow, SkillRunRow
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec

COUNTING = Path(__file__).parents[1] / "counting_jobs.py"
RELEASES = Path(__file__).with_name("release_jobs_worker.py")
SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
PLACES = ["begun", "in-1", "did-1", "kept-1", "in-2", "did-2", "kept-2", "in-3", "did-3", "kept-3", "finishing"]
"""Where a job is killed, one after the other; after `finished` there is nothing left to do."""
SOME_PLACES = ["begun", "did-2", "finishing"]
MINING_PLACES = ["in-choose", "did-choose", "in-candidate", "did-candidate", "kept-candidate", "finishing"]
EVALUATION_PLACES = ["in-run-0", "did-run-0", "kept-run-0", "did-run-1", "kept-run-1", "finishing"]
PATIENCE = 120
"""Seconds after which a server that says nothing will never do so."""
DONE = [{"number": 1}, {"number": 2}, {"number": 3}]


class Servers:
    """Children of one process that has imported everything."""

    def __init__(self, parent):
        self._parent = parent
        self._heard = queue.Queue()
        self.living = set()
        threading.Thread(target=self._listen, daemon=True).start()

    def start(self, *places):
        """The id of a new server that stands still at the first of the places that it comes to."""
        self._order(f"start {' '.join(places)}")
        pid = self._hear("started")["started"]
        self.living.add(pid)
        self._hear("ready")
        return pid

    def reached(self):
        """Wait until some server stands still."""
        return self._hear("reached")

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        self._order(f"reap {pid}")
        assert self._hear("reaped") == {"reaped": pid, "signal": signal.SIGKILL}
        self.living.discard(pid)

    def _listen(self):
        for line in self._parent.stdout:
            self._heard.put(line)

    def _order(self, line):
        self._parent.stdin.write(f"{line}\n")
        self._parent.stdin.flush()

    def _hear(self, key):
        while True:
            line = json.loads(self._heard.get(timeout=PATIENCE))
            assert "died" not in line, line
            if key in line:
                return line


@contextmanager
def servers_of(script, *places):
    command = [sys.executable, str(script), *map(str, places)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        servers = Servers(parent)
        try:
            yield servers
        finally:
            for pid in servers.living:
                os.kill(pid, signal.SIGKILL)
            parent.kill()


@pytest.fixture
def ask(counting, database_url):
    """Ask the database something."""

    @asynccontextmanager
    async def ledger():
        async with counting.opened(database_url) as database:
            yield counting.Ledger(database)

    def run(scenario):
        async def asked():
            async with ledger() as opened:
                return await scenario(opened)

        return asyncio.run(asked())

    return run


def test_a_job_that_is_killed_at_every_place_ends_as_if_it_were_not(database_url, ask):
    """One job, killed once at each place; each step that was done is done once more only if it was in the middle."""
    places = PLACES if SOAK or database_url.startswith("sqlite") else SOME_PLACES
    ask(lambda ledger: ledger.queue("one"))
    with servers_of(COUNTING, database_url) as servers:
        for place in places:
            pid = servers.start(place)
            assert servers.reached() == {"reached": place, "job": "one", "attempt": 1}
            servers.kill(pid)
        servers.start()
        [row] = ask(lambda ledger: ledger.until_over("one"))
    assert (row.state, row.counted, row.error) == ("done", DONE, None)
    twice = [number for number in (1, 2, 3) if f"did-{number}" in places]
    assert ask(lambda ledger: ledger.times("one")) == [1 + (number in twice) for number in (1, 2, 3)]


def test_what_a_killed_server_had_is_taken_over_by_the_living(database_url, ask):
    """Several jobs at once: those that were under way, and those that were waiting in the queue of the dead."""
    names = [f"job-{number}" for number in range(12)]

    async def queue_all(ledger):
        for name in names:
            await ledger.queue(name)

    with servers_of(COUNTING, database_url) as servers:
        first = servers.start("did-2")
        ask(queue_all)
        servers.reached()
        servers.start()
        servers.kill(first)
        rows = ask(lambda ledger: ledger.until_over(*names))

        async def look(ledger):
            return [await ledger.times(name) for name in names]

        times = ask(look)
    assert [(row.state, row.counted, row.attempts) for row in rows] == [("done", DONE, 1)] * len(names)
    assert all(each in ([1, 1, 1], [1, 2, 1]) for each in times)
    assert [1, 2, 1] in times


@pytest.mark.skipif(not SOAK, reason="for `make soak`")
def test_many_jobs_under_many_kills_are_all_done(database_url, ask):
    """Two servers all the time, one of which is killed again and again, wherever it is."""
    names = [f"job-{number}" for number in range(300)]

    async def queue_all(ledger):
        for name in names:
            await ledger.queue(name)

    async def until_more(ledger):
        """How many are left, once some more of them are done."""
        before = done = (await ledger.states()).get("done", 0)
        while done < min(before + 10, len(names)):
            await asyncio.sleep(0.05)
            done = (await ledger.states()).get("done", 0)
        return len(names) - done

    ask(queue_all)
    kills = 0
    with servers_of(COUNTING, database_url) as servers:
        living = [servers.start(), servers.start()]
        while ask(until_more):
            servers.kill(living.pop(0))
            kills += 1
            living.append(servers.start())
        rows = ask(lambda ledger: ledger.until_over(*names))
    assert kills > 5
    assert {row.state for row in rows} == {"done"}
    assert all(row.counted == DONE for row in rows)


class Learned:
    """Learned skills of one person in a yard that servers work on."""

    def __init__(self, yard, owner):
        self.yard = yard
        self.owner = owner
        yard.jobs._is_following = True  # what is queued here is left to the servers

    async def run_something(self):
        """Runs that are to be learned from."""
        sandbox = await self.yard.sandboxes.sandboxes.create(self.owner, SandboxSpec())
        for command in ("echo one", "echo two", "echo one"):
            await self.yard.sandboxes.runs.shell(self.owner, sandbox.id, command, Wish(learn=True))
        await self.yard.sandboxes.sandboxes.delete(self.owner, sandbox.id)

    async def mine(self):
        [job_id] = await self.yard.upkeep.learning_runs.look()
        return job_id

    async def evaluate(self):
        page = await self.yard.releases.candidates.page(self.owner)
        [candidate] = [each for each in page.items if each.summary == "echo one"]
        return (await self.yard.releases.evaluations.begin(self.owner, candidate.id, ReplayWish(runs=2))).id

    async def over(self, rows, job_id):
        async with asyncio.timeout(60):
            while True:
                async with self.yard.database.read() as session:
                    row = await session.get_one(rows, job_id)
                if row.state not in OPEN:
                    return row
                await asyncio.sleep(0.05)

    async def end_state(self):
        """Everything that came of it, without what is different each time."""
        async with self.yard.database.read() as session:
            candidates = list(await session.scalars(select(CandidateRow).order_by(CandidateRow.summary)))
            executions = [row.id for row in await session.scalars(select(ExecutionRow).where(ExecutionRow.learn))]
            notes = await session.scalars(select(ExecutionNoteRow).where(ExecutionNoteRow.execution_id.in_(executions)))
            evaluations = await session.scalars(select(EvaluationRow))
            runs = await session.scalars(select(SkillRunRow).order_by(SkillRunRow.number))
            entries = await session.scalars(select(EntryRow.action).where(EntryRow.action.startswith("candidate.")))
            return {
                "candidates": [
                    (each.summary, each.status, len(each.source_execution_ids), each.latest_pass, each.deleted_at)
                    for each in candidates
                ],
                "learned": [(note.learn_status, note.learn_error) for note in notes],
                "evaluations": [(each.state, each.score, each.verdict, each.attempts) for each in evaluations],
                "runs": [(run.number, run.verdict) for run in runs],
                "history": sorted(entries),
            }


def test_mining_and_evaluating_killed_at_every_step_end_as_if_they_were_not(database_url, tmp_path):
    """The whole way from runs to a verdict, with a kill at each place of each job."""
    if not (SOAK or database_url.startswith("sqlite")):
        pytest.skip("for `make soak`")
    settings = Settings(home=tmp_path / "home", database_url=database_url, sandbox_backend="unsafe")

    @asynccontextmanager
    async def opened():
        async with open_yard(settings) as yard:
            yield Learned(yard, await yard.access.operator("worker"))

    async def asking(question):
        async with opened() as learned:
            return await question(learned)

    def ask(question):
        return asyncio.run(asking(question))

    async def begin(learned):
        await learned.run_something()
        return await learned.mine()

    def killed_at_each(servers, places):
        for place in places:
            pid = servers.start(place)
            assert servers.reached() == {"reached": place}
            servers.kill(pid)

    mining = ask(begin)
    with servers_of(RELEASES, settings.home, database_url) as servers:
        killed_at_each(servers, MINING_PLACES)
        servers.start()
        assert ask(lambda learned: learned.over(MiningRow, mining)).found["examined"] == 3
        for pid in list(servers.living):
            servers.kill(pid)
        evaluation = ask(lambda learned: learned.evaluate())
        killed_at_each(servers, EVALUATION_PLACES)
        servers.start()
        ask(lambda learned: learned.over(EvaluationRow, evaluation))
        end = ask(lambda learned: learned.end_state())
    assert end == {
        "candidates": [("echo one", "draft", 2, None, None), ("echo two", "draft", 1, None, None)],
        "learned": [("processed", None)] * 3,
        "evaluations": [("done", 1.0, "inconclusive", 1)],
        "runs": [(0, "PASS"), (1, "PASS")],
        "history": ["candidate.created", "candidate.created", "candidate.evaluated"],
    }
