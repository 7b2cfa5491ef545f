"""Running learned skills, and replaying candidates: what is kept of it, and what is not."""

import json

import pytest
from sqlalchemy import text

from skillyard.db.base import Base
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.releases.decisions.evaluation import judge
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.evaluations import EVALUATION
from skillyard.releases.models import EvaluationRow, SkillRunRow
from skillyard.releases.outcomes import Replay, Verdict
from skillyard.releases.payload_json import parse_payload
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import ReleaseMode, Stage

pytestmark = pytest.mark.anyio
PIN = "hunter2-correct-horse"


async def everything(database):
    """All that the database holds, as text."""
    told = []
    async with database.read() as session:
        for table in Base.metadata.sorted_tables:
            told.extend(map(str, (await session.execute(text(f"SELECT * FROM {table.name}"))).all()))
    return "\n".join(told)


async def test_a_run_is_kept_with_its_release_and_without_its_secrets(learning):
    released = await learning.released()
    sandbox = await learning.sandbox()
    ran = await learning.runs.run(
        learning.caller, "greet", {"name": "Ada"}, secrets={"pin": PIN}, sandbox_id=sandbox.id
    )
    assert (ran.release.id, ran.replay.verdict, ran.replay.reason) == (released.id, Verdict.PASS, "")
    kept = await learning.log.get(learning.caller, ran.run_id)
    assert (kept.release_id, kept.verdict, kept.total_steps, kept.sandbox_id) == (released.id, "PASS", 2, sandbox.id)
    assert kept.variables == {"name": "Ada"}
    assert [step["success"] for step in kept.steps] == [True, True]
    page = await learning.log.page(learning.caller, release_id=released.id)
    assert (page.total, page.items[0]) == (1, kept)
    assert PIN not in await everything(learning.yard.database)
    (day,) = await learning.yard.registry.usage.of_skill(learning.caller, (await learning.skill("greet")).id)
    assert (day.event, day.count) == ("succeeded", 1)


async def test_what_is_given_as_a_secret_is_one_whatever_the_payload_says(learning):
    await learning.released()
    given = {"name": PIN, "pin": "1234"}
    ran = await learning.runs.run(learning.caller, "greet", secrets=given, sandbox_id=(await learning.sandbox()).id)
    assert (await learning.log.get(learning.caller, ran.run_id)).variables == {}
    assert PIN not in await everything(learning.yard.database)


async def test_a_run_needs_a_release_and_steps_that_are_kept_here(learning, world):
    with pytest.raises(NotFoundError, match="No active release found"):
        await learning.runs.run(learning.caller, "greet")
    await learning.released("elsewhere", payload_ref="s3://bucket/steps")
    with pytest.raises(InputError, match="Unsupported payload_ref"):
        await learning.runs.run(learning.caller, "elsewhere")
    released = await learning.released()
    with pytest.raises(NotFoundError):
        await learning.runs.run(world.publisher, "greet")
    with pytest.raises(InputError, match="name"):
        await learning.runs.run(learning.caller, "greet", {"pin": "1"})
    await learning.releases.kill(learning.caller, released.id)
    with pytest.raises(ConflictError, match="killed"):
        await learning.runs.run(learning.caller, "greet", release_id=released.id)


async def test_replays_of_a_candidate_are_kept_and_judged_by_a_job(learning):
    made = await learning.candidate()
    wish = ReplayWish(runs=5, variables={"name": "Ada", "pin": PIN})
    evaluation = await learning.evaluations.begin(learning.caller, made.id, wish)
    assert (evaluation.kind, evaluation.state, evaluation.wanted_runs) == ("replay", "queued", 5)
    assert (await learning.candidates.get(learning.caller, made.id)).status == "evaluating"
    await learning.jobs.run(EVALUATION, evaluation.id)
    done = await learning.evaluations.get(learning.caller, evaluation.id)
    assert (done.state, done.passed, done.score, done.verdict) == ("done", True, 1.0, "pass")
    runs = await learning.log.of_evaluation(evaluation.id)
    assert [(run.number, run.verdict) for run in runs] == [(number, "PASS") for number in range(5)]
    assert PIN not in await everything(learning.yard.database)
    released = await learning.releases.promote(learning.caller, made.id)
    assert not released.external
    assert released.release_mode == ReleaseMode.MANUAL


async def test_replays_that_cannot_be_are_refused_before_any_is_begun(learning):
    made = await learning.candidate()
    for variables in ({}, {"name": "Ada"}, {"name": "Ada", "pin": "1", "other": "x"}):
        with pytest.raises(InputError):
            await learning.evaluations.begin(learning.caller, made.id, ReplayWish(variables=variables))
    with pytest.raises(NotFoundError):
        await learning.evaluations.begin(learning.caller, made.id, ReplayWish(benchmark="missing"))
    foreign = await learning.candidate("foreign", payload_ref="s3://bucket/steps")
    with pytest.raises(InputError, match="Unsupported payload_ref"):
        await learning.evaluations.begin(learning.caller, foreign.id)
    assert await learning.rows(EvaluationRow) == []
    assert (await learning.candidates.get(learning.caller, made.id)).status == "draft"


async def test_an_evaluation_that_cannot_be_done_leaves_the_candidate_as_it_was(learning):
    made = await learning.candidate()
    evaluation = await learning.evaluations.begin(
        learning.caller, made.id, ReplayWish(runs=1, variables={"name": "Ada", "pin": PIN})
    )
    async with learning.yard.database.write() as transaction:
        await learning.evaluations.give_up(transaction, evaluation.id, "The sandbox could not be made.")
    assert (await learning.candidates.get(learning.caller, made.id)).status == "draft"
    await learning.jobs.run(EVALUATION, evaluation.id)


async def replayed(learning, candidate, passes, runs, *, given=None, **more):
    """A candidate after an evaluation of as many replays."""
    wish = ReplayWish(runs=runs, variables=given or {"name": "Ada", "pin": PIN})
    evaluation = await learning.evaluations.begin(learning.caller, candidate.id, wish)
    async with learning.yard.database.write() as transaction:
        row = await transaction.session.get_one(EvaluationRow, evaluation.id)
        row.state = "done"
        await learning.evaluations.conclude(transaction, row, judge(passes, runs), **more)
    await learning.jobs.run(EVALUATION, evaluation.id)
    return await learning.candidates.get(learning.caller, candidate.id)


async def test_too_few_replays_to_tell_leave_a_candidate_as_it_was(learning):
    fresh = await learning.candidate("fresh")
    tried = await replayed(learning, fresh, 1, 1)
    assert (tried.status, tried.latest_pass, tried.last_evaluated_at) == ("draft", None, None)
    proven = await replayed(learning, fresh, 5, 5)
    assert (proven.status, proven.latest_pass) == ("evaluating", True)
    again = await replayed(learning, fresh, 0, 1)
    for name in ("status", "latest_pass", "latest_score", "last_evaluated_at", "auto_release_eligible"):
        assert getattr(again, name) == getattr(proven, name)
    await learning.releases.promote(learning.caller, fresh.id)
    assert (await replayed(learning, fresh, 1, 3)).status == "promoted"
    assert (await replayed(learning, fresh, 1, 5)).status == "rejected"


async def test_a_candidate_whose_values_its_own_steps_show_is_released_only_with_a_reason(learning):
    shown = {"words": {"type": "string", "from_step": 1}}
    steps = [{"type": "shell", "cmd": "date +%s"}, {"type": "shell", "cmd": "printf '%s' {{words}}"}]
    made = await learning.candidate("reads", document={"kind": "code", "variables": shown, "steps": steps})
    proven = await replayed(learning, made, 5, 5, given={"words": "1700000000"}, unproven={"words": 1})
    assert (proven.latest_pass, proven.auto_release_eligible) == (True, False)
    assert proven.auto_release_reason.endswith("do not prove it (variable: step): words: 1.")
    for promotion in (None, Promotion(stage=Stage.STABLE, upgrade_reason="Why not."), Promotion(allow_risky=True)):
        with pytest.raises(ConflictError, match="words: 1") as refused:
            await learning.releases.promote(learning.caller, made.id, promotion)
        assert refused.value.details["unproven"] == {"words": 1}
    reason = "These words are agreed upon beforehand."
    accepted = Promotion(upgrade_reason=reason, allow_risky=True)
    canary = await learning.releases.promote(learning.caller, made.id, accepted)
    assert canary.upgrade_reason == reason
    stable = await learning.releases.promote(learning.caller, made.id, Promotion(stage=Stage.STABLE))
    assert stable.is_active  # it was accepted with the canary


async def test_a_candidate_is_held_against_the_release_in_use(learning):
    released = await learning.released()
    payload = parse_payload(await learning.greeting("Hello"))
    for number, verdict in enumerate([Verdict.PASS, Verdict.STEP_FAIL, Verdict.PASS, Verdict.PRECONDITION_FAIL]):
        await learning.log.keep(
            owner_id=learning.caller.person_id,
            candidate_id=released.candidate_id,
            release_id=released.id,
            payload=payload,
            variables={},
            replay=Replay(verdict=verdict, milliseconds=number),
        )
    canary = await learning.released(stage=Stage.CANARY, document=await learning.greeting("Goodbye"))
    restored = await learning.releases.rollback(learning.caller, canary.id)
    rival = await learning.candidate(document=await learning.greeting("Hi"))
    wish = ReplayWish(runs=1, variables={"name": "Ada", "pin": "1"})
    evaluation = await learning.evaluations.begin(learning.caller, rival.id, wish)
    begun = await learning.evaluations.get(learning.caller, evaluation.id)
    assert begun.compared_with == restored.id
    assert await learning.evaluations.baseline(begun) == (2, 3)
    await learning.jobs.run(EVALUATION, evaluation.id)


async def test_a_run_of_an_evaluation_is_kept_once(learning):
    made = await learning.candidate()
    row = EvaluationRow(
        id="se-000000000001",
        candidate_id=made.id,
        owner_id=made.owner_id,
        kind="replay",
        state="done",
        cases=[],
        created_at=learning.clock(),
    )
    async with learning.yard.database.write() as transaction:
        row.id = f"se-{made.id[3:]}"
        transaction.session.add(row)
    told = {
        "owner_id": made.owner_id,
        "candidate_id": made.id,
        "evaluation_id": row.id,
        "number": 0,
        "payload": parse_payload(await learning.greeting("Hello")),
        "variables": {"name": "Ada", "pin": PIN},
    }
    first = await learning.log.keep(**told, replay=Replay(verdict=Verdict.PASS, screenshot=b"png"))
    again = await learning.log.keep(**told, replay=Replay(verdict=Verdict.STEP_FAIL, reason=f"saw {PIN}"))
    assert first == again
    (run,) = await learning.rows(SkillRunRow)
    assert (run.verdict, json.dumps(run.variables)) == ("PASS", '{"name": "Ada"}')
    assert await learning.log.screenshot(learning.caller, first) == b"png"
