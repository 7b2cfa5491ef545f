"""What learned skills do for their owner."""

import pytest

from skillyard.errors import InputError
from skillyard.releases.insights import Insights, overview_document
from skillyard.releases.outcomes import Verdict

pytestmark = pytest.mark.anyio


@pytest.fixture
def insights(desk):
    async def of(caller=None, **asked):
        return overview_document(await Insights(desk.database, clock=desk.clock).of(caller or desk.owner, **asked))

    return of


async def test_the_runs_of_all_releases_of_a_skill_are_summed_up(desk, insights):
    stable = await desk.release("stable")
    await desk.runs(stable, 18, 2, milliseconds=100, sandbox_id="sandbox-1")
    canary = await desk.release("canary")
    await desk.runs(canary, 20, milliseconds=300, sandbox_id="sandbox-2")
    told = await insights()
    (skill,) = told["skills"]
    assert (told["runs"], told["passed"], told["complete"]) == (40, 38, True)
    assert skill["in_use"] == {"stable": stable.version, "canary": canary.version}
    assert (skill["runs"], skill["passed"], skill["success_rate"]) == (40, 38, 0.95)
    assert (skill["p50_duration"], skill["p95_duration"], skill["total_duration"]) == (100, 300, 8000)
    assert skill["verdicts"] == {"PASS": 38, "STEP_FAIL": 2}
    assert (skill["sandboxes"], skill["last_used_at"]) == (2, desk.now)


async def test_the_trend_is_told_by_day(desk, insights):
    release = await desk.release("stable")
    await desk.runs(release, 3, 1, milliseconds=10)
    desk.pass_by(days=2)
    await desk.runs(release, 5, milliseconds=10)
    (skill,) = (await insights())["skills"]
    assert skill["trend"] == [
        {"day": "2026-05-20", "runs": 4, "passed": 3, "total_duration": 40},
        {"day": "2026-05-22", "runs": 5, "passed": 5, "total_duration": 50},
    ]


async def test_only_the_days_asked_for_are_looked_at(desk, insights):
    release = await desk.release("stable")
    await desk.runs(release, 3)
    desk.pass_by(days=2)
    await desk.runs(release, 1)
    assert (await insights(days=2))["runs"] == 1
    assert (await insights(days=3))["runs"] == 4


async def test_the_most_used_come_first_and_what_never_ran_is_there(desk, insights):
    await desk.release("stable", "idle")
    await desk.runs(await desk.release("stable", "few"), 1)
    await desk.runs(await desk.release("stable", "many"), 5)
    told = await insights()
    assert [(skill["skill_key"], skill["runs"]) for skill in told["skills"]] == [("many", 5), ("few", 1), ("idle", 0)]
    assert told["skills"][2]["last_used_at"] is None
    assert told["skills"][2]["trend"] == []


async def test_what_is_not_in_use_any_more_is_told_of_its_runs(desk, insights):
    release = await desk.release("stable")
    await desk.runs(release, 4)
    await desk.releases.retire(desk.owner, release.id)
    (skill,) = (await insights())["skills"]
    assert (skill["in_use"], skill["runs"]) == ({}, 4)


async def test_runs_that_could_not_begin_are_told_apart(desk, insights):
    await desk.runs(await desk.release("stable"), 4, 4, verdict=Verdict.PRECONDITION_FAIL)
    (skill,) = (await insights())["skills"]
    assert (skill["runs"], skill["success_rate"]) == (4, 1.0)
    assert skill["verdicts"] == {"PASS": 4, "PRECONDITION_FAIL": 4}


async def test_everyone_sees_their_own(desk, insights):
    await desk.runs(await desk.release("stable"), 4)
    assert (await insights(desk.other))["skills"] == []


@pytest.mark.parametrize("days", [0, 367])
async def test_too_many_days_are_refused(insights, days):
    with pytest.raises(InputError, match=f"{days} is no number"):
        await insights(days=days)
