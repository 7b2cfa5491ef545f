"""What is proposed for retirement, with what speaks for it."""

import pytest

from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.retirement import Retirement, retirements_document

pytestmark = pytest.mark.anyio


@pytest.fixture
def proposals(desk):
    async def of(caller=None, **policy):
        room = Retirement(desk.database, policy=ReleasePolicy(**policy), clock=desk.clock)
        return retirements_document(await room.proposals(caller or desk.owner))

    return of


def causes(told):
    return {item["release_id"]: item["cause"] for item in told["items"]}


async def test_a_release_in_use_that_runs_well_is_left(desk, proposals):
    await desk.runs(await desk.release("stable"), 45, 5)
    told = await proposals()
    assert (told["items"], told["active"], told["cap"]) == ([], 1, 200)


async def test_what_did_not_run_for_a_month_is_proposed(desk, proposals):
    never, once = await desk.release("stable", "never"), await desk.release("stable", "once")
    await desk.runs(once, 1)
    desk.pass_by(days=29)
    assert causes(await proposals()) == {}
    desk.pass_by(days=2)
    told = await proposals()
    assert causes(told) == {never.id: "unused", once.id: "unused"}
    by_id = {item["release_id"]: item for item in told["items"]}
    assert by_id[never.id]["reason"] == "It did not run for 30 days; it ran never."
    assert by_id[once.id]["reason"] == "It did not run for 30 days; it ran on 2026-05-20 last."
    assert by_id[once.id]["evidence"]["uses"] == 0
    assert by_id[once.id]["evidence"]["newest_runs"] == 1


async def test_what_fails_now_is_proposed_however_well_it_did_before(desk, proposals):
    release = await desk.release("stable")
    await desk.runs(release, 500)
    assert causes(await proposals()) == {}
    await desk.runs(release, 5, 20)
    told = await proposals()
    assert causes(told) == {release.id: "failing"}
    assert told["items"][0]["reason"] == "30 of 50 of its newest runs passed; 80% are asked for."
    assert told["items"][0]["stage"] == "stable"
    assert told["items"][0]["version"] == 1


async def test_a_few_failures_are_no_reason(desk, proposals):
    await desk.runs(await desk.release("stable"), 0, 9)
    await desk.runs(await desk.release("stable", "other"), 8, 4)
    assert causes(await proposals()) == {}


async def test_of_too_many_skills_the_least_used_are_proposed(desk, proposals):
    for key, count in (("often", 20), ("sometimes", 12), ("seldom", 3), ("rarely", 1)):
        await desk.runs(await desk.release("stable", key), count)
    rarely = (await desk.in_use("rarely"))["stable"]
    canary = await desk.release("canary", "rarely")
    seldom = (await desk.in_use("seldom"))["stable"]
    assert causes(await proposals(active_cap=4)) == {}
    assert causes(await proposals(active_cap=0)) == {}
    told = await proposals(active_cap=2)
    assert causes(told) == {rarely.id: "surplus", canary.id: "surplus", seldom.id: "surplus"}
    assert (told["active"], told["cap"]) == (4, 2)


async def test_what_is_proposed_for_another_reason_makes_room(desk, proposals):
    failing = await desk.release("stable", "failing")
    await desk.runs(failing, 0, 30)
    for key in ("one", "two"):
        await desk.runs(await desk.release("stable", key), 5)
    assert causes(await proposals(active_cap=2)) == {failing.id: "failing"}


async def test_what_is_not_in_use_is_not_proposed_and_nothing_is_done_by_itself(desk, proposals):
    old = await desk.release("stable")
    new = await desk.release("stable")
    desk.pass_by(days=31)
    assert causes(await proposals()) == {new.id: "unused"}
    assert (await desk.get(new)).is_active
    assert (await desk.get(old)).state == "superseded"


async def test_everyone_sees_their_own(desk, proposals):
    await desk.release("stable")
    desk.pass_by(days=31)
    assert causes(await proposals(desk.other)) == {}
