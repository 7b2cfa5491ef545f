"""What is done to a release: made stable, taken back, switched off, retired, deleted; each asked about first."""

from enum import StrEnum
from typing import Any

from fastapi import Response

from skillyard.app.yard import Yard
from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.health import health_document
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Release, Stage
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.web.candidate import MAX_REASON
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.release import RELEASE
from skillyard.server.yard.skills_schemas import SkillReleaseResponse

router = PageRouter()


class Deed(StrEnum):
    PROMOTE = "promote"
    ROLLBACK = "rollback"
    KILL = "kill"
    RETIRE = "retire"
    DELETE = "delete"


@router.page(f"{RELEASE}/{{deed}}")
async def ask(release_id: str, deed: Deed, yard: TheYard, caller: Caller) -> Page:
    """What it would lead to, before it is done."""
    page = await _page(yard, caller, release_id, deed)
    caller.require_scope(Scope.PUBLISH if deed is Deed.PROMOTE else Scope.WRITE)
    return page


@router.post(f"{RELEASE}/{{deed}}", response_model=None)
async def change(release_id: str, deed: Deed, form: Posted, yard: TheYard, caller: Caller) -> Response:
    try:
        reason = form.required("reason")[:MAX_REASON]
        shown = await _done(yard, caller, release_id, deed, form, reason)
    except SkillyardError as error:
        return await _page(yard, caller, release_id, deed, reason=form.text("reason"), problem=error)
    return go_to(f"/releases/{shown.id}" if shown else "/releases", done=f"release_{deed}")


async def _done(yard: Yard, caller: Principal, release_id: str, deed: Deed, form: Form, reason: str) -> Release | None:
    """Do it, and answer with the release to look at next."""
    releases = yard.releases.releases
    match deed:
        case Deed.PROMOTE:
            found = await releases.get(caller, release_id)
            return await releases.promote(
                caller, found.candidate_id, Promotion(stage=Stage.STABLE, upgrade_reason=reason)
            )
        case Deed.ROLLBACK:
            return await releases.rollback(caller, release_id, reason=reason)
        case Deed.KILL:
            found = await releases.kill(caller, release_id, reason=reason)
            if form.is_set("whole"):
                await releases.kill_skill(caller, found.skill_key, reason=reason)
            return found
        case Deed.RETIRE:
            return await releases.retire(caller, release_id, reason=reason)
        case Deed.DELETE:
            await releases.delete(caller, release_id, reason=reason)
            return None


async def _page(
    yard: Yard,
    caller: Principal,
    release_id: str,
    deed: Deed,
    *,
    reason: str = "",
    problem: SkillyardError | None = None,
) -> Page:
    learned = yard.releases
    health = await learned.health.of(caller, release_id)
    before = await learned.releases.before(caller, release_id) if deed is Deed.ROLLBACK else None
    data: dict[str, Any] = {
        "release": SkillReleaseResponse.of(health.release),
        "deed": deed,
        "health": health_document(health, learned.policy),
        "before": before and SkillReleaseResponse.of(before),
    }
    return Page(
        "releases/change.html",
        data,
        extra={"reason": reason, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )
