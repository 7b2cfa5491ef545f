"""Changing skills: making them, editing them, showing and deleting them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import BusyError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.attempts import Attempts
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import (
    Draft,
    document_of,
    draft_as,
    draft_of,
    edited_bundle,
    require_portable,
    with_file,
    with_files,
    without_file,
    written_bundle,
)
from skillyard.registry.rights import require_skill_role, role_to_change, visible_skill, writable_namespace
from skillyard.registry.skills import CREATED, UPDATED, Skill, Visibility
from skillyard.registry.store import skill_named
from skillyard.registry.working_copies import WorkingCopies, name_taken, require_base
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.models import SkillDocument

_MOST_TRIES: Final = 50
"""How often a change is tried again because another one was quicker. One succeeds each time, so few need many."""


class Workbench:
    """The working copies of skills. An edit that names the state it was made from replaces nothing unseen."""

    def __init__(self, database: Database, bundles: Bundles, copies: WorkingCopies, attempts: Attempts) -> None:
        self._database = database
        self._bundles = bundles
        self._copies = copies
        self._attempts = attempts

    async def create(
        self,
        principal: Principal,
        draft: Draft,
        *,
        namespace: str | None = None,
        visibility: Visibility = Visibility.PRIVATE,
        why: Why,
    ) -> Skill:
        """Put a new skill into a namespace: the principal's own unless another is named."""
        async with self._database.read() as session:
            place = await writable_namespace(session, principal, namespace, visibility)

        async def work(transaction: Transaction) -> Skill:
            present = await skill_named(transaction.session, place.id, draft.name)
            if present is not None:
                raise name_taken(present)
            return await self._copies.add(transaction, principal, place, draft, visibility, why)

        return await self._attempts.bring(principal, place, draft, CREATED, why, work)

    async def create_written(
        self,
        principal: Principal,
        fields: Mapping[str, Any],
        body: str,
        files: Sequence[BundleFile] = (),
        *,
        namespace: str | None = None,
        visibility: Visibility = Visibility.PRIVATE,
        why: Why,
    ) -> Skill:
        """Make a skill of fields, a Markdown body and further files."""
        principal.require_scope(Scope.WRITE)
        draft = await asyncio.to_thread(lambda: draft_of(written_bundle(fields, body, files)))
        return await self.create(principal, draft, namespace=namespace, visibility=visibility, why=why)

    async def edit(
        self,
        principal: Principal,
        skill_id: str,
        *,
        fields: Mapping[str, Any],
        body: str | None = None,
        files: Sequence[BundleFile] | None = None,
        visibility: Visibility | None = None,
        base: str | None = None,
        why: Why,
    ) -> Skill:
        """Set some fields, the body, all files beside SKILL.md, or who may see it; what is not named stays."""

        def change(bundle: Bundle, document: SkillDocument) -> Bundle:
            changed = bundle if files is None else with_files(bundle, files)
            return edited_bundle(changed, document, fields, body)

        renamed = fields.get("name")
        return await self._rework(
            principal, skill_id, change, renamed=renamed, visibility=visibility, base=base, why=why
        )

    async def put_file(
        self, principal: Principal, skill_id: str, file: BundleFile, *, base: str | None = None, why: Why
    ) -> Skill:
        return await self._rework(principal, skill_id, lambda bundle, _: with_file(bundle, file), base=base, why=why)

    async def delete_file(
        self, principal: Principal, skill_id: str, path: str, *, base: str | None = None, why: Why
    ) -> Skill:
        return await self._rework(principal, skill_id, lambda bundle, _: without_file(bundle, path), base=base, why=why)

    async def show(
        self, principal: Principal, skill_id: str, visibility: Visibility, *, base: str | None = None, why: Why
    ) -> Skill:
        """Change who may see a skill."""
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(
                transaction.session, principal, skill, role_to_change(skill, visibility), Scope.WRITE
            )
            require_base(skill, base)
            return await self._copies.show(transaction, principal, skill, visibility, why)

    async def lock(self, principal: Principal, skill_id: str, *, locked: bool, why: Why) -> Skill:
        """Let what is learned only be proposed for a skill, or not; what is so already stays."""
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.WRITE)
            if skill.locked is locked:
                return skill
            change = await self._copies.set_lock(transaction, skill, locked=locked)
            await self._copies.note(transaction, principal, skill.id, change, why)
            return await self._copies.now(transaction, skill.id)

    async def delete(self, principal: Principal, skill_id: str, *, base: str | None = None, why: Why) -> None:
        """Take a skill away. Its versions stay reserved, and undoing brings it back."""
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.WRITE)
            require_base(skill, base)
            change = await self._copies.remove(transaction, skill)
            await self._copies.note(transaction, principal, skill.id, change, why)

    async def _rework(
        self,
        principal: Principal,
        skill_id: str,
        change: Callable[[Bundle, SkillDocument], Bundle],
        *,
        renamed: str | None = None,
        visibility: Visibility | None = None,
        base: str | None,
        why: Why,
    ) -> Skill:
        """Write the result of `change` on a working copy; without a base, try again on what others wrote meanwhile."""
        for _ in range(_MOST_TRIES):
            async with self._database.read() as session:
                skill = await visible_skill(session, principal, skill_id)
                await require_skill_role(session, principal, skill, role_to_change(skill, visibility), Scope.WRITE)
            with suppress(_MovedOnError):
                return await self._change(
                    principal, skill, change, renamed=renamed, visibility=visibility, base=base, why=why
                )
        raise BusyError(
            f"{skill_id!r} was changed by others {_MOST_TRIES} times while this change was written.",
            hint="Send it again in a moment.",
            details={"limit": _MOST_TRIES, "retry_after": 1},
        )

    async def _change(
        self,
        principal: Principal,
        skill: Skill,
        change: Callable[[Bundle, SkillDocument], Bundle],
        *,
        renamed: str | None,
        visibility: Visibility | None,
        base: str | None,
        why: Why,
    ) -> Skill:
        """Make another bundle of this state of a working copy and write it, unless someone else was quicker."""
        present = await self._bundles.load(skill.digest)
        bundle = await asyncio.to_thread(lambda: change(present, document_of(present, folder=skill.name)))
        if bundle.digest == skill.digest:
            require_base(skill, base)
            if visibility is None or visibility is skill.visibility:
                return skill
            return await self.show(principal, skill.id, visibility, base=base, why=why)
        require_portable(bundle)
        draft = await asyncio.to_thread(draft_as, bundle, renamed or skill.name)

        async def work(transaction: Transaction) -> Skill:
            now = await visible_skill(transaction.session, principal, skill.id)
            role = role_to_change(now, visibility)
            await require_skill_role(transaction.session, principal, now, role, Scope.WRITE)
            require_base(now, base)
            if now.digest != skill.digest:
                raise _MovedOnError
            made = await self._copies.update(transaction, now, draft)
            await self._copies.note(transaction, principal, now.id, made, why)
            written = await self._copies.now(transaction, now.id)
            return await self._copies.show(transaction, principal, written, visibility, why)

        return await self._attempts.edit(principal, skill, bundle, UPDATED, why, work)


class _MovedOnError(Exception):
    """The working copy is no longer the one that a change was based on."""
