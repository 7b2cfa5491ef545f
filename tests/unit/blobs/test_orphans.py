"""Every order in which a sweep and a writer can meet."""

import asyncio
from datetime import timedelta

import pytest

from skillyard.blobs import orphans
from skillyard.blobs.claims import LEASE, BlobsVanishingError, claim, put_and_claim
from skillyard.blobs.orphans import Orphans, Swept
from skillyard.errors import UnavailableError

pytestmark = pytest.mark.anyio

DATA = b"the same bytes"


async def claim_and_name(yard, sha256, **known):
    async with yard.database.write() as transaction:
        await claim(transaction, [sha256], clock=yard.clock, **known)
        await yard.name(transaction, [sha256])


async def is_kept(yard, sha256):
    """Whether a blob outlives whatever the collector still has in mind."""
    for _ in range(4):
        await yard.sweep(hours=2)
    return await yard.blobs.get(sha256) == DATA and await yard.states() == {}


@pytest.fixture
async def orphan(yard):
    """A blob that was named long ago, and is not any more."""
    return await yard.blobs.put(DATA)


async def test_an_orphan_is_condemned_then_deleted_then_forgotten(yard, orphan):
    assert await yard.sweep(hours=2) == Swept(condemned=1, rescued=0, deleted=0)
    assert await yard.blobs.has(orphan)
    assert await yard.sweep(hours=1) == Swept(condemned=0, rescued=0, deleted=1)
    assert not await yard.blobs.has(orphan)
    assert await yard.states() == {orphan: "deleted"}
    assert await yard.sweep(hours=1) == Swept(condemned=0, rescued=0, deleted=0)
    assert await yard.states() == {}


async def test_within_the_grace_nothing_happens(yard, orphan):
    assert await yard.sweep(minutes=59) == Swept(condemned=0, rescued=0, deleted=0)
    assert await yard.sweep(minutes=2) == Swept(condemned=1, rescued=0, deleted=0)
    assert await yard.sweep(minutes=59) == Swept(condemned=0, rescued=0, deleted=0)
    assert await yard.blobs.has(orphan)


async def test_what_is_named_is_never_condemned(yard, orphan):
    await claim_and_name(yard, orphan)
    assert await is_kept(yard, orphan)


async def test_what_is_named_no_longer_is_collected_two_graces_later(yard, orphan):
    await claim_and_name(yard, orphan)
    await yard.sweep(hours=2)
    await yard.unname(orphan)
    assert (await yard.sweep(hours=2)).condemned == 1
    assert (await yard.sweep(hours=2)).deleted == 1


async def test_a_claim_of_a_condemned_blob_rescues_it(yard, orphan):
    await yard.sweep(hours=2)
    await claim_and_name(yard, orphan)
    assert await yard.states() == {}
    assert await is_kept(yard, orphan)


async def test_a_claim_that_is_not_committed_rescues_nothing(yard, orphan):
    async def fails(transaction, hashes):
        raise ZeroDivisionError

    await yard.sweep(hours=2)
    with pytest.raises(ZeroDivisionError):
        await put_and_claim(yard.database, yard.blobs, [DATA], fails, clock=yard.clock)
    assert await yard.states() == {orphan: "condemned"}
    assert (await yard.sweep(hours=2)).deleted == 1


async def test_a_claim_starts_the_grace_anew(yard, orphan):
    await yard.sweep(hours=2)
    await claim_and_name(yard, orphan)
    await yard.unname(orphan)
    assert await yard.sweep(hours=2) == Swept(condemned=1, rescued=0, deleted=0), "readers of the old row may remain"


async def test_a_blob_named_between_the_listing_and_the_write_is_not_condemned(yard, orphan):
    yard.blobs.after_list = lambda: claim_and_name(yard, orphan)
    assert (await yard.sweep(hours=2)).condemned == 0
    assert await yard.states() == {}


async def test_a_blob_named_without_a_claim_is_still_seen_before_it_is_deleted(yard, orphan):
    await yard.sweep(hours=2)
    async with yard.database.write() as transaction:
        await yard.name(transaction, [orphan])
    assert await yard.sweep(hours=2) == Swept(condemned=0, rescued=1, deleted=0)
    assert await is_kept(yard, orphan)


async def test_a_claim_between_the_mark_and_the_deletion_fails_and_says_what_is_vanishing(yard, orphan):
    met = []

    async def writer_comes(sha256):
        with pytest.raises(BlobsVanishingError, match=sha256) as caught:
            await claim_and_name(yard, sha256)
        met.append(caught.value)

    await yard.sweep(hours=2)
    yard.blobs.before_delete = writer_comes
    assert (await yard.sweep(hours=2)).deleted == 1
    [error] = met
    assert (error.hashes, error.gone) == ({orphan}, {}), "it is still being removed: putting it now does not help"


async def test_a_writer_that_comes_between_the_mark_and_the_deletion_puts_the_bytes_again(yard, orphan):
    """It puts (the bytes are there), may not claim, and the deletion goes on only then."""
    tried = asyncio.Event()
    writers = []

    async def let_the_deletion_go_on(seconds):
        tried.set()
        await sweeping

    async def writer_comes(sha256):
        kept = put_and_claim(
            yard.database, yard.blobs, [DATA], yard.name, clock=yard.clock, pause=let_the_deletion_go_on
        )
        writers.append(asyncio.create_task(kept))
        await tried.wait()
        assert await yard.blobs.has(sha256)

    await yard.sweep(hours=2)
    yard.blobs.before_delete = writer_comes
    yard.wait(hours=2)
    sweeping = asyncio.create_task(yard.orphans.sweep())
    assert (await sweeping).deleted == 1
    assert await writers[0] == [orphan]
    yard.blobs.before_delete = None
    assert await is_kept(yard, orphan)


async def test_bytes_seen_before_the_deletion_and_claimed_after_it_are_put_again(yard, orphan):
    """The whole deletion falls between a put that found the bytes there and the claim."""
    await yard.sweep(hours=2)
    put_all = yard.blobs.put_all
    swept = []

    async def put_then_sweep(contents):
        hashes = await put_all(contents)
        if not swept:
            swept.append(await yard.sweep(hours=2))
        return hashes

    yard.blobs.put_all = put_then_sweep
    assert await put_and_claim(yard.database, yard.blobs, [DATA], yard.name, clock=yard.clock) == [orphan]
    assert swept == [Swept(condemned=0, rescued=0, deleted=1)]
    assert await is_kept(yard, orphan)


async def test_another_writer_that_put_before_the_deletion_finds_the_bytes_of_the_first(yard, orphan):
    """Two writers saw the bytes; the first puts them again and clears the mark, which the second never sees."""
    await yard.sweep(hours=2)
    await yard.blobs.put(DATA)
    await yard.sweep(hours=2)
    await put_and_claim(yard.database, yard.blobs, [DATA], yard.name, clock=yard.clock)
    async with yard.database.write() as transaction:
        await claim(transaction, [orphan], clock=yard.clock)
    assert await is_kept(yard, orphan)


async def broken_deletion(yard):
    """A sweep that is killed after it marked a blob, before it removed the bytes."""

    async def killed(_):
        raise UnavailableError("killed")

    await yard.sweep(hours=2)
    yard.blobs.before_delete = killed
    with pytest.raises(UnavailableError, match="killed"):
        await yard.sweep(hours=2)
    yard.blobs.before_delete = None


async def test_a_killed_deletion_is_taken_over_when_its_time_is_over(yard, orphan):
    await broken_deletion(yard)
    assert (await yard.sweep(minutes=9)).deleted == 0
    assert (await yard.sweep(minutes=1)).deleted == 1
    assert not await yard.blobs.has(orphan)


async def test_a_writer_need_not_wait_for_the_next_sweep_after_a_killed_deletion(yard, orphan):
    await broken_deletion(yard)
    yard.wait(seconds=LEASE.total_seconds())
    await put_and_claim(yard.database, yard.blobs, [DATA], yard.name, clock=yard.clock)
    assert await is_kept(yard, orphan)


async def test_a_deletion_taken_over_after_the_bytes_were_put_again_is_noticed(yard, orphan):
    """What the writer was told of a row holds for that row only as it was then."""
    await broken_deletion(yard)
    yard.wait(seconds=LEASE.total_seconds())
    with pytest.raises(BlobsVanishingError) as caught:
        await claim_and_name(yard, orphan)
    assert set(caught.value.gone) == {orphan}
    await yard.blobs.put(DATA)
    assert (await yard.sweep()).deleted == 1
    with pytest.raises(BlobsVanishingError):
        await claim_and_name(yard, orphan, put_again=caught.value.gone)


async def test_a_collector_that_stood_still_deletes_nothing_any_more(yard, orphan):
    """Its blob is put again and named by the time it wakes up."""
    await yard.sweep(hours=2)
    yard.wait(hours=2)
    due = await yard.orphans._mark()
    yard.wait(seconds=LEASE.total_seconds())
    await put_and_claim(yard.database, yard.blobs, [DATA], yard.name, clock=yard.clock)
    assert await yard.orphans._delete(due) == 0
    assert await is_kept(yard, orphan)


async def test_two_collectors_share_the_work(yard):
    hashes = await yard.blobs.put_all(b"%d" % number for number in range(40))
    other = yard.another_collector()
    yard.wait(hours=2)
    first = await asyncio.gather(yard.orphans.sweep(), other.sweep())
    assert sum(swept.condemned for swept in first) == len(hashes)
    yard.wait(hours=2)
    second = await asyncio.gather(yard.orphans.sweep(), other.sweep())
    assert sum(swept.deleted for swept in second) == len(hashes)
    assert set((await yard.states()).values()) == {"deleted"}


async def test_more_than_a_batch_is_swept_at_once(yard, monkeypatch):
    monkeypatch.setattr(orphans, "_BATCH", 7)
    hashes = await yard.blobs.put_all(b"%d" % number for number in range(30))
    async with yard.database.write() as transaction:
        await yard.name(transaction, hashes[::2])
    assert (await yard.sweep(hours=2)).condemned == 15
    assert (await yard.sweep(hours=2)).deleted == 15
    assert [await yard.blobs.has(sha256) for sha256 in hashes] == [True, False] * 15


async def test_a_sweep_also_removes_what_killed_writers_left(yard, orphan, tmp_path):
    left = tmp_path / "blobs/incoming/tmpabc"
    left.write_bytes(b"hal")
    await yard.sweep(hours=2)
    assert not left.exists()


async def test_every_room_is_asked(yard, orphan):
    async def names_nothing(session, hashes):
        return set()

    collector = Orphans(yard.database, yard.blobs, [names_nothing, yard.named], clock=yard.clock)
    await claim_and_name(yard, orphan)
    yard.wait(hours=2)
    assert (await collector.sweep()).condemned == 0


async def test_a_collector_that_would_find_everything_orphaned_is_not_made(yard):
    with pytest.raises(ValueError, match="every blob is an orphan"):
        Orphans(yard.database, yard.blobs, [])


async def test_the_grace_can_be_chosen(yard, orphan):
    collector = Orphans(yard.database, yard.blobs, [yard.named], clock=yard.clock, grace=timedelta(days=1))
    yard.wait(hours=23)
    assert (await collector.sweep()).condemned == 0
    yard.wait(hours=2)
    assert (await collector.sweep()).condemned == 1
