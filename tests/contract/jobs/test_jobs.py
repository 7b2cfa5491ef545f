"""Jobs on both engines: queued by a row, done once, in this process or by a server."""

import asyncio
import time

import pytest

from skillyard.errors import InputError, UnavailableError

pytestmark = pytest.mark.anyio
KIND = "counting"


async def test_a_process_without_a_server_does_what_it_queued_itself(process, ledger):
    async with process() as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        [row] = await ledger.until_over("one")
    assert (row.state, row.attempts, row.error) == ("done", 1, None)
    assert row.counted == [{"number": 1}, {"number": 2}, {"number": 3}]
    assert await ledger.times("one") == [1, 1, 1]


async def test_a_server_does_what_others_queued_and_each_step_once(process, ledger):
    async with process(serves=True):
        for number in range(10):
            await ledger.queue(f"job-{number}")
        rows = await ledger.until_over(*(f"job-{number}" for number in range(10)))
    assert {row.state for row in rows} == {"done"}
    assert {row.attempts for row in rows} == {1}
    assert [await ledger.times(row.id) for row in rows] == [[1, 1, 1]] * 10


async def test_a_job_that_may_work_later_is_tried_again_after_a_rest(process, ledger):
    failures = iter([UnavailableError("The network is away."), OSError("the disk is full")])

    async def reach(place, job):
        if place == "in-2" and (error := next(failures, None)):
            raise error

    async with process(reach, serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        errors = []
        async with asyncio.timeout(60):
            while (row := await ledger.row("one")).state != "done":
                if row.state == "queued" and row.error and row.error not in errors:
                    assert row.due_at is not None
                    errors.append(row.error)
                    await ledger.hurry("one")
                    jobs.wake(KIND, "one")
                await asyncio.sleep(0.02)
    assert errors[0] == "The network is away."
    assert "OSError" in errors[1]
    assert (row.attempts, row.error) == (3, None)


async def test_a_job_that_keeps_failing_fails_for_good_and_says_why(process, ledger):
    async def reach(place, job):
        raise UnavailableError("The network is away.")

    async with process(reach) as jobs:
        await ledger.queue("one", attempts=3)
        assert await jobs.run(KIND, "one") == "failed"
        row = await ledger.row("one")
        assert (row.attempts, row.error) == (4, "The network is away.")
        assert row.finished_at is not None
        assert jobs.work.given_up == [("one", "The network is away.")]


async def test_what_is_wrong_in_itself_is_not_tried_again(process, ledger):
    async def reach(place, job):
        raise InputError("There is no such candidate.")

    async with process(reach) as jobs:
        await ledger.queue("one")
        assert await jobs.run(KIND, "one") == "failed"
        assert (await ledger.row("one")).attempts == 1


async def test_a_job_that_only_this_process_can_do_is_left_to_it(process, ledger):
    seen, may_go_on = [], asyncio.Event()

    async def elsewhere(place, job):
        seen.append(job.id)

    async def here(place, job):
        await may_go_on.wait()

    async with process(elsewhere, serves=True), process(here) as jobs:
        async with jobs.kept_here(KIND, "mine"):
            await ledger.queue("mine")
            await ledger.queue("anyones")
        await ledger.until_over("anyones")
        assert (await ledger.row("mine")).state == "running"
        may_go_on.set()
        await ledger.until_over("mine")
    assert set(seen) == {"anyones"}
    assert await ledger.times("mine") == [1, 1, 1]


async def test_a_job_that_could_not_be_queued_is_kept_by_nobody(process, ledger):
    async with process() as jobs:
        with pytest.raises(InputError):
            async with jobs.kept_here(KIND, "one"):
                raise InputError("There is no such candidate.")
        await ledger.queue("one")
        assert await jobs.run(KIND, "one") == "done"


async def test_a_server_that_stops_leaves_its_work_to_the_next_one(process, ledger):
    stuck = asyncio.Event()

    async def reach(place, job):
        if place == "in-3":
            stuck.set()
            await asyncio.Event().wait()

    async with process(reach, serves=True) as jobs:
        await ledger.queue("one")
        jobs.wake(KIND, "one")
        async with asyncio.timeout(60):
            await stuck.wait()
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert (await ledger.row("one")).state == "running"
    async with process(serves=True):
        [row] = await ledger.until_over("one")
    assert (row.state, row.attempts) == ("done", 1)
    assert await ledger.times("one") == [1, 1, 1]


async def test_whoever_waits_for_a_job_goes_on_with_it_when_its_worker_is_gone(process, ledger):
    stuck = asyncio.Event()

    async def reach(place, job):
        stuck.set()
        await asyncio.Event().wait()

    async with process() as waiting:
        async with process(reach) as gone:
            await ledger.queue("one")
            gone.wake(KIND, "one")
            await stuck.wait()
            done = asyncio.create_task(waiting.run(KIND, "one"))
            await asyncio.sleep(0.05)
            assert not done.done()
        async with asyncio.timeout(60):
            assert await done == "done"
    assert (await ledger.row("one")).attempts == 2


async def test_a_job_whose_workers_keep_dying_is_given_up(process, ledger):
    async with process(serves=True) as jobs:
        await ledger.queue("one", state="running", attempts=10)
        [row] = await ledger.until_over("one")
        assert row.state == "failed"
        assert "10 times" in row.error
        assert jobs.work.given_up == [("one", row.error)]


async def test_a_job_that_nobody_works_on_any_more_is_begun_again(process, ledger):
    async with process(serves=True):
        await ledger.queue("one", state="running", attempts=1)
        [row] = await ledger.until_over("one")
    assert (row.state, row.attempts) == ("done", 2)
    assert await ledger.times("one") == [1, 1, 1]


async def test_a_second_yard_in_a_process_does_its_work_too(process, ledger):
    """Durable execution is one for a process; whoever comes second does without."""
    async with process(serves=True) as first:
        await ledger.queue("one")
        first.wake(KIND, "one")
        await ledger.until_over("one")
        first._runner._is_lost = True  # as if another process had the lock by now
        await first._locks.give_back("runner")
        async with process(serves=True) as second:
            await ledger.queue("two")
            second.wake(KIND, "two")
            [row] = await ledger.until_over("two")
            assert row.state == "done"
