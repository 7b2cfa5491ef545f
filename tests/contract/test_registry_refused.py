"""Content that was refused: kept for a while, then let go, while the history still tells of it."""

import hashlib
from datetime import timedelta

import pytest

from skillyard.blobs.orphans import GRACE, Orphans
from skillyard.clock import utc_now
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.refused import RefusedContent
from skillyard.registry.stored_blobs import StoredBlobs
from skillyard.skill.bundle import BundleFile

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
KEEP = timedelta(days=30)


def after(**time):
    return lambda: utc_now() + timedelta(**time)


def sweep(world, **time):
    return RefusedContent(world.yard.database, keep=KEEP, clock=after(**time)).sweep()


async def refuse(world, skill, body):
    """Send an edit of a state that is not the present one; the entry that tells of it."""
    with pytest.raises(ConflictError):
        await world.edit(world.editor, skill, body, base="sha256:" + "0" * 64)
    return await world.last(skill)


async def kept(world, entry):
    return await world.yard.registry.chronicle.has_content(entry)


async def test_what_was_refused_is_kept_for_its_time_and_then_told_of_only(world):
    skill = await world.create(world.editor, "refused")
    entry = await refuse(world, skill, "Sent in vain.\n")
    chronicle = world.yard.registry.chronicle
    assert await sweep(world, days=29) == 0
    assert await kept(world, entry)
    assert (await chronicle.diff(entry)).files
    assert await sweep(world, days=31) >= 1
    now = await chronicle.entry(world.editor, entry.number)
    assert now == entry
    assert not await kept(world, now)
    assert await chronicle.diff(now) is None
    assert await sweep(world, days=31) == 0
    assert await world.stored(skill)


async def test_its_blobs_are_then_orphans(world):
    skill = await world.create(world.editor, "blobs")
    stale = "sha256:" + "0" * 64
    files = [BundleFile("only-here.txt", f"Only in {skill.id}.".encode())]
    with pytest.raises(ConflictError):
        await world.yard.registry.workbench.edit(world.editor, skill.id, fields={}, files=files, base=stale, why=WHY)
    bundles, blobs = world.yard.registry.bundles, world.yard.blobs
    sent = await bundles.files((await world.last(skill)).change.digest_after)
    only = next(file.sha256 for file in sent if file.path == "only-here.txt")
    shared = next(file.sha256 for file in sent if file.path == "SKILL.md")
    await sweep(world, days=31)
    for hours in (1, 3):
        when = after(hours=hours + GRACE.total_seconds() / 3600)
        await Orphans(world.yard.database, blobs, [named_by_bundles], clock=when).sweep()
    assert not await blobs.has(only)
    assert await blobs.has(shared)


async def test_what_was_accepted_before_or_afterwards_stays(world):
    skill = await world.create(world.editor, "accepted")
    first = skill.digest
    entry = await refuse(world, skill, "Accepted later.\n")
    edited = await world.edit(world.editor, skill, "Accepted later.\n")
    assert edited.digest == entry.change.digest_after
    moved = await world.edit(world.editor, edited, "Something else.\n")
    await refuse(world, moved, "Do it.\n")
    await sweep(world, days=31)
    assert await kept(world, entry)
    assert await world.yard.registry.bundles.load(first)
    undone = await world.undo(world.boss, (await _done(world, skill))[0].number)
    assert undone.change.digest_after == edited.digest


async def test_what_was_published_stays_though_a_skill_is_gone(world):
    skill = await world.create(world.publisher, "published")
    await world.publish(world.publisher, skill, "1.0.0")
    entry = await refuse(world, skill, "Do it.\n")
    await world.yard.registry.workbench.delete(world.boss, skill.id, why=WHY)
    await sweep(world, days=31)
    assert await world.yard.registry.bundles.load(skill.digest)
    assert entry.change.digest_after == skill.digest
    assert await kept(world, entry)


async def test_what_is_refused_again_has_its_time_again(world):
    skill = await world.create(world.editor, "again")
    entry = await refuse(world, skill, "Stubborn.\n")
    await sweep(world, days=31)
    assert not await kept(world, entry)
    again = await refuse(world, skill, "Stubborn.\n")
    assert await kept(world, again)
    assert await kept(world, entry)
    assert await sweep(world, days=29) == 0
    assert await kept(world, again)


async def _done(world, skill):
    return [entry for entry in await world.entries(skill) if entry.done]


async def test_a_damaged_file_that_nothing_names_any_more_is_no_longer_reported(world):
    skill = await world.create(world.editor, "lost")
    files = [BundleFile("lost.txt", f"Lost from {skill.id}.".encode())]
    with pytest.raises(ConflictError):
        await world.yard.registry.workbench.put_file(
            world.editor, skill.id, files[0], base="sha256:" + "0" * 64, why=WHY
        )
    sha256 = hashlib.sha256(files[0].data).hexdigest()
    await world.yard.blobs.delete(sha256)
    stored = StoredBlobs(world.yard.database, world.yard.blobs)
    assert await stored.problem(sha256) is not None
    assert [error.details["sha256"] for error in await stored.sample(0)] == [sha256]
    assert await sweep(world, days=31) >= 1
    assert await stored.sample(0) == []
