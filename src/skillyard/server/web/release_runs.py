"""Runs of learned skills: one that is asked for here, and each as it went, with the picture where it ended."""

from fastapi import Request, Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.reader import Reader
from skillyard.server.web.release import RELEASE
from skillyard.server.web.replay_form import Entered, entered_in, payload_of, told_payload, values_in
from skillyard.server.yard.skills_run_schemas import SkillRunResponse
from skillyard.server.yard.skills_schemas import SkillCandidateResponse, SkillReleaseResponse

router = PageRouter()


@router.page("/releases/runs/{run_id}")
async def run(run_id: str, yard: TheYard, caller: Caller) -> Page:
    learned = yard.releases
    found = await learned.log.get(caller, run_id)
    return Page(
        "releases/run.html",
        {
            "run": SkillRunResponse.of(found),
            "candidate": SkillCandidateResponse.of(await learned.candidates.get(caller, found.candidate_id)),
        },
    )


@router.get("/releases/runs/{run_id}/screenshot", response_model=None)
async def screenshot(run_id: str, request: Request, yard: TheYard, caller: Caller) -> Response:
    """The page as it was where the run ended; it never changes."""
    data = await yard.releases.log.screenshot(caller, run_id)
    kept = "private, max-age=86400" if Reader(request=request).is_local else "no-store"
    return Response(data, media_type="image/png", headers={"Cache-Control": kept})


@router.page(f"{RELEASE}/run")
async def form(release_id: str, yard: TheYard, caller: Caller) -> Page:
    page = await _form_page(yard, caller, release_id, Entered())
    caller.require_scope(Scope.WRITE)
    return page


@router.post(f"{RELEASE}/run", response_model=None)
async def begin(release_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Run it in a fresh sandbox, and show what came of it."""
    learned = yard.releases
    release = await learned.releases.get(caller, release_id)
    candidate = await learned.candidates.get(caller, release.candidate_id)
    values = values_in(form, await payload_of(learned, caller, candidate))
    try:
        ran = await learned.runs.run(
            caller, release.skill_key, values.plain, secrets=values.secret, release_id=release_id
        )
    except SkillyardError as error:
        return await _form_page(yard, caller, release_id, entered_in(form, values), problem=error)
    return go_to(f"/releases/runs/{ran.run_id}")


async def _form_page(
    yard: Yard, caller: Principal, release_id: str, entered: Entered, *, problem: SkillyardError | None = None
) -> Page:
    learned = yard.releases
    release = await learned.releases.get(caller, release_id)
    candidate = await learned.candidates.get(caller, release.candidate_id)
    return Page(
        "releases/run_form.html",
        {
            "release": SkillReleaseResponse.of(release),
            "payload": told_payload(await payload_of(learned, caller, candidate)),
        },
        extra={"entered": entered, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )
