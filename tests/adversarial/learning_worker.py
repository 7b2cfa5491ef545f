"""Servers that learn from feedback, to be killed at any place of it.

`learning_worker.py HOME DATABASE MODEL` reads `start PLACE…`, which makes a child that works on feedback and stands
still when it comes to one of the places, and `reap PID`, which waits for its end. Where one of the words is
`approve=PROPOSAL`, the child approves that instead; with `poll=SOURCE`, `page=ROWS` and `hours=HOURS` it looks there,
so much later. Each line that it prints is a fact.
"""

import asyncio
import gc
import json
import os
import sys
import tempfile
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

from skillyard.app.yard import open_yard
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.jobs.work import Job
from skillyard.learning.commits import Commits
from skillyard.learning.decisions import Decisions
from skillyard.learning.intake import Intake
from skillyard.learning.lessons import Lessons
from skillyard.learning.skills.applying import SkillApplier
from skillyard.learning.sources import tables
from skillyard.learning.sources.polling import Polling


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Standstill:
    """Makes jobs stand still: `in-`, `did-` and `kept-` a step, `settled-`, `published-` and `applied-` an agent.

    Those who approve stand still when they have `claimed`, `published`, `made` and `ended`; those who poll when they
    have `read` and `taken` some, have `moved` on, and when it is `over`.
    """

    def __init__(self, places):
        self._places = places
        self._agent = ""

    def set_up(self):
        do_step, lesson_of = Job.step, Lessons.get

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

        Job.step = step
        self._after(Job, "finish", "finishing")
        self._after(Lessons, "settle", "settled")
        self._after(Commits, "do", "applied")
        self._before(SkillApplier, "_attach", "published")
        self._before(Decisions, "_carry_out", "claimed")
        self._after(Commits, "apply", "made")
        self._after(Decisions, "_end", "ended")
        self._before(Polling, "_take", "read")
        self._after(Intake, "take", "taken")
        self._after(Polling, "_renew", "moved")
        self._before(Polling, "_let_go", "over")

    def _after(self, owner, name, place):
        do = getattr(owner, name)

        async def done(*args, **more):
            value = await do(*args, **more)
            await self.reach(self._here(place))
            return value

        setattr(owner, name, done)

    def _before(self, owner, name, place):
        do = getattr(owner, name)

        async def doing(*args, **more):
            await self.reach(self._here(place))
            return await do(*args, **more)

        setattr(owner, name, doing)

    def _here(self, place):
        return f"{place}-{self._agent}" if self._agent and place != "finishing" else place

    async def reach(self, place):
        if place in self._places:
            say(reached=place)
            await asyncio.Event().wait()


def settings_of(home, database, model):
    named = {"model": "openai:scripted", "model_base_url": model}
    return Settings(home=Path(home), database_url=database, sandbox_backend="unsafe", **named)


async def serve(settings, words):
    standstill = Standstill(words)
    standstill.set_up()
    orders = dict(word.split("=", 1) for word in words if "=" in word)
    async with open_yard(settings) as yard:
        standstill.lessons = yard.learning.lessons
        standstill.boss = boss = await yard.access.operator("worker")
        say(ready=os.getpid())
        if "approve" in orders:
            await yard.learning.approve(boss, orders["approve"], why=Why(reason="approved"))
        elif "poll" in orders:
            tables.PAGE = int(orders["page"])
            now = utc_now() + timedelta(hours=float(orders["hours"]))
            say(
                polled=asdict(
                    await Polling(yard.database, yard.learning.intake, clock=lambda: now).poll(orders["poll"])
                )
            )
        else:
            await yard.jobs.follow()
        await asyncio.Event().wait()


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
