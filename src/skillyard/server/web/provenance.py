"""Where the versions of a skill come from: whose words, and which executions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from skillyard.app.yard import Yard
from skillyard.history.entries import MAX_ENTRIES, Entry
from skillyard.identity.principals import Principal
from skillyard.registry.skills import PUBLISHED, Skill
from skillyard.releases.values import Candidate

_LEARNED: Final = re.compile(r"Learned from feedback ([A-Za-z0-9-]{1,64})\.")
_EXECUTIONS: Final = 5
"""Those that are named; the page of the candidate has all."""
_SANDBOXES: Final = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionRef:
    id: str
    sandbox_id: str | None
    """Where it can still be looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """What led to a version."""

    version: str
    number: int
    """Of its entry in the history."""
    actor: str
    at: datetime
    reason: str
    feedback: str
    """The words of the person it comes from."""
    feedback_id: str
    candidate_id: str
    executions: Sequence[ExecutionRef]
    executions_total: int


async def provenance_of(yard: Yard, caller: Principal, skill: Skill) -> list[Provenance]:
    """Of every version that the caller may know of, the newest first."""
    page = await yard.registry.chronicle.entries(caller, skill=skill.id, action=PUBLISHED, limit=MAX_ENTRIES)
    published = [entry for entry in page.entries if entry.done]
    digests = {entry.change.digest_after for entry in published if entry.change.digest_after}
    found = await yard.releases.candidates.rendered_as(caller, digests) if digests else []
    candidates = {candidate.digest: candidate for candidate in found}
    return [await _of(yard, caller, entry, candidates.get(entry.change.digest_after)) for entry in published]


async def _of(yard: Yard, caller: Principal, entry: Entry, candidate: Candidate | None) -> Provenance:
    learned = _LEARNED.match(entry.why.reason)
    return Provenance(
        version=str((entry.change.after or {}).get("version", "")),
        number=entry.number,
        actor=entry.actor.name,
        at=entry.at,
        reason=entry.why.reason,
        feedback=entry.why.feedback,
        feedback_id=learned[1] if learned else "",
        candidate_id=candidate.id if candidate else "",
        executions=await _executions(yard, caller, candidate) if candidate else (),
        executions_total=len(candidate.source_execution_ids) if candidate else 0,
    )


async def _executions(yard: Yard, caller: Principal, candidate: Candidate) -> list[ExecutionRef]:
    if not candidate.source_execution_ids:
        return []
    kept = {one.id: one.sandbox_id for one in await yard.releases.candidates.evidence(caller, candidate.id)}
    living = {one.id for one in (await yard.sandboxes.sandboxes.page(caller, limit=_SANDBOXES)).sandboxes}
    return [
        ExecutionRef(id=each, sandbox_id=kept[each] if kept.get(each) in living else None)
        for each in candidate.source_execution_ids[:_EXECUTIONS]
    ]
