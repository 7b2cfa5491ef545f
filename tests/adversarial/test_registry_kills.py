"""A registry whose process is killed in the middle of publishing: what it acknowledged is there, and all is whole."""

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
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.models import BundleFileRow, VersionRow

SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
KILLS = {"sqlite": 1000 if SOAK else 10, "postgresql": 100 if SOAK else 3}
CHECKED_EVERY = 25 if SOAK else 5
"""All of the store is looked at now and then, what was just acknowledged always: the store grows."""


def publish_and_kill(process, seed, moments):
    """Let a child publish for a moment, kill it, and answer with what it had acknowledged by then."""
    process.stdin.write(f"{seed}\n")
    process.stdin.flush()
    patience, jitter = moments.choice([0, 1, 5, 20]), moments.uniform(0, 0.05)
    pid = None
    told = []
    while True:
        line = json.loads(process.stdout.readline())
        if "killed" in line:
            assert line["killed"] == signal.SIGKILL
            return told
        if "pid" in line:
            pid = line["pid"]
        else:
            assert "digest" in line, line
            told.append(line)
        if pid is not None and len(told) >= patience:
            time.sleep(jitter)
            os.kill(pid, signal.SIGKILL)
            pid, patience = None, float("inf")


async def check_acknowledged(store, told):
    async with store.yard.database.read() as session:
        rows = await session.scalars(select(VersionRow))
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
    assert store.blobs() == named
    assert list((store.home / "blobs" / "incoming").iterdir()) == []
    await store.check()


def test_nothing_that_was_acknowledged_is_lost_and_nothing_is_torn(database_url, tmp_path, start_worker, open_store):
    home = tmp_path / "home"
    kills = KILLS[database_url.partition(":")[0]]
    moments = random.Random(kills)
    acknowledged = 0

    async def check(told, *, everything):
        async with open_store(home, database_url) as store:
            await check_acknowledged(store, told)
            if everything:
                await store.check()
                await check_sweep(store)
                await check_acknowledged(store, told)

    process = start_worker("publish", home, database_url)
    for kill in range(1, kills + 1):
        told = publish_and_kill(process, kill, moments)
        acknowledged += len(told)
        asyncio.run(check(told, everything=kill % CHECKED_EVERY == 0 or kill == kills))
    assert acknowledged > kills


def test_a_blob_that_nobody_came_to_name_is_collected(tmp_path, open_store):
    """The sweep after a kill would pass too if it did nothing: here it has something to do."""

    async def scenario():
        async with open_store(tmp_path / "home", f"sqlite:///{tmp_path}/registry.sqlite") as store:
            await store.yard.blobs.put(b"named by nobody")
            (store.home / "blobs" / "incoming" / "half").write_bytes(b"half of")
            old = (utc_now() - timedelta(days=1)).timestamp()
            os.utime(store.home / "blobs" / "incoming" / "half", (old, old))
            await check_sweep(store)
            assert store.blobs() == set()

    asyncio.run(scenario())
