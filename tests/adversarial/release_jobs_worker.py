"""Servers that mine and evaluate, to be killed at any place of a job.

`release_jobs_worker.py HOME DATABASE` reads `start PLACE…`, which makes a child that works on jobs and stands still
when it comes to one of the places, and `reap PID`, which waits for its end. Each line that it prints is a fact.
"""

import asyncio
import gc
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.jobs.work import Job
from skillyard.releases import mining_jobs
from skillyard.releases.mining.sequences import MinedSequence, MiningResult
from skillyard.releases.payloads import Payload, PayloadKind, Step, StepType


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def each_command_once(sessions, *, chosen=False):
    """Takes every command for a task of its own: what is tested is not what mining finds."""
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
    return MiningResult(sequences=tuple(sequences), examined=len(evidence))


class Standstill:
    """Makes jobs stand still at some places: `in-STEP`, `did-STEP`, `kept-STEP` and `finishing`."""

    def __init__(self, places):
        self._places = places
        self._step = Job.step
        self._finish = Job.finish

    def set_up(self):
        standstill = self

        async def step(job, name, doing):
            short = name.partition("-")[0] if name.startswith("candidate-") else name

            async def watched():
                await standstill.reach(f"in-{short}")
                value = await doing()
                await standstill.reach(f"did-{short}")
                return value

            value = await standstill._step(job, name, watched)
            await standstill.reach(f"kept-{short}")
            return value

        async def finish(job, transaction, **values):
            await standstill._finish(job, transaction, **values)
            await standstill.reach("finishing")

        Job.step, Job.finish = step, finish

    async def reach(self, place):
        if place in self._places:
            say(reached=place)
            await asyncio.Event().wait()


def settings_of(home, database):
    return Settings(home=Path(home), database_url=database, sandbox_backend="unsafe")


async def serve(settings, places):
    mining_jobs.mine = each_command_once
    Standstill(places).set_up()
    async with open_yard(settings) as yard:
        assert yard.releases is not None  # whose work is known from now on
        say(ready=os.getpid())
        await yard.jobs.follow()


async def warm_up():
    """Do once, on another store, what is slower the first time."""
    import skillyard.jobs.durable
    import skillyard.jobs.postgres_locks  # noqa: F401 -- slow to import

    with tempfile.TemporaryDirectory() as home:
        async with open_yard(settings_of(home, None)) as yard:
            await yard.access.operator("worker")
    gc.freeze()  # collecting in a child would copy the memory that it shares


def main(home, database):
    asyncio.run(warm_up())
    for line in iter(sys.stdin.readline, ""):
        order, *words = line.split()
        if order == "start":
            child = os.fork()
            if child == 0:
                try:
                    asyncio.run(serve(settings_of(home, database), words))
                finally:
                    say(died=os.getpid())  # of something else than a kill
            say(started=child)
        else:
            _, status = os.waitpid(int(words[0]), 0)
            say(reaped=int(words[0]), signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
