"""Processes that are killed in the middle of publishing: what they acknowledged is there, and all is whole."""

import asyncio
import json
import os
import random
import signal
import time
from datetime import timedelta

from sqlalchemy import select

from skillyard.blobs.orphans import GRACE, Orphans
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.models import BundleFileRow, VersionRow

SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
KILLS = {"sqlite": 1000 if SOAK else 10, "postgresql": 100 if SOAK else 4}
PROCESSES = 2
CHECKED_EVERY = 100 if SOAK else 6
"""After every kill, all that happened since the one before is looked at; the whole store, which grows, now and then."""


class Publishers:
    """Children of one worker, what they acknowledged, and their ends."""

    def __init__(self, worker):
        self._worker = worker
        self._acknowledged = []

    def start(self, seed):
        """The id of one more process that publishes until it is killed."""
        self._order(f"start {seed}")
        return self._hear("started")["started"]

    def wait(self, patience):
        """Wait until they have acknowledged so much since it was told last, whoever of them."""
        while len(self._acknowledged) < patience:
            self._hear("digest")

    def kill(self, pid):
        os.kill(pid, signal.SIGKILL)
        self._order(f"reap {pid}")
        # Whatever it had said is before this on the one stream that they share.
        assert self._hear("reaped") == {"reaped": pid, "signal": signal.SIGKILL}

    def tell(self):
        """All that was acknowledged since it was told last."""
        told, self._acknowledged = self._acknowledged, []
        return told

    def _order(self, line):
        self._worker.stdin.write(f"{line}\n")
        self._worker.stdin.flush()

    def _hear(self, key):
        """The next line of some kind; those before it are noted."""
        while True:
            line = json.loads(self._worker.stdout.readline())
            if "digest" in line:
                self._acknowledged.append(line)
            else:
                assert {"started", "reaped"} & line.keys(), line
            if key in line:
                return line


def some_moments(publishers, moments):
    """Wait for one moment after the other: mostly they are publishing by then, else the first of them opens the store.

    Each patience has its turn before any has a second one: however slow the machine, more is acknowledged than killed.
    """
    while True:
        for patience in moments.sample([0, 1, 2, 3, 5, 8], k=6):
            publishers.wait(patience)
            time.sleep(moments.uniform(0, 0.05 if patience else 0.2))
            yield


async def check_acknowledged(store, told):
    async with store.yard.database.read() as session:
        rows = await session.scalars(
            select(VersionRow).where(VersionRow.skill_id.in_({line["skill"] for line in told}))
        )
        versions = {(row.skill_id, row.version): row.digest for row in rows}
    for line in told:
        assert versions[line["skill"], line["version"]] == line["digest"]
        assert (await store.yard.registry.bundles.load(line["digest"])).digest == line["digest"]


async def sweep_all(store):
    """Collect orphans as if days went by."""
    later = utc_now()
    for _ in range(3):
        later += 2 * GRACE

        def clock(now=later):
            return now

        await Orphans(store.yard.database, store.yard.blobs, [named_by_bundles], clock=clock).sweep()


async def check_sweep(store):
    """Only what nothing names is collected, and all of it."""
    await sweep_all(store)
    async with store.yard.database.read() as session:
        named = set(await session.scalars(select(BundleFileRow.sha256)))
    assert await store.blobs() == named
    assert store.incoming is None or list(store.incoming.iterdir()) == []
    await store.check()


def test_nothing_that_was_acknowledged_is_lost_and_nothing_is_torn(yard_settings, start_worker, open_store):
    """Two processes at a time: one is killed while the other goes on, then the other, which leaves the store alone."""
    kills = KILLS[yard_settings.database.partition(":")[0]]
    moments = random.Random(kills)
    checked = acknowledged = 0

    async def check(told, *, everything):
        async with open_store(yard_settings) as store:
            await check_acknowledged(store, told)
            if everything:
                await check_sweep(store)
            return await store.check(since=checked)

    publishers = Publishers(start_worker("publish", yard_settings))
    some_moment = some_moments(publishers, moments)
    for first in range(1, kills + 1, PROCESSES):
        living = [publishers.start(seed) for seed in range(first, first + PROCESSES)]
        for kill in range(first, first + PROCESSES):
            next(some_moment)
            publishers.kill(living.pop(moments.randrange(len(living))))
            told = publishers.tell()
            acknowledged += len(told)
            everything = not living and (kill % CHECKED_EVERY == 0 or kill == kills)
            checked = asyncio.run(check(told, everything=everything))
    assert acknowledged > kills


def test_a_blob_that_nobody_came_to_name_is_collected(tmp_path, open_store):
    """The sweep after a kill would pass too if it did nothing: here it has something to do."""

    async def scenario():
        async with open_store(Settings(home=tmp_path)) as store:
            await store.yard.blobs.put(b"named by nobody")
            half = store.incoming / "half"
            half.write_bytes(b"half of")
            old = (utc_now() - timedelta(days=1)).timestamp()
            os.utime(half, (old, old))
            await check_sweep(store)
            assert await store.blobs() == set()

    asyncio.run(scenario())
