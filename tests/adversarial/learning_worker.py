"""Servers that learn from feedback, to be killed at any place of it.

`learning_worker.py HOME DATABASE MODEL` reads `start PLACE…`, which makes a child that works on feedback and stands
still when it comes to one of the places, and `reap PID`, which waits for its end. Each line that it prints is a fact.
"""

import asyncio
import gc
import json
import os
import sys
import tempfile
from pathlib import Path

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.jobs.work import Job
from skillyard.learning.commits import Commits
from skillyard.learning.lessons import Lessons
from skillyard.learning.skills.applying import SkillApplier


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Standstill:
    """Makes jobs stand still: `in-`, `did-` and `kept-` a step, `settled-`, `published-` and `applied-` an agent."""

    def __init__(self, places):
        self._places = places
        self._agent = ""

    def set_up(self):
        do_step, finish_job = Job.step, Job.finish
        settle_lesson, commit_draft, attach_skill = Lessons.settle, Commits.commit, SkillApplier._attach
        lesson_of = Lessons.get

        async def step(job, name, doing):
            short = name if name == "match" else ""

            async def watched():
                if not short:
                    self._agent = await agent_of(name.removeprefix("lesson-"))
                await self.reach(f"in-{short or self._agent}")
                value = await doing()
                await self.reach(f"did-{short or self._agent}")
                return value

            value = await do_step(job, name, watched)
            await self.reach(f"kept-{short or self._agent}")
            return value

        async def agent_of(lesson_id):
            return (await lesson_of(self.lessons, self.boss, lesson_id)).agent_id

        async def finish(job, transaction, **values):
            await finish_job(job, transaction, **values)
            await self.reach("finishing")

        async def settle(lessons, lesson_id, draft):
            settled = await settle_lesson(lessons, lesson_id, draft)
            await self.reach(f"settled-{self._agent}")
            return settled

        async def commit(commits, author, draft):
            result = await commit_draft(commits, author, draft)
            await self.reach(f"applied-{self._agent}")
            return result

        async def attach(applier, *args):
            await self.reach(f"published-{self._agent}")
            return await attach_skill(applier, *args)

        Job.step, Job.finish = step, finish
        Lessons.settle, Commits.commit, SkillApplier._attach = settle, commit, attach

    async def reach(self, place):
        if place in self._places:
            say(reached=place)
            await asyncio.Event().wait()


def settings_of(home, database, model):
    named = {"model": "openai:scripted", "model_base_url": model}
    return Settings(home=Path(home), database_url=database, sandbox_backend="unsafe", **named)


async def serve(settings, places):
    standstill = Standstill(places)
    standstill.set_up()
    async with open_yard(settings) as yard:
        standstill.lessons = yard.learning.lessons
        standstill.boss = await yard.access.operator("worker")
        say(ready=os.getpid())
        await yard.jobs.follow()


async def warm_up():
    """Do once, on another store, what is slower the first time."""

    import skillyard.jobs.durable
    import skillyard.jobs.postgres_locks
    import skillyard.llm.agents  # noqa: F401 -- slow to import

    with tempfile.TemporaryDirectory() as home:
        async with open_yard(settings_of(home, None, "http://127.0.0.1:9/v1")) as yard:
            await yard.access.operator("worker")
            assert yard.learning.models.chat
    gc.freeze()  # collecting in a child would copy the memory that it shares


def main(*place):
    asyncio.run(warm_up())
    for line in iter(sys.stdin.readline, ""):
        order, *words = line.split()
        if order == "start":
            child = os.fork()
            if child == 0:
                try:
                    asyncio.run(serve(settings_of(*place), words))
                finally:
                    say(died=os.getpid())  # of something else than a kill
            say(started=child)
        else:
            _, status = os.waitpid(int(words[0]), 0)
            say(reaped=int(words[0]), signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
