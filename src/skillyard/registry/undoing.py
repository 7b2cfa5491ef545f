"""Taking back what was done to skills and versions."""

import asyncio
from typing import Final

from skillyard.db.transaction import Transaction
from skillyard.history.entries import Change, Entry
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.principals import Role, Scope
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import draft_as
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import (
    CREATED,
    DELETED,
    LOCKED,
    PUBLISHED,
    RESTORED,
    SHOWN,
    TAGGED,
    UNLOCKED,
    UPDATED,
    YANKED,
    Skill,
    Visibility,
    audience_of,
)
from skillyard.registry.store import skill_named, skill_with_id
from skillyard.registry.versions import Versions, version_row
from skillyard.registry.working_copies import WorkingCopies, name_taken

NEEDED_TO_UNDO: Final = {
    CREATED: (Role.PUBLISHER, Scope.WRITE),
    UPDATED: (Role.EDITOR, Scope.WRITE),
    DELETED: (Role.PUBLISHER, Scope.WRITE),
    SHOWN: (Role.PUBLISHER, Scope.WRITE),
    PUBLISHED: (Role.PUBLISHER, Scope.PUBLISH),
    YANKED: (Role.PUBLISHER, Scope.PUBLISH),
    RESTORED: (Role.PUBLISHER, Scope.PUBLISH),
    TAGGED: (Role.PUBLISHER, Scope.PUBLISH),
    LOCKED: (Role.PUBLISHER, Scope.WRITE),
    UNLOCKED: (Role.PUBLISHER, Scope.WRITE),
}
"""The same as to make the change."""


class SkillUndo:
    """How each kind of change to a skill is taken back."""

    def __init__(self, history: History, bundles: Bundles, copies: WorkingCopies, versions: Versions) -> None:
        self._bundles = bundles
        self._copies = copies
        self._versions = versions
        history.register_undo(CREATED, self._uncreate)
        history.register_undo(UPDATED, self._revert)
        history.register_undo(DELETED, self._undelete)
        history.register_undo(SHOWN, self._show_as_before)
        history.register_undo(PUBLISHED, self._withdraw)
        history.register_undo(YANKED, self._yank_as_before)
        history.register_undo(RESTORED, self._yank_as_before)
        history.register_undo(TAGGED, self._tag_as_before)
        history.register_undo(LOCKED, self._lock_as_before)
        history.register_undo(UNLOCKED, self._lock_as_before)

    async def _uncreate(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            shown = (entry.change.after or {}).get("visibility")
            # A skill that was brought back may have come with versions; one that was made got them later.
            published = skill.latest is not None and entry.change.undoes is None
            if skill.digest != entry.change.digest_after or skill.visibility != shown or published:
                raise moved_on(entry)
            return await self._copies.remove(transaction, skill)

        return step

    async def _revert(self, entry: Entry) -> Step:
        bundle = await self._bundles.load(str(entry.change.digest_before))
        draft = await asyncio.to_thread(draft_as, bundle, str((entry.change.before or {}).get("name", "")))

        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            if skill.digest != entry.change.digest_after:
                raise moved_on(entry)
            change = await self._copies.update(transaction, skill, draft)
            await _mark(transaction, skill.id)
            return change

        return step

    async def _undelete(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            session = transaction.session
            row = await session.get(SkillRow, entry.change.subject.id)
            if row is None or row.deleted_at is None or row.digest != entry.change.digest_before:
                raise moved_on(entry)
            other = await skill_named(session, row.namespace_id, row.name)
            if other is not None:
                raise name_taken(other)
            row.deleted_at = None
            row.audience = audience_of(
                Visibility(row.visibility),
                tenant_id=row.tenant_id,
                namespace_id=row.namespace_id,
                is_system=row.owner_id is None,
            )
            await _mark(transaction, row.id)
            skill = await _present(transaction, entry)
            after = {"name": skill.name, "description": skill.description, "visibility": skill.visibility.value}
            return Change(action=CREATED, subject=skill.subject, after=after, digest_after=skill.digest)

        return step

    async def _show_as_before(self, entry: Entry) -> Step:
        before, after = entry.change.before or {}, entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            if skill.visibility != after["visibility"]:
                raise moved_on(entry)
            change = await self._copies.set_visibility(transaction, skill, Visibility(before["visibility"]))
            await _mark(transaction, skill.id)
            return change

        return step

    async def _withdraw(self, entry: Entry) -> Step:
        """A version is never taken away: undoing its publication yanks it."""
        return await self._set_yank(entry, f"undone (entry {entry.number})", action=YANKED)

    async def _yank_as_before(self, entry: Entry) -> Step:
        reason = (entry.change.before or {})["yank_reason"]
        return await self._set_yank(entry, reason, action=RESTORED if reason is None else YANKED)

    async def _set_yank(self, entry: Entry, reason: str | None, *, action: str) -> Step:
        after = entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            row = await version_row(transaction, skill, after["version"])
            if row.yank_reason != after.get("yank_reason"):
                raise moved_on(entry)
            before = {"version": row.version, "state": row.state, "yank_reason": row.yank_reason}
            row.yank_reason = reason
            await _mark(transaction, skill.id)
            now = {**before, "yank_reason": reason}
            return Change(action=action, subject=skill.subject, before=before, after=now, digest_after=row.digest)

        return step

    async def _tag_as_before(self, entry: Entry) -> Step:
        before, after = entry.change.before or {}, entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            change = await self._versions.move_tag(transaction, skill, after["tag"], before["version"])
            if change.before != after:
                raise moved_on(entry)
            await _mark(transaction, skill.id)
            return change

        return step

    async def _lock_as_before(self, entry: Entry) -> Step:
        before, after = entry.change.before or {}, entry.change.after or {}

        async def step(transaction: Transaction) -> Change:
            skill = await _present(transaction, entry)
            if skill.locked is not after["locked"]:
                raise moved_on(entry)
            change = await self._copies.set_lock(transaction, skill, locked=before["locked"])
            await _mark(transaction, skill.id)
            return change

        return step


async def _present(transaction: Transaction, entry: Entry) -> Skill:
    skill = await skill_with_id(transaction.session, entry.change.subject.id)
    if skill is None:
        raise moved_on(entry)
    return skill


async def _mark(transaction: Transaction, skill_id: str) -> None:
    """The skill's last change is the one that is about to be recorded."""
    row = await transaction.session.get_one(SkillRow, skill_id)
    row.changed = transaction.next_number
    await transaction.session.flush()
