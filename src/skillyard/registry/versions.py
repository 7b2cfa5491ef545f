"""The versions of a skill after they were published: found, reviewed, yanked, tagged."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy import select

from skillyard.command_text import command_text
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.db.until_changed import UntilChanged
from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Change, Why
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.models import VersionRow, VersionTagRow
from skillyard.registry.rights import Glimpse, glimpse_of, require_skill_role, visible_skill
from skillyard.registry.skills import RESTORED, REVIEWED, TAGGED, YANKED, Skill, Version, VersionState
from skillyard.registry.store import latest_of, versions_of
from skillyard.registry.working_copies import WorkingCopies

LATEST: Final = "latest"
DRAFT: Final = "draft"
"""The working copy, where a version can be named."""
RESERVED: Final = frozenset({LATEST, DRAFT, "canary", "stable"})
"""Tags that follow from something else and are not set by hand."""
_KEPT: Final = 64
"""Skills whose versions are kept until the next change."""
_TAG: Final = re.compile(r"[a-z][a-z0-9._-]{0,63}")


class Versions:
    """What is done with a version once it is there. Its bytes never change."""

    def __init__(self, database: Database, copies: WorkingCopies) -> None:
        self._database = database
        self._copies = copies
        self._kept = UntilChanged[tuple[frozenset[str], str], tuple[Glimpse, list[Version]]](database, size=_KEPT)

    async def all(self, principal: Principal, skill_id: str) -> list[Version]:
        """The versions of a skill, the newest first; those under review only for members."""
        principal.require_scope(Scope.READ)

        async def find() -> tuple[Glimpse, list[Version]]:
            async with self._database.read() as session:
                seen = await glimpse_of(session, principal, skill_id)
                return seen, (await versions_of(session, [skill_id]))[skill_id]

        skill, found = await self._kept.get((principal.audiences, skill_id), find)
        is_member = skill.namespace_id in principal.roles or (principal.admin and skill.owner_id is None)
        return [version for version in found if is_member or version.state is VersionState.PUBLISHED]

    async def get(self, principal: Principal, skill_id: str, wanted: str = LATEST) -> Version:
        """A version by its number or tag; `latest` is the one that is shipped when none is named."""
        versions = await self.all(principal, skill_id)
        if wanted == LATEST:
            found = latest_of(versions)
        else:
            found = next((one for one in versions if wanted == one.version or wanted in one.tags), None)
        if found is None:
            raise NotFoundError(
                f"There is no version {wanted!r} of this skill.",
                hint=f"It has: {', '.join(one.version for one in versions[:10]) or 'none'}.",
                details={"skill": skill_id, "version": wanted},
            )
        return found

    async def review(self, principal: Principal, skill_id: str, version: str, *, approve: bool, why: Why) -> Version:
        """Let a version that waits be shipped, or turn it down; never by the one who published it."""

        def change(row: VersionRow) -> Mapping[str, Any]:
            if row.state != VersionState.PENDING:
                raise ConflictError(f"Version {version} does not wait for a review: it is {row.state}.")
            if row.published_by == principal.person_id:
                raise NotAllowedError(
                    "You published this version; someone else must review it.",
                    hint="Ask another publisher of the namespace.",
                )
            row.state = VersionState.PUBLISHED if approve else VersionState.REJECTED
            row.reviewed_by = principal.person_id
            return {"state": row.state}

        return await self._change_version(principal, skill_id, version, REVIEWED, change, why)

    async def yank(self, principal: Principal, skill_id: str, version: str, *, why: Why) -> Version:
        """Ship a version no more to those who do not ask for it by number; the reason is kept."""
        if not why.reason.strip():
            raise InputError("Yanking needs a reason.", hint="Say why in 'reason'.", details={"field": "reason"})

        def change(row: VersionRow) -> Mapping[str, Any] | None:
            if row.yank_reason is not None:
                return None
            row.yank_reason = why.reason
            return {"yank_reason": why.reason}

        return await self._change_version(principal, skill_id, version, YANKED, change, why)

    async def restore(self, principal: Principal, skill_id: str, version: str, *, why: Why) -> Version:
        """Take a yank back."""

        def change(row: VersionRow) -> Mapping[str, Any] | None:
            if row.yank_reason is None:
                return None
            row.yank_reason = None
            return {"yank_reason": None}

        return await self._change_version(principal, skill_id, version, RESTORED, change, why)

    async def tag(self, principal: Principal, skill_id: str, tag: str, version: str | None, *, why: Why) -> Skill:
        """Give a version a name that can move on to another; without a version, take the name away."""
        if tag in RESERVED or not _TAG.fullmatch(tag):
            raise InputError(
                f"{tag!r} cannot be set as a tag.",
                hint=f"Use lower-case letters, digits, dots and hyphens, but not {', '.join(sorted(RESERVED))}.",
                details={"field": "tag", "value": tag},
            )
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
            change = await self.move_tag(transaction, skill, tag, version)
            if change.before != change.after:
                await self._copies.note(transaction, principal, skill.id, change, why)
            return await self._copies.now(transaction, skill.id)

    async def move_tag(self, transaction: Transaction, skill: Skill, tag: str, version: str | None) -> Change:
        """Point a tag at a version within a transaction."""
        session = transaction.session
        row = await session.get(VersionTagRow, (skill.id, tag))
        before = (await session.get_one(VersionRow, row.version_id)).version if row else None
        if version is None:
            if row is not None:
                await session.delete(row)
        else:
            target = await version_row(transaction, skill, version)
            if target.state != VersionState.PUBLISHED:
                raise ConflictError(f"Version {version} is {target.state}: only a published one can be tagged.")
            if row is None:
                session.add(VersionTagRow(skill_id=skill.id, tag=tag, version_id=target.id))
            else:
                row.version_id = target.id
        await session.flush()
        return Change(
            action=TAGGED,
            subject=skill.subject,
            before={"tag": tag, "version": before},
            after={"tag": tag, "version": version},
        )

    async def _change_version(
        self,
        principal: Principal,
        skill_id: str,
        version: str,
        action: str,
        change: Callable[[VersionRow], Mapping[str, Any] | None],
        why: Why,
    ) -> Version:
        """Change the state of one version; None means that there was nothing to do."""
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.PUBLISH)
            row = await version_row(transaction, skill, version)
            before = {"version": row.version, "state": row.state, "yank_reason": row.yank_reason}
            after = change(row)
            if after is not None:
                made = Change(
                    action=action,
                    subject=skill.subject,
                    before=before,
                    after={**before, **after},
                    digest_after=row.digest,
                )
                await self._copies.note(transaction, principal, skill.id, made, why)
            found = (await versions_of(transaction.session, [skill.id]))[skill.id]
        return next(one for one in found if one.version == row.version)


async def version_row(transaction: Transaction, skill: Skill, version: str) -> VersionRow:
    query = select(VersionRow).where(VersionRow.skill_id == skill.id, VersionRow.version == version)
    row = await transaction.session.scalar(query)
    if row is None:
        raise NotFoundError(
            f"There is no version {version!r} of {skill.full_name!r}.",
            hint=f"See what there is: {command_text('registry versions', skill.full_name)}",
            details={"skill": skill.id, "version": version},
        )
    return row
