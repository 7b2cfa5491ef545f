"""What learned skills do for their owner, what could go, what is missing; and the looks for more of them."""

import json
from datetime import timedelta
from typing import Annotated, Any, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.clock import utc_now
from skillyard.errors import InputError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.releases.benchmarks import MAX_NAME
from skillyard.releases.gaps import DAYS, gaps_document
from skillyard.releases.insights import MAX_DAYS, overview_document
from skillyard.releases.retirement import retirements_document
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.replay_form import number_in
from skillyard.server.yard.skills_run_schemas import BenchmarkRequest, BenchmarkResponse, MiningResponse
from skillyard.server.yard.skills_schemas import SkillCandidateResponse

_SPANS: Final = (7, 30, 90, MAX_DAYS)
_SHOWN: Final = 100
_EXAMPLE: Final = '[\n  {"variables": {"name": "Ada"}, "checks": []}\n]\n'

router = PageRouter()


@router.page("/releases/insights")
async def insights(yard: TheYard, caller: Caller, days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = 30) -> Page:
    """How often each skill ran and how that ended; and which may be retired."""
    overview = overview_document(await yard.releases.insights.of(caller, days=days))
    retirements = retirements_document(await yard.releases.retirement.proposals(caller))
    return Page(
        "releases/insights.html",
        {"insights": overview, "retirements": retirements},
        extra={"spans": _SPANS, "shown": _SHOWN},
    )


@router.page("/releases/gaps")
async def gaps(yard: TheYard, caller: Caller) -> Page:
    """What was done again and again, by hand or in vain, without a skill for it."""
    return Page("releases/gaps.html", gaps_document(await yard.releases.gaps.all(caller)), extra={"shown": _SHOWN})


@router.post("/releases/mine", response_model=None)
async def mine(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Have what was run lately looked through."""
    days = number_in(form, "days", DAYS) or DAYS
    since = utc_now() - timedelta(days=min(days, MAX_DAYS))
    begun = await yard.releases.mining.begin(caller, since=since)
    return go_to(f"/releases/mine/{begun.id}")


@router.page("/releases/mine/{mining_id}")
async def mining(mining_id: str, yard: TheYard, caller: Caller) -> Page:
    """How far a look at executions is, and which candidates it led to."""
    told = MiningResponse.of(await yard.releases.mining.get(caller, mining_id))
    found: list[SkillCandidateResponse] = []
    for each in told.candidates[:_SHOWN]:
        try:
            found.append(SkillCandidateResponse.of(await yard.releases.candidates.get(caller, each)))
        except SkillyardError:
            continue  # deleted since
    return Page("releases/mining.html", {"mining": told, "candidates": found})


@router.page("/releases/benchmarks")
async def benchmarks(yard: TheYard, caller: Caller, name: Annotated[str, Query(max_length=MAX_NAME)] = "") -> Page:
    """Named sets of values and checks; the one that is named is shown to be edited."""
    cases = _EXAMPLE
    if name:
        kept = await yard.releases.benchmarks.get(caller, name)
        cases = json.dumps(kept.cases, ensure_ascii=False, indent=2)
    return await _benchmarks_page(yard, caller, {"name": name, "cases": cases})


@router.post("/releases/benchmarks", response_model=None)
async def save_benchmark(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Keep a benchmark, or delete it."""
    entered = {"name": form.text("name"), "cases": form.text("cases")}
    try:
        name = form.required("name")
        if form.text("do") == "delete":
            await yard.releases.benchmarks.delete(caller, name)
            return go_to("/releases/benchmarks", done="benchmark_deleted")
        await yard.releases.benchmarks.save(caller, name, _cases(entered["cases"]))
    except SkillyardError as error:
        return await _benchmarks_page(yard, caller, entered, problem=error)
    return go_to("/releases/benchmarks", done="benchmark")


def _cases(text: str) -> list[dict[str, Any]]:
    try:
        return BenchmarkRequest(cases=json.loads(text)).cases
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"The cases cannot be read: {str(error).splitlines()[0][:200]}",
            hint=f"Write them as JSON, for example {_EXAMPLE.strip()}",
            details={"field": "cases"},
        ) from None


async def _benchmarks_page(
    yard: Yard, caller: Principal, entered: dict[str, str], *, problem: SkillyardError | None = None
) -> Page:
    kept = [BenchmarkResponse.of(one) for one in await yard.releases.benchmarks.all(caller)]
    return Page(
        "releases/benchmarks.html",
        {"items": kept, "total": len(kept)},
        extra={"entered": entered, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )
