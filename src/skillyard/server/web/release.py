"""The page of a release: how it does in use, what the test says of that, and what differs from another."""

from difflib import unified_diff
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import NotFoundError
from skillyard.releases.decisions.course import course_document, moments
from skillyard.releases.health import ReleaseHealth, health_document
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.values import Release
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.candidate import full_name_of
from skillyard.server.web.marks import mark_of
from skillyard.server.web.page import Page, PageRouter
from skillyard.server.web.step_texts import texts_of_steps, texts_of_variables
from skillyard.server.yard.skills_insight_schemas import SkillReleaseDiffResponse
from skillyard.server.yard.skills_run_schemas import SkillRunResponse
from skillyard.server.yard.skills_schemas import SkillCandidateResponse, SkillReleaseResponse
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import diff_bundles

RELEASE: Final = "/releases/{release_id}"
_RUNS: Final = 20
_OTHERS: Final = 100

router = PageRouter()

View = Literal["unified", "sides"]


@router.page(RELEASE)
async def release(
    release_id: str,
    yard: TheYard,
    caller: Caller,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    seen: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """How it does in use. No news tells of a run: who has `seen` this state already is told that nothing is new."""
    learned = yard.releases
    health = await learned.health.of(caller, release_id)
    found = health.release
    candidate = await learned.candidates.get(caller, found.candidate_id)
    runs = await learned.log.page(caller, release_id=release_id, limit=_RUNS, offset=offset)
    others = await learned.releases.page(caller, skill_key=found.skill_key, limit=_RUNS)
    data = {
        "release": SkillReleaseResponse.of(found),
        "candidate": SkillCandidateResponse.of(candidate),
        "health": health_document(health, learned.policy),
        "course": _course(health, learned.policy),
        "runs": [SkillRunResponse.of(run) for run in runs.items],
        "runs_total": runs.total,
        "offset": offset,
        "others": [SkillReleaseResponse.of(one) for one in others.items if one.id != release_id],
    }
    mark = mark_of(data)
    if seen == mark:
        return Response(status_code=204)
    again = urlencode({"offset": offset, "seen": mark})
    return Page("releases/release.html", data, extra={"full_name": full_name_of(candidate, caller), "again": again})


@router.page(f"{RELEASE}/diff")
async def diff(
    release_id: str,
    yard: TheYard,
    caller: Caller,
    other: Annotated[str, Query(max_length=128, alias="with")] = "",
    view: View = "unified",
) -> Page:
    """What differs from another release of the same skill; by default, from the one before it."""
    learned = yard.releases
    new = await learned.releases.get(caller, release_id)
    page = await learned.releases.page(caller, skill_key=new.skill_key, limit=_OTHERS)
    others = [one for one in page.items if one.id != new.id]
    earlier = next((one.id for one in others if one.version < new.version), others[0].id if others else "")
    old = await learned.releases.get(caller, other or earlier) if other or earlier else new
    told = SkillReleaseDiffResponse.of(old, new, await learned.runs.diff(caller, old, new))
    return Page(
        "releases/diff.html",
        {"release": SkillReleaseResponse.of(new), "diff": told, "files": await _files(yard, old, new)},
        extra={
            "view": view,
            "others": others,
            "steps": _lines(*texts_of_steps(told.steps)),
            "variables": _lines(*texts_of_variables(told.variables)),
        },
    )


def _course(health: ReleaseHealth, policy: ReleasePolicy) -> dict[str, Any]:
    stable = health.baseline if health.baseline.runs else None
    return course_document(moments(stable, health.course, policy=policy), policy=policy)


async def _files(yard: Yard, old: Release, new: Release) -> list[Any]:
    """What differs in the files that agents are given."""
    return diff_bundles(await _bundle(yard, old), await _bundle(yard, new)).as_dict()["files"]


async def _bundle(yard: Yard, one: Release) -> Bundle:
    try:
        return await yard.registry.bundles.load(one.digest) if one.digest else Bundle(())
    except NotFoundError:
        return Bundle(())


def _lines(old: list[str], new: list[str]) -> str:
    """Both texts as one diff that shows all of it, without the names of files."""
    return "\n".join(list(unified_diff(old, new, n=len(old) + len(new) + 1, lineterm=""))[2:])
