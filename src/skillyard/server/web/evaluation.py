"""Evaluating a candidate: replays that are asked for here, a verdict from elsewhere, and what came of either."""

from typing import Final

from fastapi import Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.decisions.evaluation import EvaluationPolicy
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.evaluation_wish import ReplayWish
from skillyard.releases.outcomes import Verdict
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.candidate import CANDIDATE
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.releases import rate_document
from skillyard.server.web.replay_form import (
    Entered,
    entered_in,
    number_in,
    payload_of,
    runs_in,
    told_payload,
    values_in,
)
from skillyard.server.yard.skills_run_schemas import SkillReplayResponse
from skillyard.server.yard.skills_schemas import SkillCandidateResponse

_MAX_REPORT: Final = 4_000

router = PageRouter()


@router.page(f"{CANDIDATE}/evaluate")
async def form(candidate_id: str, yard: TheYard, caller: Caller) -> Page:
    page = await _form_page(yard, caller, candidate_id, Entered())
    caller.require_scope(Scope.WRITE)
    return page


@router.post(f"{CANDIDATE}/evaluate", response_model=None)
async def evaluate(candidate_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Have it replayed; the page of the evaluation tells how far that is."""
    learned = yard.releases
    found = await learned.candidates.get(caller, candidate_id)
    values = values_in(form, await payload_of(learned, caller, found))
    try:
        wish = ReplayWish(
            runs=runs_in(form),
            benchmark=form.text("benchmark") or None,
            variables=values.plain,
            secrets=values.secret,
            seconds=number_in(form, "timeout", None),
        )
        evaluation = await learned.evaluations.begin(caller, candidate_id, wish)
    except SkillyardError as error:
        return await _form_page(yard, caller, candidate_id, entered_in(form, values), problem=error)
    return go_to(f"/releases/evaluations/{evaluation.id}", done="evaluating")


@router.post(f"{CANDIDATE}/verdict", response_model=None)
async def verdict(candidate_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take a verdict from elsewhere; it is marked as one wherever it counts."""
    passed = form.text("passed") == "yes"
    report = form.required("report")[:_MAX_REPORT]
    await yard.releases.evaluations.evaluate(caller, candidate_id, passed=passed, report=report)
    return go_to(f"/releases/candidates/{candidate_id}", done="verdict")


@router.page("/releases/evaluations/{evaluation_id}")
async def evaluation(evaluation_id: str, yard: TheYard, caller: Caller) -> Page:
    """The verdict, and every replay that it rests on."""
    learned = yard.releases
    found = await learned.evaluations.get(caller, evaluation_id)
    runs = await learned.log.of_evaluation(found.id)
    tally = Tally(sum(run.verdict == Verdict.PASS for run in runs), len(runs))
    policy = EvaluationPolicy()
    return Page(
        "releases/evaluation.html",
        {
            "candidate": SkillCandidateResponse.of(await learned.candidates.get(caller, found.candidate_id)),
            "evaluation": SkillReplayResponse.told(found, runs),
            "rate": rate_document(tally),
            "asked_for": {"rate": policy.rate, "bound": policy.bound, "runs": policy.least_runs},
        },
    )


async def _form_page(
    yard: Yard, caller: Principal, candidate_id: str, entered: Entered, *, problem: SkillyardError | None = None
) -> Page:
    learned = yard.releases
    found = await learned.candidates.get(caller, candidate_id)
    return Page(
        "releases/evaluate.html",
        {
            "candidate": SkillCandidateResponse.of(found),
            "payload": told_payload(await payload_of(learned, caller, found)),
            "benchmarks": [one.name for one in await learned.benchmarks.all(caller)],
        },
        extra={"entered": entered, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )
