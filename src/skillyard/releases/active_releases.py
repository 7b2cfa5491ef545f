"""What is in use: which release of a skill a sandbox is given, and runs."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Final

from skillyard.db.database import Database
from skillyard.delivery.add import risk_refusal
from skillyard.delivery.release_source import ActiveRelease
from skillyard.errors import NotFoundError, SkillyardError
from skillyard.registry.bundles import Bundles
from skillyard.registry.skills import Version
from skillyard.registry.store import versions_of
from skillyard.releases.decisions.share import takes_canary
from skillyard.releases.models import ReleaseRow
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.store import accepted_digests, releases_of_skills, rendered_releases, uses_of
from skillyard.releases.values import Release, Stage, value_of
from skillyard.skill.scan import scan

_REMEMBERED: Final = 1_000
"""Bundles whose findings are cached; scanning one takes milliseconds, and every new sandbox asks."""


class ActiveReleases:
    """The releases in use, for injection and for runs alike: a sandbox that is given a canary also runs it."""

    def __init__(self, database: Database, bundles: Bundles, policy: ReleasePolicy) -> None:
        self._database = database
        self._bundles = bundles
        self._policy = policy
        self._refusals: dict[str, str] = {}

    async def active(self, owner: str, stages: Sequence[str], sandbox_id: str) -> list[ActiveRelease]:
        """One release of each skill that a sandbox of this person should have."""
        async with self._database.read() as session:
            rows = [row for row in await rendered_releases(session, owner) if row.stage in stages]
            chosen = [self._chosen(of_skill, sandbox_id) for _, of_skill in groupby(rows, lambda row: row.skill_key)]
            uses = await uses_of(session, [row.id for row in chosen])
            digests = {row.digest for row in chosen if row.digest is not None}
            accepted = await accepted_digests(session, owner, digests)
        refusals = {digest: await self._refusal(digest) for digest in digests - accepted}
        return [
            ActiveRelease(
                id=row.id,
                skill_key=row.skill_key,
                folder=row.name,
                stage=row.stage,
                digest=row.digest,
                load=partial(self._bundles.load, row.digest),
                refusal=refusals.get(row.digest, ""),
                uses=uses.get(row.id, 0),
            )
            for row in chosen
            if row.name is not None and row.digest is not None
        ]

    async def _refusal(self, digest: str) -> str:
        """Why a release from before errors were refused is not given to a sandbox; empty if it is."""
        known = self._refusals.get(digest)
        if known is None:
            try:
                bundle = await self._bundles.load(digest)
            except SkillyardError:
                return ""  # its delivery fails and says why
            findings = await asyncio.to_thread(scan, bundle)
            known = self._refusals[digest] = risk_refusal(findings)
            if len(self._refusals) > _REMEMBERED:
                self._refusals.pop(next(iter(self._refusals)))
        return known

    async def choose(self, owner: str, skill_key: str, sandbox_id: str) -> Release:
        """The release of a skill that is run in a sandbox."""
        async with self._database.read() as session:
            rows = await rendered_releases(session, owner, skill_key)
        if not rows:
            raise NotFoundError(
                f"No active release found for the skill {skill_key[:100]!r}.",
                hint="See what is in use: skillyard release list",
                details={"skill_key": skill_key[:100]},
            )
        return value_of(Release, self._chosen(rows, sandbox_id))

    async def tried(self, shipped: Mapping[str, str], sandbox_id: str) -> dict[str, Version]:
        """Which of these skills of the registry, by id their stable digest, a sandbox is to try the canary of.

        What somebody published since by hand is not replaced.
        """
        async with self._database.read() as session:
            rows = await releases_of_skills(session, shipped)
            stable = {row.skill_id: row.digest for row in rows if row.stage == Stage.STABLE}
            canaries = {
                row.skill_id: row.digest
                for row in rows
                if row.stage == Stage.CANARY
                and row.skill_id is not None
                and stable.get(row.skill_id) == shipped[row.skill_id]
                and takes_canary(sandbox_id, row.id, self._policy.canary_percent)
            }
            versions = await versions_of(session, list(canaries)) if canaries else {}
        return {
            skill_id: version
            for skill_id, ever in versions.items()
            for version in reversed(ever)
            if version.digest == canaries[skill_id] and version.shipped
        }

    def _chosen(self, rows: Iterable[ReleaseRow], sandbox_id: str) -> ReleaseRow:
        """A canary is for its share of the sandboxes; with nothing stable beside it, for all."""
        by_stage = {row.stage: row for row in rows}
        stable, canary = by_stage.get(Stage.STABLE), by_stage.get(Stage.CANARY)
        if stable is None or (canary and takes_canary(sandbox_id, canary.id, self._policy.canary_percent)):
            return canary or next(iter(by_stage.values()))
        return stable
