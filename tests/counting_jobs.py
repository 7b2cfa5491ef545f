"""Work for tests of jobs: it counts, step by step, and tells where it is.

As a program, `counting_jobs.py DATABASE` makes servers that can be killed: `start PLACE…` starts one that works on jobs
and stands still when it comes to one of the places, `reap PID` waits for its end. Each line that it prints is a fact.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

from sqlalchemy import JSON, Integer, MetaData, String, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.clock import utc_now
from skillyard.db.base import Base
from skillyard.db.database import Database
from skillyard.jobs.rows import OPEN, JobRow
from skillyard.jobs.service import Jobs

TABLES = MetaData()
COUNTING = "counting"
STEPS = 3


class CountRow(JobRow):
    """A job: count to some number."""

    metadata = TABLES
    __tablename__ = "test_counts"

    wanted: Mapped[int] = mapped_column(Integer)
    counted: Mapped[list | None] = mapped_column(JSON)


class StepRow(Base):
    """What a step leaves, once."""

    metadata = TABLES
    __tablename__ = "test_steps"

    job_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    times: Mapped[int] = mapped_column(Integer)
    """How often it was done."""


class Counting:
    """The work itself. `reach` is called with each place that it comes to."""

    rows = CountRow

    def __init__(self, database, reach=None):
        self._database = database
        self._reach = reach or self._pass_by
        self.given_up = []

    async def run(self, job):
        await self._reach("begun", job)
        counted = []
        async with self._database.read() as session:
            wanted = (await session.get_one(CountRow, job.id)).wanted
        for number in range(1, wanted + 1):
            counted.append(await job.step(f"count-{number}", lambda number=number: self._count(job, number)))
            await self._reach(f"kept-{number}", job)
        async with self._database.write(bookkeeping=True) as transaction:
            await job.finish(transaction, counted=counted)
            await self._reach("finishing", job)
        await self._reach("finished", job)

    async def give_up(self, transaction, job_id, reason):
        self.given_up.append((job_id, reason))

    async def _count(self, job, number):
        await self._reach(f"in-{number}", job)
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get(StepRow, (job.id, number))
            if row is None:
                transaction.session.add(StepRow(job_id=job.id, number=number, times=1))
            else:
                row.times += 1
        await self._reach(f"did-{number}", job)
        return {"number": number}

    async def _pass_by(self, place, job):
        """Go on."""


class Ledger:
    """What the tests ask of the database, and queue there."""

    def __init__(self, database):
        self._database = database

    async def clear(self):
        async with self._database.write(bookkeeping=True) as transaction:
            for rows in (CountRow, StepRow):
                await transaction.session.execute(delete(rows))

    async def queue(self, job_id, wanted=STEPS, **columns):
        row = {"id": job_id, "state": "queued", "attempts": 0, "wanted": wanted, "created_at": utc_now(), **columns}
        async with self._database.write(bookkeeping=True) as transaction:
            transaction.session.add(CountRow(**row))

    async def row(self, job_id):
        async with self._database.read() as session:
            return await session.get_one(CountRow, job_id)

    async def times(self, job_id):
        """How often each step of a job was done."""
        async with self._database.read() as session:
            query = select(StepRow.times).where(StepRow.job_id == job_id).order_by(StepRow.number)
            return list(await session.scalars(query))

    async def states(self):
        async with self._database.read() as session:
            query = select(CountRow.state, func.count()).group_by(CountRow.state)
            return dict((await session.execute(query)).all())

    async def hurry(self, job_id):
        """Let a job that rests be due now."""
        async with self._database.write(bookkeeping=True) as transaction:
            row = await transaction.session.get_one(CountRow, job_id)
            if row.due_at is not None:
                row.due_at = utc_now() - timedelta(seconds=1)

    async def until_over(self, *job_ids, patience=30.0):
        async with asyncio.timeout(patience):
            while True:
                rows = [await self.row(job_id) for job_id in job_ids]
                if all(row.state not in OPEN for row in rows):
                    return rows
                await asyncio.sleep(0.02)


@asynccontextmanager
async def opened(url):
    """A database with these tables."""
    database = await Database.open(url)
    try:
        async with database.write(bookkeeping=True) as transaction:
            await (await transaction.session.connection()).run_sync(TABLES.create_all)
        yield database
    finally:
        await database.close()


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def serve(url, places):
    """Work until killed; stand still at the first of the places that is reached."""

    async def reach(place, job):
        if place in places:
            say(reached=place, job=job.id, attempt=job.attempt)
            await asyncio.Event().wait()

    async with opened(url) as database:
        jobs = Jobs(database)
        jobs.register(COUNTING, Counting(database, reach))
        say(ready=os.getpid())
        await jobs.follow()


def main(url):
    import skillyard.jobs.durable
    import skillyard.jobs.postgres_locks  # noqa: F401 -- slow to import: the children find it done

    for line in iter(sys.stdin.readline, ""):
        order, *words = line.split()
        if order == "start":
            child = os.fork()
            if child == 0:
                try:
                    asyncio.run(serve(url, words))
                finally:
                    say(died=os.getpid())  # of something else than a kill
            say(started=child)
        else:
            _, status = os.waitpid(int(words[0]), 0)
            say(reaped=int(words[0]), signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


if __name__ == "__main__":
    main(sys.argv[1])
