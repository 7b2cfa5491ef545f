"""What skills require, resolved against the versions that a person may have."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.identity.policy import Policy
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow
from skillyard.registry.naming import Names, in_chunks, some_visible_names
from skillyard.registry.policies import ships_draft
from skillyard.registry.skills import Version, VersionState
from skillyard.registry.store import versions_of
from skillyard.skill.dependencies import Candidate, Pool, Resolution, resolve
from skillyard.skill.requires import Requirement, name_key, parse_requires
from skillyard.skill.versions import Version as Number


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A skill that a principal may see, with all of it that could be shipped."""

    id: str
    namespace_id: str
    full_name: str
    audience: str
    """Who may see it."""
    digest: str
    """Of the working copy."""
    requires: str
    """Of the working copy."""
    versions: tuple[Version, ...]
    """The published ones, the newest first; those that were yanked too."""
    ships_draft: bool
    """Whether the working copy is shipped: nothing was ever published, and the namespace demands nothing."""

    @property
    def key(self) -> str:
        return name_key(self.full_name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A resolution, and the skills that were looked at for it, by key."""

    resolution: Resolution
    offers: Mapping[str, Offer]


async def resolve_visible(
    session: AsyncSession,
    principal: Principal,
    roots: Sequence[Requirement],
    locked: Mapping[str, Number | None],
    *,
    alone: bool,
) -> Resolved:
    """The versions that satisfy all of the roots and what those require, taken from what the principal may see.

    `alone` leaves out what they require.
    """
    pool = Pool(roots)
    offers: dict[str, Offer] = {}
    while pool.wanted:
        found = await offers_named(session, principal, pool.wanted)
        offers.update(found)
        candidates = await _candidates(session, principal, found)
        if alone:
            candidates = {key: [replace(one, requires=()) for one in ones] for key, ones in candidates.items()}
        pool.add(candidates)
    # The search is bounded, but not so short that everyone else should wait for it.
    resolution = await asyncio.to_thread(resolve, roots, pool.candidates, locked=locked)
    return Resolved(resolution=resolution, offers=offers)


async def offers_named(session: AsyncSession, principal: Principal, keys: Iterable[str]) -> dict[str, Offer]:
    """The visible skills with these full names, by key; a key without a namespace names none."""
    wanted = {key for key in keys if "/" in key}
    found: dict[str, Offer] = {}
    for names in in_chunks({key.partition("/")[2] for key in wanted}):
        query = (
            select(
                SkillRow.id,
                SkillRow.namespace_id,
                NamespaceRow.name,
                SkillRow.name,
                SkillRow.audience,
                SkillRow.digest,
                SkillRow.fields["requires"].as_string(),
                SkillRow.findings,
                NamespaceRow.policy,
            )
            .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
            .where(SkillRow.name_key.in_(names))
            .where(SkillRow.audience.in_(principal.audiences), SkillRow.deleted_at.is_(None))
        )
        rows = [row for row in await session.execute(query) if name_key(f"{row[2]}/{row[3]}") in wanted]
        versions = await versions_of(session, [row[0] for row in rows])
        for skill_id, namespace_id, namespace, name, audience, digest, requires, findings, policy in rows:
            ever = versions[skill_id]
            offer = Offer(
                id=skill_id,
                namespace_id=namespace_id,
                full_name=f"{namespace}/{name}",
                audience=audience,
                digest=digest,
                requires=requires,
                versions=tuple(one for one in ever if one.state is VersionState.PUBLISHED),
                ships_draft=ships_draft(Policy.read(policy), findings, has_versions=bool(ever)),
            )
            found[offer.key] = offer
    return found


async def _candidates(
    session: AsyncSession, principal: Principal, offers: Mapping[str, Offer]
) -> dict[str, list[Candidate]]:
    """What of these skills could be taken, with everything they require given its namespace."""
    texts = {version.requires for offer in offers.values() for version in offer.versions}
    texts |= {offer.requires for offer in offers.values() if offer.ships_draft}
    required = {text: parse_requires(text).items for text in texts}
    bare = {item.key for items in required.values() for item in items if "/" not in item.name}
    names = await some_visible_names(session, principal, keys=bare)
    found: dict[str, list[Candidate]] = {}
    for key, offer in offers.items():
        found[key] = [
            Candidate(
                name=offer.full_name,
                version=Number.parse(version.version),
                digest=version.digest,
                requires=tuple(_placed(item, offer, names) for item in required[version.requires]),
                yanked=version.yank_reason is not None,
            )
            for version in offer.versions
        ]
        if offer.ships_draft:
            requires = tuple(_placed(item, offer, names) for item in required[offer.requires])
            found[key].append(Candidate(name=offer.full_name, version=None, digest=offer.digest, requires=requires))
    return found


def _placed(requirement: Requirement, offer: Offer, names: Names) -> Requirement:
    """The requirement with the namespace that it means where it is written; one that means nothing stays as it is."""
    if "/" in requirement.name:
        return requirement
    known = names.meant(requirement.key, offer.namespace_id)
    return requirement.within(known.namespace) if known else requirement
