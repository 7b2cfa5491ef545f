import asyncio
from pathlib import Path

from skillyard.db.database import Database


def test_who_waits_for_a_change_can_be_stopped_at_the_moment_of_one(tmp_path: Path):
    async def run() -> None:
        database = await Database.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
        try:

            async def follow() -> None:
                number = await database.number()
                while True:
                    number = await database.wait_beyond(number, poll=60)

            following = asyncio.create_task(follow())
            while not database._waiting:  # noqa: ASYNC110 -- there is nothing else to wait for
                await asyncio.sleep(0)
            async with database.write() as transaction:
                transaction.take_number()
            following.cancel()
            done, _ = await asyncio.wait([following], timeout=10)
            assert done == {following}
        finally:
            await database.close()

    asyncio.run(run())


def test_a_change_ends_the_waiting_at_once_and_none_ends_it_never(tmp_path: Path):
    async def run() -> None:
        database = await Database.open(f"sqlite:///{tmp_path / 'a.sqlite'}")
        try:
            number = await database.number()
            waiting = asyncio.create_task(database.wait_beyond(number, poll=0.001))
            await asyncio.sleep(0.02)
            assert not waiting.done()
            async with database.write() as transaction:
                transaction.take_number()
            assert await asyncio.wait_for(waiting, 10) == number + 1
        finally:
            await database.close()

    asyncio.run(run())
