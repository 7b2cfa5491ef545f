"""Many who want the same of a registry at the same moment, from several processes: one gets it, nothing is lost."""

import asyncio
import hashlib
import json
import os
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import select

from skillyard.blobs.orphans import GRACE, Orphans
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.history.models import EntryRow
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.drafts import draft_of
from skillyard.registry.models import VersionRow

SOAK = bool(os.environ.get("SKILLYARD_SOAK"))
ROUNDS = 200 if SOAK else 5
PROCESSES = 2
RACERS = 32
WHY = Why(reason="a test asked for it")


@pytest.fixture
def places(database_url, tmp_path):
    return Settings(home=tmp_path / "home", database_url=database_url)


def race(start_worker, places, mode, rounds):
    """What each racer was told, round by round."""
    processes = [start_worker("race", places, seed, RACERS // PROCESSES, mode) for seed in range(1, PROCESSES + 1)]
    for process in processes:
        assert json.loads(process.stdout.readline()) == {"ready": True}
    for number in range(rounds):
        for process in processes:
            process.stdin.write(f"{number}\n")
            process.stdin.flush()
        told = []
        for process in processes:
            while "done" not in (line := json.loads(process.stdout.readline())):
                told.append(line)
        assert len(told) == RACERS
        yield told
    for process in processes:
        process.stdin.close()
        assert process.wait() == 0


async def rows(store, query):
    async with store.yard.database.read() as session:
        return list(await session.scalars(query))


def test_of_those_who_publish_one_version_with_other_content_one_wins(places, start_worker, open_store):
    winners, losers = set(), []
    for told in race(start_worker, places, "other", ROUNDS):
        won = [line for line in told if "created" in line]
        assert [line["created"] for line in won] == [True]
        winners.add((won[0]["skill"], won[0]["digest"]))
        losers += [line["refused"] for line in told if "refused" in line]
        assert len(set(losers)) == len(losers)

    async def check():
        async with open_store(places) as store:
            versions = await rows(store, select(VersionRow))
            assert {(row.skill_id, row.digest) for row in versions} == winners
            assert len(versions) == ROUNDS
            refused = await rows(store, select(EntryRow.digest_after).where(EntryRow.outcome == "refused"))
            assert sorted(refused) == sorted(losers)
            await store.check()

    asyncio.run(check())


def test_of_those_who_publish_one_version_with_the_same_content_all_succeed(places, start_worker, open_store):
    rounds = ROUNDS // 5
    for told in race(start_worker, places, "same", rounds):
        assert len({line["skill"] for line in told}) == 1
        assert sorted(line["created"] for line in told) == [False] * (RACERS - 1) + [True]

    async def check():
        async with open_store(places) as store:
            assert len(await rows(store, select(VersionRow))) == rounds
            assert await rows(store, select(EntryRow.number).where(EntryRow.outcome == "refused")) == []
            await store.check()

    asyncio.run(check())


def test_of_many_edits_from_one_base_one_wins(places, open_store, worker):
    async def scenario():
        async with AsyncExitStack() as stack:
            stores = [await stack.enter_async_context(open_store(places)) for _ in range(2)]
            draft = draft_of(worker.bundle_of("edited", "first"))
            skill = await stores[0].yard.registry.workbench.create(stores[0].principal, draft, why=WHY)
            for turn in range(ROUNDS // 2):
                edits = [
                    store.yard.registry.workbench.edit(
                        store.principal, skill.id, fields={}, body=f"{turn} {number}\n", base=skill.digest, why=WHY
                    )
                    for number, store in enumerate(stores * (RACERS // 2))
                ]
                done = await asyncio.gather(*edits, return_exceptions=True)
                won = [answer for answer in done if not isinstance(answer, BaseException)]
                assert len(won) == 1
                assert [type(answer) for answer in done if answer not in won] == [ConflictError] * (RACERS - 1)
                skill = await stores[1].yard.registry.shelf.get(stores[1].principal, skill.id)
                assert skill == won[0]
            refused = await rows(stores[0], select(EntryRow.digest_after).where(EntryRow.outcome == "refused"))
            assert len(set(refused)) == (RACERS - 1) * (ROUNDS // 2)
            await stores[0].check()

    asyncio.run(scenario())


def test_blobs_on_their_way_out_are_kept_when_a_version_names_them_again(places, open_store, worker):
    """Rounds in which all blobs are orphans that were condemned, and are published again while they are deleted."""
    deleted = checked = 0

    async def play(stores, turn):
        nonlocal deleted, checked
        now = utc_now()

        def collector(store, later):
            return Orphans(store.yard.database, store.yard.blobs, [named_by_bundles], clock=lambda: now + later)

        bundles = [worker.bundle_of(f"kept-{turn}-{number}", f"{turn} {number}", shared=turn) for number in range(16)]
        left = [f"left behind {turn} {number}".encode() for number in range(4)]
        await stores[0].yard.blobs.put_all([file.data for bundle in bundles for file in bundle] + left)
        await collector(stores[0], 2 * GRACE).sweep()
        publishing = [
            store.yard.registry.publishing.publish_bundle(store.principal, draft_of(bundle), version="1.0.0", why=WHY)
            for store, bundle in zip(stores * 8, bundles, strict=True)
        ]
        sweeping = [collector(store, 4 * GRACE).sweep() for store in stores]
        first, *rest = publishing
        done = await asyncio.gather(first, *sweeping, *rest)
        deleted += sum(swept.deleted for swept in done[1:3])
        # Those that were named in time stay; a grace later, nothing else is on its way out.
        await collector(stores[0], 8 * GRACE).sweep()
        checked = await stores[0].check(since=checked)
        for data in left:
            assert not await stores[0].yard.blobs.has(hashlib.sha256(data).hexdigest())

    async def scenario():
        async with AsyncExitStack() as stack:
            stores = [await stack.enter_async_context(open_store(places)) for _ in range(2)]
            for turn in range(ROUNDS // 2):
                await play(stores, turn)
            await stores[0].check()

    asyncio.run(scenario())
    assert deleted > ROUNDS // 2 * 4
