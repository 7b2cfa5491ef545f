"""The policy at work: what is promoted and taken back by itself, and that one release never stalls the others."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import update

from skillyard.errors import ConflictError
from skillyard.identity.models import PersonRow
from skillyard.releases.health_store import to_be_watched
from skillyard.releases.models import CandidateRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.values import Stage
from skillyard.releases.watch import Watch, Watched

pytestmark = pytest.mark.anyio


class Watching:
    """A watch that tells of the releases of one test alone: the database is also that of others."""

    def __init__(self, desk, releases=None, **policy):
        self._desk = desk
        self._watch = Watch(desk.database, releases or desk.releases, policy=ReleasePolicy(**policy), clock=desk.clock)

    async def tick(self):
        watched = await self._watch.tick()
        made = self._desk.made
        promoted, rolled_back, errors = (
            {key: each for key, each in some.items() if key in made}
            for some in (watched.promoted, watched.rolled_back, watched.errors)
        )
        return Watched(promoted=promoted, rolled_back=rolled_back, errors=errors)


@pytest.fixture
def watching(desk):
    return partial(Watching, desk)


async def canary_beside_stable(desk, passed, failed, key="tool", owner=None):
    stable = await desk.release("stable", key, owner)
    await desk.runs(stable, 98, 2)
    canary = await desk.release("canary", key, owner)
    if passed + failed:
        await desk.runs(canary, passed, failed)
    return stable, canary


async def test_a_canary_that_does_worse_is_taken_back_and_stable_stays(desk, watching):
    stable, canary = await canary_beside_stable(desk, 30, 10)
    watched = await watching().tick()
    assert "It is worse" in watched.rolled_back[canary.id]
    assert watched.errors == {}
    in_use = await desk.in_use()
    assert in_use.keys() == {"stable"}
    assert in_use["stable"].candidate_id == stable.candidate_id
    assert in_use["stable"].release_mode == "auto"
    ended = await desk.get(canary)
    assert ended.state == "rolled_back"
    assert "It is worse" in ended.end_reason


async def test_a_canary_that_does_well_is_for_all_when_its_time_is_over(desk, watching):
    _, canary = await canary_beside_stable(desk, 60, 0)
    assert canary.id not in (await watching().tick()).promoted
    desk.pass_by(hours=24)
    watched = await watching().tick()
    in_use = await desk.in_use()
    assert in_use.keys() == {"stable"}
    assert watched.promoted == {canary.id: in_use["stable"].id}
    assert in_use["stable"].candidate_id == canary.candidate_id
    assert (in_use["stable"].release_mode, in_use["stable"].auto_promoted_from) == ("auto", canary.id)
    assert "not worse" in in_use["stable"].upgrade_reason


async def test_enough_runs_make_up_for_the_time(desk, watching):
    _, canary = await canary_beside_stable(desk, 200, 0)
    assert canary.id in (await watching().tick()).promoted


async def test_a_first_canary_is_held_against_the_floor(desk, watching):
    bad = await desk.release("canary", "bad")
    await desk.runs(bad, 2, 12)
    good = await desk.release("canary", "good")
    await desk.runs(good, 30)
    desk.pass_by(hours=24)
    watched = await watching().tick()
    assert (set(watched.rolled_back), set(watched.promoted)) == ({bad.id}, {good.id})
    assert await desk.in_use("bad") == {}
    assert (await desk.in_use("good")).keys() == {"stable"}


async def test_few_runs_decide_nothing(desk, watching):
    _, canary = await canary_beside_stable(desk, 0, 9)
    desk.pass_by(days=10)
    watched = await watching().tick()
    assert canary.id not in {*watched.promoted, *watched.rolled_back}


async def test_a_stable_release_that_does_worse_gives_way_to_the_one_before(desk, watching):
    good = await desk.release("stable")
    await desk.runs(good, 98, 2)
    bad = await desk.release("stable")
    await desk.runs(bad, 20, 20)
    watched = await watching().tick()
    assert set(watched.rolled_back) == {bad.id}
    assert (await desk.in_use())["stable"].candidate_id == good.candidate_id


async def test_what_was_brought_back_is_not_taken_back_by_itself(desk, watching):
    oldest = await desk.release("stable")
    await desk.runs(oldest, 100)
    await desk.runs(await desk.release("stable"), 100)
    bad = await desk.release("stable")
    await desk.runs(bad, 0, 20)
    await watching().tick()
    again = (await desk.in_use())["stable"]
    assert again.rollback_of == bad.id
    await desk.runs(again, 0, 40)
    assert (await watching().tick()).rolled_back == {}
    assert (await desk.in_use())["stable"].id == again.id


async def test_to_look_again_changes_nothing(desk, watching):
    _, canary = await canary_beside_stable(desk, 10, 20)
    watch = watching()
    assert set((await watch.tick()).rolled_back) == {canary.id}
    in_use = await desk.in_use()
    for _ in range(2):
        watched = await watch.tick()
        assert (watched.rolled_back, watched.promoted, watched.errors) == ({}, {}, {})
    assert await desk.in_use() == in_use


async def test_two_servers_that_look_at_once_do_it_once(desk, watching):
    _, bad = await canary_beside_stable(desk, 10, 20, "bad")
    _, good = await canary_beside_stable(desk, 200, 0, "good")
    both = await asyncio.gather(*(watching().tick() for _ in range(2)))
    assert any(bad.id in each.rolled_back for each in both)
    assert any(good.id in each.promoted for each in both)
    for key in ("bad", "good"):
        assert (await desk.releases.page(desk.owner, skill_key=key)).total == 3
        assert (await desk.in_use(key)).keys() == {"stable"}


async def test_one_broken_release_does_not_stall_the_others(desk, watching):
    _, first = await canary_beside_stable(desk, 10, 20, "first")
    _, second = await canary_beside_stable(desk, 10, 20, "second")
    _, third = await canary_beside_stable(desk, 10, 20, "third")
    failures = {first.id: RuntimeError("broken"), second.id: ConflictError("someone was quicker")}

    class Broken:
        promote = desk.releases.promote

        async def rollback(self, caller, release_id, **more):
            if release_id in failures:
                raise failures.pop(release_id)
            return await desk.releases.rollback(caller, release_id, **more)

    watch = watching(Broken())
    watched = await watch.tick()
    assert set(watched.rolled_back) == {third.id}
    assert watched.errors == {first.id: "RuntimeError('broken')", second.id: "someone was quicker"}
    assert set((await watch.tick()).rolled_back) == {first.id, second.id}


async def test_what_cannot_be_promoted_is_told_and_tried_again(desk, watching):
    _, canary = await canary_beside_stable(desk, 200, 0)
    await set_candidate(desk, canary, latest_pass=False)
    watch = watching()
    watched = await watch.tick()
    assert "did not pass" in watched.errors[canary.id]
    await set_candidate(desk, canary, latest_pass=True)
    assert canary.id in (await watch.tick()).promoted


async def test_a_stable_release_is_looked_at_again_only_when_it_ran(desk):
    stable = await desk.release("stable")
    await desk.runs(stable, 50)

    async def waits(since):
        async with desk.database.read() as session:
            return stable.id in await to_be_watched(session, since=since)

    assert await waits(None)
    assert await waits(desk.now)
    assert not await waits(desk.now + timedelta(seconds=1))


async def test_a_policy_may_leave_both_to_people(desk, watching):
    _, bad = await canary_beside_stable(desk, 10, 20, "bad")
    _, good = await canary_beside_stable(desk, 200, 0, "good")
    watched = await watching(auto_promote=False, auto_rollback=False).tick()
    assert (watched.promoted, watched.rolled_back) == ({}, {})
    assert (await desk.in_use("bad"))["canary"].id == bad.id
    watched = await watching(auto_promote=False).tick()
    assert (set(watched.promoted), set(watched.rolled_back)) == (set(), {bad.id})
    assert (await desk.in_use("good"))["canary"].id == good.id


async def test_a_person_who_is_shut_out_changes_nothing(desk, watching):
    _, canary = await canary_beside_stable(desk, 10, 20)
    async with desk.database.write(bookkeeping=True) as transaction:
        change = update(PersonRow).where(PersonRow.id == desk.owner.person_id)
        await transaction.session.execute(change.values(disabled_at=desk.now))
    assert (await watching().tick()).rolled_back == {}
    assert (await desk.get(canary)).is_active


async def test_every_owner_is_looked_after(desk, watching):
    _, mine = await canary_beside_stable(desk, 10, 20)
    _, theirs = await canary_beside_stable(desk, 10, 20, owner=desk.other)
    assert set((await watching().tick()).rolled_back) == {mine.id, theirs.id}


async def test_the_history_says_what_was_done_and_why(desk, watching):
    _, canary = await canary_beside_stable(desk, 10, 20)
    await watching().tick()
    page = await desk.yard.registry.chronicle.entries(desk.owner, limit=50)
    entry = next(each for each in page.entries if each.change.action == "release.rolled_back")
    assert entry.change.subject.id == canary.id
    assert "It is worse" in entry.why.reason


async def set_candidate(desk, release, **values):
    async with desk.database.write(bookkeeping=True) as transaction:
        change = update(CandidateRow).where(CandidateRow.id == release.candidate_id)
        await transaction.session.execute(change.values(**values))


async def test_the_registry_shows_what_was_decided(desk, learning):
    """With rendered bundles: the tags in the registry go with the releases."""
    good = await learning.released("greet", Stage.STABLE)
    desk.now = learning.clock.now
    await desk.runs(good, 98, 2)
    learning.clock.now = desk.now
    bad = await learning.released("greet", Stage.CANARY, document=await learning.greeting("Hi"))
    assert (await learning.tags(good.name)).keys() == {"stable", "canary"}
    desk.now = learning.clock.now
    await desk.runs(bad, 5, 20)
    watch = Watch(desk.database, learning.releases, clock=desk.clock)
    assert bad.id in (await watch.tick()).rolled_back
    assert await learning.tags(good.name) == {"stable": good.digest}
    better = await learning.released("greet", Stage.CANARY, document=await learning.greeting("Good day"))
    desk.now = learning.clock.now
    await desk.runs(better, 200)
    assert better.id in (await watch.tick()).promoted
    assert await learning.tags(good.name) == {"stable": better.digest}
