"""Learned skills on their way: the board of candidates and releases, and the lists of both."""

from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import Query

from skillyard.releases.decisions.intervals import lower_bound, upper_bound
from skillyard.releases.decisions.tally import Tally
from skillyard.releases.service import LearnedSkillRooms
from skillyard.releases.skill_search import MAX_SEARCHED
from skillyard.releases.values import Candidate, Release, Stage, Status
from skillyard.server.api.caller import Caller
from skillyard.server.web.choices import one_of
from skillyard.server.web.page import Page, PageRouter
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_schemas import SkillCandidateResponse, SkillReleaseResponse

_COLUMN: Final = 20
"""Cards in one column of the board."""
_PAGE: Final = 50
_OPEN: Final = (Status.DRAFT, Status.EVALUATING)
_SET_ASIDE: Final = (Status.REJECTED, Status.ROLLED_BACK)

router = PageRouter()

Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
Words = Annotated[str, Query(max_length=1000)]
Choice = Annotated[str, Query(max_length=16)]


@router.page("/releases")
async def board(learned: Learned, caller: Caller) -> Page:
    """What may be released, what some have, and what all have; the newest first."""
    pages = [await learned.candidates.page(caller, status=status, limit=_COLUMN) for status in _OPEN]
    counts = await learned.candidates.counts(caller)
    found = sorted((one for page in pages for one in page.items), key=lambda one: one.updated_at, reverse=True)
    stages = {
        stage: await learned.releases.page(caller, stage=stage, active_only=True, limit=_COLUMN) for stage in Stage
    }
    return Page(
        "releases/board.html",
        {
            "candidates": _told(found[:_COLUMN], sum(page.total for page in pages)),
            **{stage.value: _told(page.items, page.total) for stage, page in stages.items()},
            "rates": await _rates(learned, [one for page in stages.values() for one in page.items]),
            "set_aside": {status.value: counts[status] for status in _SET_ASIDE if counts.get(status)},
        },
    )


@router.page("/releases/candidates")
async def candidates(
    learned: Learned, caller: Caller, q: Words = "", status: Choice = "", skill_key: Words = "", offset: Offset = 0
) -> Page:
    """All candidates, or those that fit a question."""
    chosen = {"q": q, "status": status, "skill_key": skill_key}
    wanted, is_cut = one_of(Status, status), False
    if q.strip():
        found = await learned.search.search(
            caller, q, status=wanted, skill_key=skill_key or None, limit=_PAGE, offset=offset
        )
        told, is_cut = _told([each.candidate for each in found.items], found.total), found.is_cut
    else:
        page = await learned.candidates.page(
            caller, status=wanted, skill_key=skill_key or None, limit=_PAGE, offset=offset
        )
        told = _told(page.items, page.total)
    given = {key: value for key, value in chosen.items() if value}
    return Page(
        "releases/candidates.html",
        {"chosen": chosen, **told, "offset": offset, "is_cut": is_cut},
        extra={
            "statuses": list(Status),
            "following": urlencode({**given, "offset": offset + _PAGE}),
            "searched": f"{MAX_SEARCHED:,}",
        },
    )


@router.page("/releases/all")
async def all_releases(
    learned: Learned,
    caller: Caller,
    stage: Choice = "",
    skill_key: Words = "",
    active_only: bool = False,
    offset: Offset = 0,
) -> Page:
    """All releases, also those that are in use no more."""
    page = await learned.releases.page(
        caller,
        stage=one_of(Stage, stage),
        skill_key=skill_key or None,
        active_only=active_only,
        every_stage=True,
        limit=_PAGE,
        offset=offset,
    )
    return Page(
        "releases/all.html",
        {
            "chosen": {"stage": stage, "skill_key": skill_key, "active_only": active_only},
            **_told(page.items, page.total),
            "offset": offset,
            "rates": await _rates(learned, page.items),
        },
        extra={"stages": list(Stage)},
    )


def rate_document(tally: Tally) -> dict[str, Any]:
    """How often something passed, and between what its rate is."""
    low, high = lower_bound(*tally), upper_bound(*tally)
    return {"runs": tally.runs, "passed": tally.passes, "success_rate": tally.rate, "bounds": [low, high]}


async def _rates(learned: LearnedSkillRooms, releases: Sequence[Release]) -> dict[str, Any]:
    return {each: rate_document(tally) for each, tally in (await learned.health.tallies(releases)).items()}


def _told(items: Sequence[Candidate | Release], total: int) -> dict[str, Any]:
    return {
        "items": [
            SkillCandidateResponse.of(one) if isinstance(one, Candidate) else SkillReleaseResponse.of(one)
            for one in items
        ],
        "total": total,
    }
