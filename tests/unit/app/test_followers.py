import asyncio
import logging
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from skillyard.app.followers import (
    FORGET_EVERY,
    POLL_EVERY,
    RESUME_EVERY,
    SAVE_LAST_USED_EVERY,
    SWEEP_EVERY,
    TAKEN_EVERY,
    following,
)
from skillyard.errors import UsageError
from skillyard.releases.learning_runs import LOOK_SECONDS
from skillyard.sandbox.sweep import SWEEP_SECONDS

pytestmark = pytest.mark.anyio
WATCH_SECONDS = 61.0


@dataclass
class Work:
    """A yard whose tidying is counted, and pauses that last until they are ended."""

    done: list = field(default_factory=list)
    pauses: dict = field(default_factory=dict)
    fails: bool = False
    followed: bool = False

    @property
    def yard(self):
        access, orphans = SimpleNamespace(save_last_used=self.save), SimpleNamespace(sweep=self.sweep)
        registry = SimpleNamespace(usage=SimpleNamespace(sweep=self.forget))
        search = SimpleNamespace(index=SimpleNamespace(follow=self.follow))
        refused = SimpleNamespace(sweep=self.drop)
        sandboxes = SimpleNamespace(sweep=SimpleNamespace(run=self.sweep_sandboxes), running=None)
        injection = SimpleNamespace(follow=self.follow_changes)
        upkeep = SimpleNamespace(
            learning_runs=SimpleNamespace(look=self.look),
            watch=SimpleNamespace(tick=self.watch),
            watch_seconds=WATCH_SECONDS,
        )
        return SimpleNamespace(
            access=access,
            orphans=orphans,
            registry=registry,
            search=search,
            refused=refused,
            vectors=None,
            sandboxes=sandboxes,
            injection=injection,
            jobs=SimpleNamespace(follow=self.follow),
            upkeep=upkeep,
            learning=SimpleNamespace(
                models=SimpleNamespace(configured=False),
                sources=SimpleNamespace(poll_due=self.poll),
                taking=SimpleNamespace(queue_expired=self.take_back),
                decisions=SimpleNamespace(resume=self.go_on),
            ),
            database=None,
        )

    async def follow(self, pause):
        self.followed = True
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.followed = False

    async def follow_changes(self, _running, _database, pause):
        await self.follow(pause)

    async def look(self):
        self.done.append("look")

    async def watch(self):
        self.done.append("watch")

    async def poll(self):
        self.done.append("poll")

    async def go_on(self):
        self.done.append("go on")

    async def take_back(self):
        self.done.append("take back")

    async def sweep_sandboxes(self):
        self.done.append("sandboxes")

    async def save(self):
        self.done.append("save")

    async def forget(self):
        self.done.append("forget")

    async def drop(self):
        self.done.append("drop")

    async def sweep(self):
        self.done.append("sweep")
        if self.fails:
            raise OSError("the disk is gone")

    async def pause(self, seconds):
        self.pauses[seconds] = asyncio.get_running_loop().create_future()
        await self.pauses[seconds]

    async def end(self, seconds):
        """End a pause, and let the work after it be done."""
        await asyncio.sleep(0)
        self.pauses.pop(seconds).set_result(None)
        for _ in range(5):
            await asyncio.sleep(0)
        assert seconds in self.pauses


async def test_each_kind_of_work_is_done_after_its_own_pause():
    work = Work()
    async with following(work.yard, pause=work.pause):
        await work.end(SAVE_LAST_USED_EVERY)
        await work.end(SWEEP_EVERY)
        await work.end(SAVE_LAST_USED_EVERY)
        await work.end(FORGET_EVERY)
        await work.end(SWEEP_SECONDS)
        await work.end(LOOK_SECONDS)
        await work.end(WATCH_SECONDS)
        await work.end(POLL_EVERY)
        await work.end(TAKEN_EVERY)
        await work.end(RESUME_EVERY)
        tidied = ["save", "sweep", "save", "forget", "drop", "sandboxes", "look", "watch", "poll", "take back", "go on"]
        assert work.done == tidied


async def test_what_is_not_saved_yet_is_saved_at_the_end_and_nothing_goes_on():
    work = Work()
    async with following(work.yard, pause=work.pause):
        await asyncio.sleep(0)
        assert work.followed
    assert not work.followed
    assert work.done == ["save"]
    assert all(pause.cancelled() for pause in work.pauses.values())


async def test_work_that_fails_is_told_and_tried_again(caplog):
    work = Work(fails=True)
    with caplog.at_level(logging.ERROR):
        async with following(work.yard, pause=work.pause):
            await work.end(SWEEP_EVERY)
            await work.end(SWEEP_EVERY)
    assert work.done == ["sweep", "sweep", "save"]
    assert "the disk is gone" in caplog.text


async def test_a_model_is_made_ready_before_the_first_feedback_comes():
    work, loaded = Work(), asyncio.Event()

    async def load():
        loaded.set()

    yard = work.yard
    yard.learning.models = SimpleNamespace(configured=True, load=load)
    async with following(yard, pause=work.pause):
        await asyncio.wait_for(loaded.wait(), 5)


async def test_a_model_that_cannot_be_made_is_told_and_stops_nothing_else(caplog):
    work, asked = Work(), asyncio.Event()

    async def load():
        asked.set()
        raise UsageError("The model 'nowhere:nothing' cannot be used.", hint="Name another.")

    yard = work.yard
    yard.learning.models = SimpleNamespace(configured=True, load=load)
    with caplog.at_level(logging.WARNING):
        async with following(yard, pause=work.pause):
            await asyncio.wait_for(asked.wait(), 5)
    assert "Nothing can be learned: The model 'nowhere:nothing' cannot be used. Name another." in caplog.messages
