"""The page of a candidate: what it does, what it was learned from, and what speaks for it."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import Query, Response

from skillyard.app.yard import Yard
from skillyard.errors import InputError, NotFoundError, SkillyardError
from skillyard.identity.principals import Principal, Scope
from skillyard.releases.promotion import Promotion, why_unproven
from skillyard.releases.values import Candidate, EvaluationKind, Stage
from skillyard.sandbox.executions import Execution
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.raw_files import is_text
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Posted
from skillyard.server.web.page import Page, PageRouter, go_to
from skillyard.server.web.replay_form import payload_of, told_payload
from skillyard.server.yard.skills_run_schemas import SkillRunResponse
from skillyard.server.yard.skills_schemas import (
    SkillCandidateResponse,
    SkillEvaluationResponse,
    SkillReleaseResponse,
)
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.document import parse

CANDIDATE: Final = "/releases/candidates/{candidate_id}"
MAX_REASON: Final = 1_000
_EVALUATIONS: Final = 10
_EVIDENCE: Final = 10
_REPLAYS: Final = 20
_RELEASES: Final = 10
_LONGEST: Final = 20_000
"""Characters of a file that are shown."""

router = PageRouter()


@router.page(CANDIDATE)
async def candidate(candidate_id: str, yard: TheYard, caller: Caller) -> Page:
    learned = yard.releases
    found = await learned.candidates.get(caller, candidate_id)
    payload = await payload_of(learned, caller, found)
    evaluations = await learned.evaluations.all(caller, candidate_id)
    evidence = (await learned.candidates.evidence(caller, candidate_id))[:_EVIDENCE]
    releases = await learned.releases.page(caller, skill_key=found.skill_key, limit=_RELEASES)
    newest = next((one.id for one in evaluations if one.kind == EvaluationKind.REPLAY), None)
    replays = await learned.log.of_evaluation(newest) if newest else []
    return Page(
        "releases/candidate.html",
        {
            "candidate": SkillCandidateResponse.of(found),
            "payload": told_payload(payload),
            "skill": await _skill(yard, found),
            "evaluations": [SkillEvaluationResponse.of(one) for one in evaluations[:_EVALUATIONS]],
            "evaluations_total": len(evaluations),
            "replays": [SkillRunResponse.of(run) for run in replays[:_REPLAYS]],
            "evidence": [_told_execution(one) for one in evidence],
            "evidence_total": len(found.source_execution_ids),
            "releases": [SkillReleaseResponse.of(one) for one in releases.items],
            "releases_total": releases.total,
        },
        extra={
            "full_name": full_name_of(found, caller),
            "unproven": why_unproven(payload.unproven) if payload and payload.unproven else "",
            "sandboxes": await _still_there(yard, caller, {one.sandbox_id for one in evidence}),
        },
    )


def full_name_of(found: Candidate, caller: Principal) -> str:
    """What the registry calls the skill that it is, or becomes."""
    return found.skill_key if found.skill_id else f"{caller.name}/{found.name}" if found.name else ""


@router.page(f"{CANDIDATE}/promote")
async def ask_to_promote(
    candidate_id: str, yard: TheYard, caller: Caller, stage: Annotated[str, Query(max_length=16)] = Stage.CANARY.value
) -> Page:
    """What a release would change, before it is made."""
    found = await yard.releases.candidates.get(caller, candidate_id)
    caller.require_scope(Scope.PUBLISH)
    return await _promotion_page(yard, caller, found, one_of(Stage, stage) or Stage.CANARY)


@router.post(f"{CANDIDATE}/promote", response_model=None)
async def promote(candidate_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Release it to some, or to all."""
    found = await yard.releases.candidates.get(caller, candidate_id)
    stage = one_of(Stage, form.text("stage")) or Stage.CANARY
    try:
        reason = form.required("reason")[:MAX_REASON]
        promotion = Promotion(
            stage=stage,
            upgrade_reason=reason,
            change_summary=form.text("summary") or None,
            allow_risky=form.is_set("allow_risky"),
        )
        release = await yard.releases.releases.promote(caller, candidate_id, promotion)
    except SkillyardError as error:
        return await _promotion_page(yard, caller, found, stage, reason=form.text("reason"), problem=error)
    return go_to(f"/releases/{release.id}", done=f"released_{stage}")


@router.page(f"{CANDIDATE}/delete")
async def ask_to_delete(candidate_id: str, yard: TheYard, caller: Caller) -> Page:
    found = await yard.releases.candidates.get(caller, candidate_id)
    caller.require_scope(Scope.WRITE)
    return _deletion_page(found)


@router.post(f"{CANDIDATE}/delete", response_model=None)
async def delete(candidate_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Take it away, unless a release of it is in use."""
    found = await yard.releases.candidates.get(caller, candidate_id)
    reason = form.text("reason")[:MAX_REASON]
    try:
        await yard.releases.candidates.delete(caller, candidate_id, reason=reason)
    except SkillyardError as error:
        return _deletion_page(found, reason=reason, problem=error)
    return go_to("/releases", done="candidate_deleted")


async def _promotion_page(
    yard: Yard,
    caller: Principal,
    found: Candidate,
    stage: Stage,
    *,
    reason: str = "",
    problem: SkillyardError | None = None,
) -> Page:
    active = await yard.releases.releases.page(caller, skill_key=found.skill_key, active_only=True, every_stage=True)
    return Page(
        "releases/promote.html",
        {
            "candidate": SkillCandidateResponse.of(found),
            "stage": stage,
            "in_use": [SkillReleaseResponse.of(one) for one in active.items],
            "canary_percent": yard.releases.policy.canary_percent,
        },
        extra={"reason": reason, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )


def _deletion_page(found: Candidate, *, reason: str = "", problem: SkillyardError | None = None) -> Page:
    return Page(
        "releases/delete_candidate.html",
        {"candidate": SkillCandidateResponse.of(found)},
        extra={"reason": reason, "problem": problem.as_public_dict() if problem else None},
        status=problem.http_status if problem else 200,
    )


def _told_execution(one: Execution) -> dict[str, Any]:
    """An execution, without what it wrote: that can be a lot, and is told where it was run."""
    return {
        "id": one.id,
        "sandbox_id": one.sandbox_id,
        "exec_type": one.exec_type,
        "code": one.code[:_LONGEST],
        "success": one.success,
        "created_at": one.created_at,
    }


async def _still_there(yard: Yard, caller: Principal, sandbox_ids: Iterable[str]) -> set[str]:
    """Which of these sandboxes have a page; of the others, only what was run in them is kept."""
    there: set[str] = set()
    for each in sandbox_ids:
        with suppress(NotFoundError):
            there.add((await yard.sandboxes.sandboxes.get(caller, each)).id)
    return there


async def _skill(yard: Yard, found: Candidate) -> dict[str, Any] | None:
    """What it was rendered to, file by file."""
    if found.digest is None:
        return None
    try:
        bundle = await yard.registry.bundles.load(found.digest)
    except (NotFoundError, InputError):
        return None
    files = [
        {
            "path": file.path,
            "size": len(file.data),
            "text": file.data.decode()[:_LONGEST] if is_text(file.data) else None,
            "cut": len(file.data) > _LONGEST,
        }
        for file in bundle
        if file.path != SKILL_FILE
    ]
    written = bundle.get(SKILL_FILE)
    document = parse(written.data).document if written else None
    return {
        "name": found.name,
        "digest": found.digest,
        "description": document.description if document else "",
        "body": document.body if document else "",
        "files": files,
    }
