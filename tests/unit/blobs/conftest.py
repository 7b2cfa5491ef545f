"""A yard of one table that names blobs, a store on disk, and a clock that is moved by hand."""

import shutil
from datetime import timedelta

import pytest
from sqlalchemy import Column, MetaData, String, Table, delete, insert, select

from skillyard.blobs.disk import DiskBlobs
from skillyard.blobs.models import CondemnedBlobRow
from skillyard.blobs.orphans import Orphans
from skillyard.clock import utc_now
from skillyard.db.database import Database

NAMING = Table("naming", MetaData(), Column("sha256", String(64), primary_key=True))


class Hooked(DiskBlobs):
    """A store that lets a test act at the very moment something is about to happen."""

    def __init__(self, root):
        super().__init__(root)
        self.before_delete = None
        self.after_list = None

    async def delete(self, sha256):
        if self.before_delete:
            await self.before_delete(sha256)
        await super().delete(sha256)

    async def list(self, older_than):
        found = [sha256 async for sha256 in super().list(older_than)]
        if self.after_list:
            await self.after_list()
        for sha256 in found:
            yield sha256


class Yard:
    def __init__(self, database, blobs):
        self.database = database
        self.blobs = blobs
        self.now = utc_now()
        self.orphans = self.another_collector()

    def another_collector(self):
        return Orphans(self.database, self.blobs, [self.named], clock=self.clock)

    def clock(self):
        return self.now

    def wait(self, **time):
        self.now += timedelta(**time)

    async def sweep(self, **later):
        self.wait(**later)
        return await self.orphans.sweep()

    @staticmethod
    async def named(session, hashes):
        return set(await session.scalars(select(NAMING.c.sha256).where(NAMING.c.sha256.in_(hashes))))

    @staticmethod
    async def name(transaction, hashes):
        await transaction.session.execute(insert(NAMING), [{"sha256": sha256} for sha256 in hashes])
        return hashes

    async def unname(self, sha256):
        async with self.database.write() as transaction:
            await transaction.session.execute(delete(NAMING).where(NAMING.c.sha256 == sha256))

    async def states(self):
        async with self.database.read() as session:
            return {row.sha256: row.state for row in await session.scalars(select(CondemnedBlobRow))}


@pytest.fixture
async def yard(tmp_path, empty_registry):
    database = await Database.open(f"sqlite:///{shutil.copy(empty_registry, tmp_path)}")
    async with database.write() as transaction:
        connection = await transaction.session.connection()
        await connection.run_sync(NAMING.create)
    yield Yard(database, Hooked(tmp_path / "blobs"))
    await database.close()
