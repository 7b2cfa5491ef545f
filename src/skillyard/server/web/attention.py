"""What waits for somebody: versions to review, proposals, feedback that needs a person, and what does not work."""

from collections import Counter
from dataclasses import dataclass

from skillyard.app.yard import Yard
from skillyard.identity.principals import Principal, Role
from skillyard.learning.states import ProposalState, Stage
from skillyard.registry.reviews import waiting_for
from skillyard.releases.retirement import RetirementCause


@dataclass(frozen=True, kw_only=True, slots=True)
class Attention:
    """So many of a kind, and where they are dealt with."""

    kind: str
    """The key of its text, `home.attention.…`."""
    count: int
    href: str


async def attention_of(yard: Yard, principal: Principal) -> list[Attention]:
    """Everything that the principal could do something about, and nothing that is empty."""
    reviews = Attention(kind="reviews", count=len(await waiting_for(yard.database, principal)), href="/reviews")
    found = [
        reviews,
        *await _learning(yard, principal),
        *await _releases(yard, principal),
        await _references(yard, principal),
    ]
    return [each for each in found if each.count]


async def _learning(yard: Yard, principal: Principal) -> list[Attention]:
    _, proposals = await yard.learning.commits.proposals(principal, state=ProposalState.OPEN, limit=1, offset=0)
    counts = await yard.learning.intake.counts(principal)
    stuck = {stage: counts.get(stage, 0) for stage in (Stage.NEEDS_REVIEW, Stage.FAILED)}
    return [
        Attention(kind="proposals", count=proposals, href="/learning/proposals"),
        *(Attention(kind=stage.value, count=count, href=f"/learning?stage={stage}") for stage, count in stuck.items()),
    ]


async def _releases(yard: Yard, principal: Principal) -> list[Attention]:
    causes = Counter(each.cause for each in (await yard.releases.retirement.proposals(principal)).proposals)
    return [Attention(kind=cause.value, count=causes[cause], href="/releases/insights") for cause in RetirementCause]


async def _references(yard: Yard, principal: Principal) -> Attention:
    own = [key for key, role in principal.roles.items() if role.covers(Role.EDITOR)]
    count = await yard.registry.references.broken(principal, own)
    return Attention(kind="broken", count=count, href="/graph?broken=true")
