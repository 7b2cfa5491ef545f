"""Evaluations carried out by jobs, with real sandboxes, on each store."""

import json

import pytest
from sqlalchemy import select

from skillyard.releases.candidate_spec import CandidateSpec
from skillyard.releases.evaluation_jobs import EvaluationWork
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.evaluations import EVALUATION
from skillyard.releases.models import EvaluationRow, SkillRunRow
from skillyard.releases.secret_desk import SecretDesk
from skillyard.sandbox.models import SandboxRow
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio
SECRET = "hunter2-and-more"


class Evaluating:
    """Candidates of one person, and their evaluations."""

    def __init__(self, world):
        self.yard = world.yard
        self.rooms = world.yard.releases
        self.jobs = world.yard.jobs
        self.owner = world.publisher

    async def candidate(self, command, **variables):
        done = await self.yard.sandboxes.sandboxes.create(self.owner, SandboxSpec())
        ran = await self.yard.sandboxes.runs.shell(self.owner, done.id, "echo done")
        document = {
            "kind": "code",
            "variables": variables,
            "steps": [{"type": "shell", "cmd": command}],
        }
        payload = await self.rooms.payloads.put(self.owner, document, "code")
        spec = CandidateSpec(skill_key="greet", source_execution_ids=[ran.execution.id], payload_ref=payload.ref)
        return await self.rooms.candidates.create(self.owner, spec)

    async def evaluate(self, candidate, **wish):
        evaluation = await self.rooms.evaluations.begin(self.owner, candidate.id, ReplayWish(**wish))
        await self.jobs.run(EVALUATION, evaluation.id)
        return await self.rooms.evaluations.get(self.owner, evaluation.id)

    async def runs(self, evaluation):
        return await self.rooms.log.of_evaluation(evaluation.id)

    async def standing(self, candidate):
        return await self.rooms.candidates.get(self.owner, candidate.id)

    async def sandboxes(self):
        """The sandboxes of replays that are left."""
        async with self.yard.database.read() as session:
            query = select(SandboxRow.labels).where(
                SandboxRow.owner_id == self.owner.person_id, SandboxRow.deleted_at.is_(None)
            )
            return [labels for labels in await session.scalars(query) if labels]


@pytest.fixture
def evaluating(world):
    return Evaluating(world)


async def test_a_candidate_that_can_be_replayed_passes(evaluating):
    candidate = await evaluating.candidate("echo Hello {{name}} > out && cat out", name={"type": "string"})
    evaluation = await evaluating.evaluate(candidate, runs=5, variables={"name": "Ada"})
    assert (evaluation.state, evaluation.passed, evaluation.score) == ("done", True, 1.0)
    runs = await evaluating.runs(evaluation)
    assert [run.number for run in runs] == [0, 1, 2, 3, 4]
    assert len({run.sandbox_id for run in runs}) == 5
    assert {run.steps[0]["output"].strip() for run in runs} == {"Hello Ada"}
    standing = await evaluating.standing(candidate)
    assert (standing.latest_pass, standing.latest_score) == (True, 1.0)
    assert await evaluating.sandboxes() == []


async def test_a_candidate_that_fails_is_rejected_with_its_runs_as_evidence(evaluating):
    candidate = await evaluating.candidate("cat nowhere")
    evaluation = await evaluating.evaluate(candidate, runs=5)
    assert (evaluation.state, evaluation.passed, evaluation.verdict) == ("done", False, "fail")
    assert {run.verdict for run in await evaluating.runs(evaluation)} == {"STEP_FAIL"}
    assert (await evaluating.standing(candidate)).status == "rejected"


async def test_the_value_of_a_secret_reaches_the_replays_and_nothing_that_is_kept(evaluating):
    command = "[ {{password}} = " + SECRET[:7] + "-and-more ] && echo it is {{password}}"
    candidate = await evaluating.candidate(command, password={"type": "string", "secret": True})
    evaluation = await evaluating.evaluate(candidate, runs=1, secrets={"password": SECRET})
    [run] = await evaluating.runs(evaluation)
    assert (run.verdict, run.reason) == ("PASS", "")
    async with evaluating.yard.database.read() as session:
        rows = [await session.get_one(EvaluationRow, evaluation.id), await session.get_one(SkillRunRow, run.id)]
    assert SECRET not in json.dumps([dict(row.__dict__) for row in rows], default=str)


async def test_an_evaluation_whose_secrets_were_lost_fails_and_says_so(evaluating):
    candidate = await evaluating.candidate("true {{password}}", password={"type": "string", "secret": True})
    evaluation = await evaluating.rooms.evaluations.begin(
        evaluating.owner, candidate.id, ReplayWish(runs=1, secrets={"password": SECRET})
    )
    evaluating.jobs._works[EVALUATION]._desk.clear(evaluation.id)  # as if another process had it
    assert await evaluating.jobs.run(EVALUATION, evaluation.id) == "failed"
    told = await evaluating.rooms.evaluations.get(evaluating.owner, evaluation.id)
    assert "password" in told.error
    assert "again" in told.error
    assert (await evaluating.standing(candidate)).status == "draft"
    assert await evaluating.runs(evaluation) == []


async def test_replays_that_are_kept_already_are_not_made_again(evaluating):
    """What a kill leaves: some runs are there, the job begins anew."""
    made = []

    class Replays:
        def __init__(self, replays):
            self._replays = replays

        async def replay(self, caller, payload, variables, **more):
            made.append(dict(variables))
            if len(made) == 3:
                raise KeyError("as if killed")
            return await self._replays.replay(caller, payload, variables, **more)

    rooms, jobs = evaluating.rooms, evaluating.jobs
    usual = jobs._works[EVALUATION]
    work = EvaluationWork(
        evaluating.yard.database, rooms.evaluations, rooms.payloads, rooms.log, Replays(usual._replays), SecretDesk()
    )
    jobs.register(EVALUATION, work)
    try:
        candidate = await evaluating.candidate("echo {{n}}", n={"type": "integer"})
        evaluation = await evaluating.evaluate(candidate, runs=3, variables={"n": 1})
    finally:
        jobs.register(EVALUATION, usual)
    assert (evaluation.state, evaluation.score, len(made)) == ("done", 1.0, 4)
    assert [run.number for run in await evaluating.runs(evaluation)] == [0, 1, 2]
