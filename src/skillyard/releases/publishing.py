"""Releases in the registry: a version for what was rendered, and the tags `canary` and `stable` on what is in use."""

import asyncio
from collections.abc import Mapping
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal
from skillyard.identity.store import namespace_named
from skillyard.registry.drafts import draft_of
from skillyard.registry.service import Registry
from skillyard.registry.skills import RESTORED, YANKED, Skill, Version, VersionState
from skillyard.registry.store import skill_named, versions_of
from skillyard.registry.versions import version_row
from skillyard.registry.working_copies import WorkingCopies
from skillyard.releases.rendered import LEARNED
from skillyard.releases.values import Stage

_TAGS: Final = tuple(stage.value for stage in Stage)


class ReleasePublishing:
    """Keeps the registry in step with the releases; nobody else moves these tags."""

    def __init__(self, database: Database, registry: Registry, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._registry = registry
        self._copies = WorkingCopies(history, clock=clock)

    async def publish(self, caller: Principal, name: str, digest: str, why: Why) -> None:
        """Have a version of what was rendered, in the caller's own namespace; what is there already stays."""
        async with self._database.read() as session:
            present = await _own_skill(session, caller, name)
        if present is not None and present.metadata.get("source") != LEARNED:
            raise ConflictError(
                f"There is a skill {present.full_name!r} by now that was not learned.",
                hint="Rename or delete that skill, or make a candidate with another skill_key.",
                details={"field": "name", "value": name},
            )
        bundle = await self._registry.bundles.load(digest)
        draft = await asyncio.to_thread(draft_of, bundle, folder=name)
        done = await self._registry.publishing.publish_bundle(caller, draft, notes=why.reason, why=why)
        if done.version.state is not VersionState.PUBLISHED:
            raise ConflictError(
                f"{done.skill.full_name!r} {done.version.version} waits for a review.",
                hint="Have someone approve that version, and promote the candidate then.",
                details={"skill": done.skill.full_name, "version": done.version.version},
            )

    async def settle(
        self,
        transaction: Transaction,
        caller: Principal,
        name: str,
        active: Mapping[str, str],
        *,
        bad: str | None = None,
        why: Why,
    ) -> None:
        """Point the tags at what is in use now, by stage its digest, within the transaction that changes it.

        `bad` is the digest of what was taken back: nobody is given it any more who does not ask for it by number.
        """
        skill = await _own_skill(transaction.session, caller, name)
        if skill is None:
            return
        versions = (await versions_of(transaction.session, [skill.id]))[skill.id]
        by_digest = {version.digest: version for version in versions if version.state is VersionState.PUBLISHED}
        for version in by_digest.values():
            if version.digest in active.values() and version.yank_reason is not None:
                await self._yank(transaction, caller, skill, version, None, why)
            elif version.digest == bad and bad not in active.values() and version.yank_reason is None:
                await self._yank(transaction, caller, skill, version, why.reason or "It was taken back.", why)
        for tag in _TAGS:
            wanted = by_digest.get(active.get(tag, ""))
            change = await self._registry.versions.move_tag(transaction, skill, tag, wanted and wanted.version)
            if change.before != change.after:
                await self._copies.note(transaction, caller, skill.id, change, why)

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
