"""What the world, or whoever holds a token, finds here: each skill as it is shipped, under a name of its own."""

import asyncio
import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import count
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.errors import NotFoundError
from skillyard.identity.models import NamespaceRow
from skillyard.identity.policy import Policy
from skillyard.identity.principals import NamespaceKind, Principal, Scope
from skillyard.registry.artifacts import Artifact, Artifacts, known_artifacts
from skillyard.registry.bundles import Bundles
from skillyard.registry.models import BundleRow, SkillRow, VersionRow
from skillyard.registry.naming import in_chunks
from skillyard.registry.policies import ships_draft
from skillyard.registry.skills import VersionState, Visibility
from skillyard.skill.limits import MAX_NAME
from skillyard.skill.names import ascii_alias
from skillyard.skill.versions import Version as Number
from skillyard.skill.versions import latest

_PUBLISHED: Final = VersionState.PUBLISHED.value
_SYSTEM: Final = NamespaceKind.SYSTEM.value
_ID: Final = re.compile(r"[0-9a-f-]{1,64}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_VIEWS: Final = 16
"""Listings that are remembered, one for each circle of people who see the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A skill as it is found."""

    skill_id: str
    listed_as: str
    """Its name in the index: of `a-z0-9-`, and no other skill's."""
    name: str
    namespace_id: str
    namespace: str
    namespace_since: datetime
    foreign: bool
    """Whether it is of another tenant than whoever asks, or nobody is known to ask."""
    rank: int
    """Its place among all that are listed, 0 first: a name, or room, goes to the lower rank."""
    size: int
    """The bytes of all its files."""
    version: str | None
    """None: the working copy, because nothing was ever published."""
    artifact: Artifact


@dataclass(frozen=True, kw_only=True, slots=True)
class Offered:
    """One version of a skill, as it is offered."""

    version: str
    is_yanked: bool
    artifact: Artifact


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    """An artifact with its bytes."""

    artifact: Artifact
    data: bytes
    for_everyone: bool
    """Whether anyone may have it, so that anyone on the way may keep it."""


class _Release(NamedTuple):
    version: str | None
    digest: str


class _Candidate(NamedTuple):
    id: str
    name: str
    created_at: datetime
    namespace: NamespaceRow
    release: _Release


class Discovery:
    """Lists and serves what is shipped. Listings are remembered until anything changes."""

    def __init__(self, database: Database, bundles: Bundles) -> None:
        self._database = database
        self._artifacts = Artifacts(database, bundles)
        self._views: OrderedDict[frozenset[str], tuple[int, tuple[Listed, ...]]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def listing(self, principal: Principal | None) -> tuple[Listed, ...]:
        """What is discoverable, and what the principal may see, in the order of the listed names."""
        audiences = _audiences(principal)
        async with self._one_at_a_time:
            # Read first: what changes in between makes the listing younger than its number, and so made again.
            number = await self._database.number()
            view = self._views.get(audiences)
            if view is None or view[0] != number:
                view = (number, await self._made(audiences, principal.tenant_id if principal else None))
                self._views[audiences] = view
                if len(self._views) > _VIEWS:
                    self._views.popitem(last=False)
            self._views.move_to_end(audiences)
            return view[1]

    async def artifact(self, principal: Principal | None, skill_id: str, sha256: str) -> Served:
        """A file that the skill is, or once was, served as; whoever may not see the skill learns nothing."""
        if not (_ID.fullmatch(skill_id) and _SHA256.fullmatch(sha256)):
            raise nothing_here()
        async with self._database.read() as session:
            skill = await session.scalar(
                select(SkillRow).where(SkillRow.id == skill_id, _seen_by(_audiences(principal)))
            )
            digests = await _served_digests(session, skill) if skill else set[str]()
            known = await known_artifacts(session, digests)
        artifact = next((one for one in known.values() if one.sha256 == sha256), None)
        data = await self._artifacts.content(artifact.bundle_digest) if artifact else b""
        if skill is None or artifact is None or hashlib.sha256(data).hexdigest() != sha256:
            raise nothing_here()
        return Served(artifact=artifact, data=data, for_everyone=skill.visibility == Visibility.DISCOVERABLE)

    async def versions(self, principal: Principal | None, skill_id: str) -> tuple[Offered, ...]:
        """Every published version of a skill, the newest first; "not found" if the caller may not see the skill."""
        if not _ID.fullmatch(skill_id):
            raise nothing_here()
        async with self._database.read() as session:
            seen = select(SkillRow.id).where(SkillRow.id == skill_id, _seen_by(_audiences(principal)))
            if await session.scalar(seen) is None:
                raise nothing_here()
            query = select(VersionRow.version, VersionRow.digest, VersionRow.yank_reason).where(
                VersionRow.skill_id == skill_id, VersionRow.state == _PUBLISHED
            )
            rows = sorted(await session.execute(query), key=lambda row: _number(row[0]), reverse=True)
        artifacts = await self._artifacts.of({digest for _, digest, _ in rows})
        return tuple(
            Offered(version=version, is_yanked=reason is not None, artifact=artifacts[digest])
            for version, digest, reason in rows
            if digest in artifacts
        )

    async def _made(self, audiences: frozenset[str], home: str | None) -> tuple[Listed, ...]:
        async with self._database.read() as session:
            candidates = await _candidates(session, audiences)
            digests = {candidate.release.digest for candidate in candidates}
            sizes = await _sizes(session, digests)
        artifacts = await self._artifacts.of(digests)
        candidates = [candidate for candidate in candidates if candidate.release.digest in artifacts]
        candidates.sort(key=lambda one: _precedence(one, home))
        names = unique_names([(one.id, one.name, f"{one.namespace.name}-{one.name}") for one in candidates])
        listed = (
            Listed(
                skill_id=one.id,
                listed_as=names[one.id],
                name=one.name,
                namespace_id=one.namespace.id,
                namespace=one.namespace.name,
                namespace_since=one.namespace.created_at,
                foreign=one.namespace.tenant_id != home,
                rank=rank,
                size=sizes[one.release.digest],
                version=one.release.version,
                artifact=artifacts[one.release.digest],
            )
            for rank, one in enumerate(candidates)
        )
        return tuple(sorted(listed, key=lambda one: one.listed_as))


def nothing_here() -> NotFoundError:
    return NotFoundError("There is nothing here.", hint="/.well-known/agent-skills/index.json lists what is.")


def unique_names(items: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """A name of `a-z0-9-` for each `(key, name, longer name)`: its own for the first that has it.

    Those that come later get the longer one; where that is taken too, one with a mark that belongs to the key. What an
    item is called follows from those before it: none that comes later takes a name away.
    """
    given: dict[str, str] = {}
    taken: set[str] = set()
    for key, name, longer in items:
        given[key] = next(spelling for spelling in _spellings(key, name, longer) if spelling not in taken)
        taken.add(given[key])
    return given


def _spellings(key: str, name: str, longer: str) -> Iterable[str]:
    yield ascii_alias(name)
    alias = ascii_alias(longer)
    yield alias
    for attempt in count():
        mark = hashlib.sha256(f"{key} {attempt}".encode()).hexdigest()[:8]
        yield f"{alias[: MAX_NAME - len(mark) - 1].rstrip('-')}-{mark}"


def _precedence(candidate: _Candidate, home: str | None) -> tuple[bool, bool, datetime, str]:
    """The home tenant's skills come first, its system's before the others, then the oldest.

    To be the system's counts at home only: else any tenant could take a name from all others.
    """
    foreign = candidate.namespace.tenant_id != home
    return foreign, foreign or candidate.namespace.kind != _SYSTEM, candidate.created_at, candidate.id


def _audiences(principal: Principal | None) -> frozenset[str]:
    if principal is None:
        return frozenset()
    principal.require_scope(Scope.READ)
    return frozenset(key for key in principal.audiences if key.startswith(("tenant:", "namespace:")))


def _seen_by(audiences: frozenset[str]) -> ColumnElement[bool]:
    everyone = SkillRow.visibility == Visibility.DISCOVERABLE.value
    seen = everyone | SkillRow.audience.in_(sorted(audiences)) if audiences else everyone
    return seen & SkillRow.deleted_at.is_(None)


async def _candidates(session: AsyncSession, audiences: frozenset[str]) -> list[_Candidate]:
    """The visible skills of which something is shipped."""
    seen = _seen_by(audiences)
    ids = select(SkillRow.id).where(seen)
    namespaces = {
        row.id: row
        for row in await session.scalars(
            select(NamespaceRow).where(NamespaceRow.id.in_(select(SkillRow.namespace_id).where(seen)))
        )
    }
    policies = {key: Policy.read(row.policy) for key, row in namespaces.items()}
    versions: dict[str, list[tuple[str, str, bool]]] = {}
    query = select(
        VersionRow.skill_id, VersionRow.version, VersionRow.digest, VersionRow.state, VersionRow.yank_reason
    ).where(VersionRow.skill_id.in_(ids))
    for skill_id, version, digest, state, yanked in await session.execute(query):
        shipped = state == _PUBLISHED and yanked is None
        versions.setdefault(skill_id, []).append((version, digest, shipped))
    found: list[_Candidate] = []
    skills = select(
        SkillRow.id, SkillRow.name, SkillRow.created_at, SkillRow.digest, SkillRow.namespace_id, SkillRow.findings
    )
    for skill_id, name, created_at, digest, namespace_id, findings in await session.execute(skills.where(seen)):
        ever = versions.get(skill_id, ())
        draft = digest if ships_draft(policies[namespace_id], findings, has_versions=bool(ever)) else None
        release = _Release(None, draft) if draft else _released(ever)
        if release is not None:
            found.append(_Candidate(skill_id, name, created_at, namespaces[namespace_id], release))
    return found


async def _sizes(session: AsyncSession, digests: Iterable[str]) -> dict[str, int]:
    """The bytes of all files of each bundle."""
    sizes: dict[str, int] = {}
    for chunk in in_chunks(digests):
        query = select(BundleRow.digest, BundleRow.size).where(BundleRow.digest.in_(chunk))
        sizes.update((digest, size) for digest, size in await session.execute(query))
    return sizes


async def _served_digests(session: AsyncSession, skill: SkillRow) -> set[str]:
    """The bundles of all published versions, yanked ones too; the working copy where it is shipped."""
    rows = list(
        await session.execute(select(VersionRow.digest, VersionRow.state).where(VersionRow.skill_id == skill.id))
    )
    namespace = await session.get_one(NamespaceRow, skill.namespace_id)
    if ships_draft(Policy.read(namespace.policy), skill.findings, has_versions=bool(rows)):
        return {skill.digest}
    return {digest for digest, state in rows if state == _PUBLISHED}


def _released(versions: Sequence[tuple[str, str, bool]]) -> _Release | None:
    """The version that is shipped when none is named."""
    shipped: Mapping[str, str] = {version: digest for version, digest, is_shipped in versions if is_shipped}
    newest = latest(map(_number, shipped)) if len(shipped) > 1 else next(iter(shipped), None)
    return _Release(str(newest), shipped[str(newest)]) if newest is not None else None


@lru_cache(maxsize=8192)
def _number(version: str) -> Number:
    # Thousands of skills have the same few numbers.
    return Number.parse(version)
