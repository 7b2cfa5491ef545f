"""Releases in the registry: a version for what was rendered, and the tags `canary` and `stable` on what is in use."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal
from skillyard.identity.store import namespace_named
from skillyard.registry.drafts import Draft, draft_as
from skillyard.registry.policies import require_learned, waiver_of
from skillyard.registry.publishing import Publication, Then
from skillyard.registry.service import Registry
from skillyard.registry.skills import RESTORED, YANKED, Skill, Version, VersionState
from skillyard.registry.store import skill_named, skill_with_id, versions_of
from skillyard.registry.versions import version_row
from skillyard.registry.working_copies import WorkingCopies
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.rendered import LEARNED
from skillyard.releases.values import Stage
from skillyard.skill.versions import Version as Number

_TAGS: Final = tuple(stage.value for stage in Stage)
Done = TypeVar("Done")
Work: TypeAlias = Callable[[Transaction], Awaitable[Done]]


class ReleasePublishing:
    """Keeps the registry in step with the releases; nobody else moves these tags."""

    def __init__(self, database: Database, registry: Registry, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._registry = registry
        self._copies = WorkingCopies(history, clock=clock)

    async def publish(
        self, caller: Principal, candidate: CandidateRow, stage: Stage, why: Why, release: Work[Done]
    ) -> Done:
        """Have a version of what is released, and release it in the same transaction; what is there already stays."""
        done: list[Done] = []

        async def then(transaction: Transaction, publication: Publication) -> None:
            if publication.version.state is VersionState.PUBLISHED:
                done.append(await release(transaction))

        if candidate.name is not None and candidate.digest is not None:
            if candidate.skill_id is None:
                await self._publish_rendered(caller, candidate.name, candidate.digest, why, then)
            elif stage is Stage.STABLE:
                await self._publish_stable(caller, candidate.skill_id, candidate.digest, why, then)
        if done:
            return done[-1]
        async with self._database.write() as transaction:
            return await release(transaction)

    async def _publish_rendered(self, caller: Principal, name: str, digest: str, why: Why, then: Then) -> None:
        """Have a version of what was rendered, in the caller's own namespace."""
        async with self._database.read() as session:
            present = await _own_skill(session, caller, name)
        if present is not None and present.metadata.get("source") != LEARNED:
            raise ConflictError(
                f"There is a skill {present.full_name!r} by now that was not learned.",
                hint="Rename or delete that skill, or make a candidate with another skill_key.",
                details={"field": "name", "value": name},
            )
        bundle = await self._registry.bundles.load(digest)
        draft = await asyncio.to_thread(draft_as, bundle, name)
        await self._require_safe(caller, draft, present, why)
        done = await self._registry.publishing.publish_bundle(caller, draft, notes=why.reason, then=then, why=why)
        if done.version.state is not VersionState.PUBLISHED:
            raise ConflictError(
                f"{done.skill.full_name!r} {done.version.version} waits for a review.",
                hint="Have someone approve that version, and promote the candidate then.",
                details={"skill": done.skill.full_name, "version": done.version.version},
            )

    async def _require_safe(self, caller: Principal, draft: Draft, present: Skill | None, why: Why) -> None:
        """Refuses serious findings of the scan, whatever the namespace accepts from people: nobody wrote the skill."""
        async with self._database.read() as session:
            namespace = await namespace_named(session, caller.tenant_id, caller.name)
            versions = (await versions_of(session, [present.id]))[present.id] if present else []
        if namespace is not None:
            require_learned(caller, namespace, draft, why, waiver=waiver_of(versions, draft.bundle.digest))

    async def _publish_stable(self, caller: Principal, skill_id: str, digest: str, why: Why, then: Then) -> None:
        """Give what was tried as a prerelease the number that it leads up to."""
        registry = self._registry
        skill = await registry.shelf.get(caller, skill_id)
        tried = [one for one in await registry.versions.all(caller, skill_id) if one.digest == digest]
        newest = max((Number.parse(one.version) for one in tried if one.shipped), default=None)
        if newest is None or not newest.is_prerelease:
            return
        if skill.latest is not None and Number.parse(skill.latest) > newest:
            raise ConflictError(
                f"{skill.full_name!r} {skill.latest} was published since {newest} was made.",
                hint="Roll the canary back, and work the change out anew from there.",
                details={"skill": skill.full_name, "version": str(newest), "latest": skill.latest},
            )
        bundle = await registry.bundles.load(digest)
        await registry.publishing.publish_bundle(
            caller,
            await asyncio.to_thread(draft_as, bundle, skill.name),
            namespace=skill.namespace,
            version=str(newest.bump("patch")),
            base=digest,
            notes=why.reason or f"Tried as {newest}.",
            then=then,
            why=why,
        )

    async def working_copy(self, row: ReleaseRow, digest: str | None) -> Draft | None:
        """What the skill of the registry goes back to, should a release of it be taken back."""
        if row.skill_id is None or digest is None or digest == row.digest:
            return None
        return await asyncio.to_thread(draft_as, await self._registry.bundles.load(digest), row.name or "")

    async def go_back(
        self, transaction: Transaction, caller: Principal, row: ReleaseRow, copy: Draft | None, why: Why
    ) -> None:
        """Let the working copy be what it was before a release, unless someone went on from there."""
        skill = None if row.skill_id is None or copy is None else await skill_with_id(transaction.session, row.skill_id)
        if skill is not None and copy is not None and skill.digest == row.digest:
            change = await self._copies.update(transaction, skill, copy)
            await self._copies.note(transaction, caller, skill.id, change, why)

    async def settle(
        self,
        transaction: Transaction,
        caller: Principal,
        row: ReleaseRow,
        active: Mapping[str, str],
        *,
        bad: str | None = None,
        why: Why,
    ) -> None:
        """Point the tags at what is in use now, by stage its digest, within the transaction that changes it.

        `bad` is the digest of what was taken back: nobody is given it any more who does not ask for it by number.
        """
        skill = await self._skill(transaction.session, caller, row)
        if skill is None:
            return
        versions = (await versions_of(transaction.session, [skill.id]))[skill.id]
        # Of two with the same files, a prerelease and what it led to, the later one is meant.
        published = [version for version in reversed(versions) if version.state is VersionState.PUBLISHED]
        by_digest = {version.digest: version for version in published}
        for version in published:
            if version.digest in active.values() and version.yank_reason is not None:
                await self._yank(transaction, caller, skill, version, None, why)
            elif version.digest == bad and bad not in active.values() and version.yank_reason is None:
                await self._yank(transaction, caller, skill, version, why.reason or "It was taken back.", why)
        for tag in _TAGS:
            wanted = by_digest.get(active.get(tag, ""))
            change = await self._registry.versions.move_tag(transaction, skill, tag, wanted and wanted.version)
            if change.before != change.after:
                await self._copies.note(transaction, caller, skill.id, change, why)

    async def _skill(self, session: AsyncSession, caller: Principal, row: ReleaseRow) -> Skill | None:
        if row.skill_id is not None:
            return await skill_with_id(session, row.skill_id)
        return None if row.name is None else await _own_skill(session, caller, row.name)

    async def _yank(
        self, transaction: Transaction, caller: Principal, skill: Skill, version: Version, reason: str | None, why: Why
    ) -> None:
        row = await version_row(transaction, skill, version.version)
        before = {"version": row.version, "state": row.state, "yank_reason": row.yank_reason}
        row.yank_reason = reason
        change = Change(
            action=YANKED if reason else RESTORED,
            subject=skill.subject,
            before=before,
            after={**before, "yank_reason": reason},
            digest_after=row.digest,
        )
        await self._copies.note(transaction, caller, skill.id, change, why)


async def _own_skill(session: AsyncSession, caller: Principal, name: str) -> Skill | None:
    namespace = await namespace_named(session, caller.tenant_id, caller.name)
    return None if namespace is None else await skill_named(session, namespace.id, name)
