"""How a candidate is released, and what has to hold for that."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.errors import ConflictError, InputError, QuotaError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.releases.models import CandidateRow
from skillyard.releases.store import own_release, rendered_releases
from skillyard.releases.values import ReleaseMode, Stage


@dataclass(frozen=True, kw_only=True, slots=True)
class Promotion:
    """How a candidate is to be released."""

    stage: Stage = Stage.CANARY
    upgrade_of_release_id: str | None = None
    upgrade_reason: str | None = None
    change_summary: str | None = None
    mode: ReleaseMode = ReleaseMode.MANUAL
    auto_promoted_from: str | None = None
    """The canary that a policy made stable."""
    allow_risky: bool = False
    """Whether serious findings of the scan, and variables that replays do not prove, are accepted, for the reason."""
    feedback: str = ""
    """What somebody said that led to it."""


async def require_promotable(
    session: AsyncSession, caller: Principal, candidate: CandidateRow, promotion: Promotion, *, cap: int
) -> None:
    """Refuses what nothing speaks for. `cap` is how many skills the caller may have in use; 0 for any number."""
    _require_evidence(candidate)
    if promotion.upgrade_of_release_id is not None:
        replaced = await own_release(session, caller, promotion.upgrade_of_release_id)
        if replaced.skill_key != candidate.skill_key:
            raise InputError(
                f"The release {replaced.id} is of the skill {replaced.skill_key!r}, not {candidate.skill_key!r}.",
                hint="Name a release of the same skill, or none.",
                details={"field": "upgrade_of_release_id", "value": replaced.id},
            )
    if candidate.skill_id is not None:
        return  # it is in the registry, whether it is released or not
    in_use = {row.skill_key for row in await rendered_releases(session, caller.person_id)}
    if cap and candidate.skill_key not in in_use and len(in_use) >= cap:
        raise QuotaError(
            f"You have {len(in_use)} learned skills in use; more than {cap} are not injected well.",
            hint="Retire those that are not used: skillyard release retire",
            details={"value": len(in_use), "limit": cap},
        )


def why_unproven(unproven: Mapping[str, int]) -> str:
    """Why replays that pass do not say that a candidate can be used."""
    steps = ", ".join(f"{name}: {number}" for name, number in unproven.items())
    return f"Replays are given values that its own steps show, and do not prove it (variable: step): {steps}."


def require_proven(candidate: CandidateRow, unproven: Mapping[str, int], why: Why) -> None:
    """Refuses what passes only because replays are given what it has to find out itself, unless that is accepted."""
    if not unproven or (why.allow_risky and why.reason):
        return
    raise ConflictError(
        why_unproven(unproven),
        hint="Let a step use what the other shows. If these values are known beforehand, accept it: allow_risky=true"
        " with an 'upgrade_reason' (--allow-risky -m REASON).",
        details={"candidate_id": candidate.id, "unproven": dict(unproven)},
    )


def _require_evidence(candidate: CandidateRow) -> None:
    replay = f"skillyard release replay {candidate.id}"
    way = replay if candidate.skill_id is None else f"skillyard release evaluate {candidate.id} --passed"
    details = {"candidate_id": candidate.id, "status": candidate.status}
    if candidate.latest_pass is not True:
        raise ConflictError(
            f"The latest evaluation of the candidate {candidate.id} did not pass, or there is none.",
            hint=f"Evaluate it first: {way}",
            details=details,
        )
    back, evaluated = candidate.rolled_back_at, candidate.last_evaluated_at
    if back is not None and (evaluated is None or evaluated <= back):
        raise ConflictError(
            f"The candidate {candidate.id} was taken back, and not evaluated since.",
            hint=f"Bring new evidence: {way}",
            details=details,
        )
