"""The health of releases: from their own runs in use, beside those of what they would replace."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from skillyard.errors import NotFoundError
from skillyard.releases.health import Health, health_document
from skillyard.releases.models import ReleaseRow, SkillRunRow
from skillyard.releases.outcomes import Verdict
from skillyard.releases.policy import ReleasePolicy

pytestmark = pytest.mark.anyio

TOLD = {
    *("release_id", "skill_key", "stage", "window_start_at", "window_end_at", "window_complete", "samples"),
    *("success_rate", "error_rate", "p95_duration", "baseline_success_rate", "baseline_error_rate"),
    *("baseline_samples", "success_drop", "error_rate_multiplier", "healthy", "should_rollback", "rollback_reasons"),
    "thresholds",
}


@pytest.fixture
def health(desk):
    room = Health(desk.database, clock=desk.clock)

    async def of(release, caller=None):
        return health_document(await room.of(caller or desk.owner, release.id), room.policy)

    return of


async def test_a_release_that_never_ran_is_healthy_and_waits(desk, health):
    canary = await desk.release("canary")
    told = await health(canary)
    assert told.keys() >= TOLD
    assert (told["samples"], told["success_rate"], told["error_rate"], told["p95_duration"]) == (0, 0, 0, 0)
    assert (told["baseline_samples"], told["success_drop"], told["error_rate_multiplier"]) == (0, 0, 0)
    assert (told["healthy"], told["should_rollback"], told["rollback_reasons"]) == (True, False, [])
    assert told["decision"] == "wait"
    assert told["window_start_at"] == canary.promoted_at
    assert told["window_end_at"] == canary.promoted_at + timedelta(hours=24)


async def test_a_canary_is_measured_beside_stable(desk, health):
    stable = await desk.release("stable")
    await desk.runs(stable, 98, 2)
    canary = await desk.release("canary")
    await desk.runs(canary, 80, 20, milliseconds=700)
    told = await health(canary)
    assert (told["samples"], told["success_rate"], told["p95_duration"]) == (100, 0.8, 700)
    assert told["error_rate"] == pytest.approx(0.2)
    assert (told["baseline_samples"], told["baseline_success_rate"]) == (100, 0.98)
    assert told["baseline_release_id"] == stable.id
    assert told["success_drop"] == pytest.approx(0.18)
    assert told["error_rate_multiplier"] == pytest.approx(10)
    assert (told["healthy"], told["should_rollback"], told["decision"]) == (False, True, "rollback")
    assert told["rollback_reasons"] == ["80 of 100 runs passed, beside 98 of 100 of the stable release. It is worse."]
    assert [run["passed"] for run in told["runs"]].count(False) == 10
    assert told["runs"][-1]["at"] == desk.now


async def test_runs_of_others_and_of_evaluations_do_not_count(desk, health):
    stable = await desk.release("stable")
    canary = await desk.release("canary")
    other = await desk.release("stable", key="other")
    await desk.runs(canary, 5)
    await desk.runs(other, 0, 50)
    evaluation = await desk.rooms.evaluations.evaluate(desk.owner, canary.candidate_id, passed=True)
    async with desk.database.write(bookkeeping=True) as transaction:
        change = update(SkillRunRow).where(SkillRunRow.release_id == other.id)
        await transaction.session.execute(change.values(release_id=canary.id, evaluation_id=evaluation.id))
    told = await health(canary)
    assert (told["samples"], told["success_rate"]) == (5, 1.0)
    assert told["baseline_release_id"] == stable.id


async def test_a_run_that_could_not_begin_says_nothing_of_the_release(desk, health):
    await desk.runs(await desk.release("stable"), 100)
    canary = await desk.release("canary")
    await desk.runs(canary, 10, 30, verdict=Verdict.PRECONDITION_FAIL)
    told = await health(canary)
    assert (told["samples"], told["success_rate"], told["healthy"]) == (10, 1.0, True)


async def test_of_what_is_stable_the_runs_as_a_canary_and_from_before_a_rollback_still_count(desk, health):
    candidate = await desk.candidate()
    await desk.runs(await desk.release("canary", candidate=candidate), 30)
    await desk.runs(await desk.release("stable", candidate=candidate), 40)
    bad = await desk.release("canary")
    await desk.releases.rollback(desk.owner, bad.id)
    canary = await desk.release("canary")
    told = await health(canary)
    assert told["baseline_samples"] == 70
    assert told["baseline_release_id"] == (await desk.in_use())["stable"].id


async def test_of_the_stable_release_the_newest_runs_from_before_and_all_beside_count(desk, health):
    stable = await desk.release("stable")
    await desk.runs(stable, 0, 100)
    await desk.runs(stable, 200)
    canary = await desk.release("canary")
    await desk.runs(stable, 150, 50)
    told = await health(canary)
    assert (told["baseline_samples"], told["baseline_success_rate"]) == (400, 350 / 400)


async def test_a_stable_release_is_measured_beside_the_one_before_it(desk, health):
    await desk.runs(await desk.release("stable"), 98, 2)
    stable = await desk.release("stable")
    assert (await health(stable))["reason"] == "It is for all, and nothing speaks against it."
    await desk.runs(stable, 10, 30)
    told = await health(stable)
    assert (told["baseline_samples"], told["should_rollback"], told["decision"]) == (100, True, "rollback")


async def test_a_first_stable_release_has_nothing_to_go_back_to(desk, health):
    stable = await desk.release("stable")
    await desk.runs(stable, 0, 50)
    told = await health(stable)
    assert (told["should_rollback"], told["decision"], told["success_rate"]) == (False, "wait", 0)


async def test_what_is_not_in_use_is_measured_and_left(desk, health):
    await desk.runs(await desk.release("stable"), 100)
    canary = await desk.release("canary")
    await desk.runs(canary, 5, 40)
    await desk.releases.rollback(desk.owner, canary.id)
    told = await health(canary)
    assert (told["samples"], told["healthy"], told["should_rollback"]) == (45, False, False)
    assert (told["decision"], told["reason"]) == ("wait", "It is not in use: it is rolled_back.")


async def test_a_good_canary_is_to_be_promoted_when_its_time_is_over(desk, health):
    await desk.runs(await desk.release("stable"), 98, 2)
    canary = await desk.release("canary")
    await desk.runs(canary, 60)
    told = await health(canary)
    assert (told["decision"], told["window_complete"]) == ("wait", False)
    desk.pass_by(hours=24)
    told = await health(canary)
    assert (told["decision"], told["window_complete"]) == ("promote", True)


async def test_what_agents_tell_promotes_nothing_by_itself(desk, health):
    await desk.runs(await desk.release("stable"), 100)
    canary = await desk.release("canary")
    await desk.runs(canary, 200, origin="told", milliseconds=0)
    desk.pass_by(hours=25)
    told = await health(canary)
    assert (told["samples"], told["told"], told["success_rate"], told["p95_duration"]) == (200, 200, 1.0, 0)
    assert told["decision"] == "wait"
    assert told["reason"].startswith("200 of its runs are what agents told, which promotes nothing by itself.")
    await desk.runs(canary, 100)
    assert (await health(canary))["decision"] == "promote"


async def test_what_agents_tell_may_take_a_release_back(desk, health):
    await desk.runs(await desk.release("stable"), 100)
    canary = await desk.release("canary")
    await desk.runs(canary, 80, 60, verdict=Verdict.TASK_FAIL, origin="told", milliseconds=0)
    assert (await health(canary))["decision"] == "rollback"


async def test_what_agents_tell_has_no_duration(desk, health):
    await desk.runs(await desk.release("stable"), 100, origin="told", milliseconds=0)
    canary = await desk.release("canary")
    await desk.runs(canary, 100, milliseconds=90_000)
    told = await health(canary)
    assert (told["decision"], told["p95_duration"]) == ("wait", 90_000)


async def test_a_slow_canary_is_to_be_taken_back(desk, health):
    await desk.runs(await desk.release("stable"), 100, milliseconds=1000)
    canary = await desk.release("canary")
    await desk.runs(canary, 60, milliseconds=4000)
    told = await health(canary)
    assert told["should_rollback"]
    assert "It is slower" in told["reason"]
    assert told["evidence"]["slower"] > 100


async def test_durations_of_failing_runs_are_not_compared(desk, health):
    await desk.runs(await desk.release("stable"), 70, 30)
    canary = await desk.release("canary")
    await desk.runs(canary, 40)
    await desk.runs(canary, 0, 15, milliseconds=60_000)
    assert (await health(canary))["healthy"]


async def test_a_policy_says_what_releases_are_held_to(desk):
    await desk.runs(await desk.release("stable"), 98, 2)
    canary = await desk.release("canary")
    await desk.runs(canary, 0, 12)
    strict = ReleasePolicy(minimum_sample=20)
    room = Health(desk.database, policy=strict, clock=desk.clock)
    told = health_document(await room.of(desk.owner, canary.id), strict)
    assert told["healthy"]
    assert told["thresholds"]["minimum_sample"] == 20
    assert replace(strict, minimum_sample=10) == ReleasePolicy()


async def test_a_release_without_a_window_of_its_own_has_the_policys(desk, health):
    canary = await desk.release("canary")
    async with desk.database.write(bookkeeping=True) as transaction:
        change = update(ReleaseRow).where(ReleaseRow.id == canary.id)
        await transaction.session.execute(change.values(health_window_end_at=None))
    assert (await health(canary))["window_end_at"] == canary.promoted_at + timedelta(hours=24)


async def test_nobody_else_sees_it(desk, health):
    canary = await desk.release("canary")
    with pytest.raises(NotFoundError):
        await health(canary, desk.other)
