import asyncio

import pytest

from skillyard.cancellation import to_the_end

pytestmark = pytest.mark.anyio


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_is_done_to_the_end_answers():
    async def work() -> int:
        return 5

    assert await to_the_end(work()) == 5


async def test_whoever_is_cancelled_stays_until_it_is_done_however_often_that_is_asked_for():
    go_on, done = asyncio.Event(), []

    async def work() -> None:
        await go_on.wait()
        done.append(True)

    caller = asyncio.create_task(to_the_end(work()))
    for _ in range(3):
        await turns()
        caller.cancel()
    await turns()
    assert not caller.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done == [True]


async def test_work_that_is_itself_cancelled_ends_the_wait():
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await to_the_end(work())
