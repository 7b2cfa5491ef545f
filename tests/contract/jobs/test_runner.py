"""Durable execution, its beginning and its end: there while there is work, and done without where it cannot be had."""

import asyncio

import pytest

from skillyard.jobs import durable, runner

pytestmark = pytest.mark.anyio
KIND = "counting"


async def until(true):
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0.02)


async def test_it_ends_when_there_is_nothing_to_do_and_forgets_what_is_over(process, ledger, monkeypatch):
    monkeypatch.setattr(runner, "REST_SECONDS", 0.0)
    kept = []

    async def reach(place, job):
        if job.id == "two" and place == "begun":
            kept.extend(await asyncio.to_thread(durable.Durable.one._ids, ["SUCCESS", "PENDING"]))

    async with process(reach, serves=True) as jobs:
        assert durable.Durable.one is None
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        await ledger.until_over("one")
        await until(lambda: durable.Durable.one is None)
        await ledger.queue("two")
        jobs.wake(KIND, "two")
        await ledger.until_over("two")
    assert kept == ["two"]


async def test_whoever_loses_the_lock_stops_and_begins_anew(process, ledger):
    async with process(serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        await ledger.until_over("one")
        before = jobs._runner._durable
        await jobs._locks.give_back(runner.LOCK)
        jobs._runner._lost()
        await until(lambda: jobs._runner._durable is None)
        await ledger.queue("two")
        jobs.wake(KIND, "two")
        [row] = await ledger.until_over("two")
        assert jobs._runner._durable is not before
    assert row.state == "done"


async def test_a_job_that_durable_execution_lost_is_handed_over_again(process, ledger, monkeypatch):
    monkeypatch.setattr(runner, "_CHECK_SECONDS", 0.0)
    swallowed = []
    usual = durable.Durable.hand_over

    async def swallow(self, jobs):
        if swallowed:
            await usual(self, jobs)
        swallowed.extend(jobs)

    monkeypatch.setattr(durable.Durable, "hand_over", swallow)
    async with process(serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        [row] = await ledger.until_over("one")
    assert [one.job_id for one in swallowed] == ["one", "one"]
    assert (row.state, row.attempts) == ("done", 1)


async def test_where_it_cannot_be_had_jobs_are_done_without(process, ledger, monkeypatch, caplog):
    def refuse(self):
        raise OSError("the disk is full")

    monkeypatch.setattr(durable.Durable, "_launch", refuse)
    async with process(serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        [row] = await ledger.until_over("one")
        assert jobs._runner._durable is None
    assert row.state == "done"
    assert "Durable execution cannot be had" in caplog.text
    assert durable.Durable.one is None


async def test_a_step_whose_outcome_cannot_be_kept_is_tried_again_later(process, ledger, counting, monkeypatch):
    async def odd(self, job, number):
        return {"number": {number}}

    monkeypatch.setattr(counting.Counting, "_count", odd)
    async with process(serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        async with asyncio.timeout(60):
            while (row := await ledger.row("one")).error is None:  # noqa: ASYNC110 -- nothing tells of it
                await asyncio.sleep(0.02)
    assert (row.state, row.attempts) == ("queued", 1)
    assert "count-1" in row.error
    assert row.due_at is not None
