"""Changing skills: making them, editing them, showing and deleting them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError, SkillyardError
from skillyard.history.entries import Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.directory import Namespace
from skillyard.identity.principals import NamespaceKind, Principal, Role, Scope
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import (
    Draft,
    document_of,
    draft_of,
    edited_bundle,
    with_file,
    with_files,
    without_file,
    written_bundle,
)
from skillyard.registry.models import SkillRow
from skillyard.registry.rights import require_skill_role, role_to_show, visible_skill, writable_namespace
from skillyard.registry.rows import write_draft
from skillyard.registry.skills import (
    CREATED,
    DELETED,
    SHOWN,
    UPDATED,
    Skill,
    Visibility,
    audience_of,
    skill_subject,
)
from skillyard.registry.store import skill_named, skill_with_id, versions_of
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.models import SkillDocument

Answer = TypeVar("Answer")

NOBODY = ""
"""The audience of a deleted skill."""


class Workbench:
    """The working copies of skills. Every edit names the state it was made from, or replaces nothing unseen."""

    def __init__(self, database: Database, bundles: Bundles, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._bundles = bundles
        self._history = history
        self._clock = clock

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
            return await self.add(transaction, principal, place, draft, visibility, why)

        subject = skill_subject("", f"{place.name}/{draft.name}", place.audience)
        return await self.attempt(principal, draft.bundle, CREATED, subject, why, work)

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

        return await self._rework(principal, skill_id, change, visibility=visibility, base=base, why=why)

    async def put_file(
        self, principal: Principal, skill_id: str, file: BundleFile, *, base: str | None = None, why: Why
    ) -> Skill:
        return await self._rework(principal, skill_id, lambda bundle, _: with_file(bundle, file), base=base, why=why)

    async def delete_file(
        self, principal: Principal, skill_id: str, path: str, *, base: str | None = None, why: Why
    ) -> Skill:
        return await self._rework(principal, skill_id, lambda bundle, _: without_file(bundle, path), base=base, why=why)

    async def replace(
        self, principal: Principal, skill_id: str, bundle: Bundle, *, base: str | None = None, why: Why
    ) -> Skill:
        """Put another bundle in the place of the working copy."""
        return await self._rework(principal, skill_id, lambda _bundle, _document: bundle, base=base, why=why)

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
            return await self.show_within(transaction, principal, skill, visibility, why)

    async def delete(self, principal: Principal, skill_id: str, *, base: str | None = None, why: Why) -> None:
        """Take a skill away. Its versions stay reserved, and undoing brings it back."""
        async with self._database.write() as transaction:
            skill = await visible_skill(transaction.session, principal, skill_id)
            await require_skill_role(transaction.session, principal, skill, Role.PUBLISHER, Scope.WRITE)
            require_base(skill, base)
            change = await self.remove(transaction, skill)
            await self.note(transaction, principal, skill.id, change, why)

    async def add(
        self,
        transaction: Transaction,
        principal: Principal,
        namespace: Namespace,
        draft: Draft,
        visibility: Visibility,
        why: Why,
    ) -> Skill:
        """Write a new skill within a transaction that has its bundle and found no skill of its name."""
        now = self._clock()
        is_system = namespace.kind is NamespaceKind.SYSTEM
        if is_system and visibility is Visibility.PRIVATE:
            visibility = Visibility.PUBLIC
        row = SkillRow(
            id=new_id(),
            tenant_id=namespace.tenant_id,
            namespace_id=namespace.id,
            owner_id=None if is_system else principal.person_id,
            visibility=visibility,
            audience=audience_of(
                visibility, tenant_id=namespace.tenant_id, namespace_id=namespace.id, is_system=is_system
            ),
            created_at=now,
            deleted_at=None,
        )
        change = Change(
            action=CREATED,
            subject=skill_subject(row.id, f"{namespace.name}/{draft.name}", row.audience),
            after={**summary(draft), "visibility": visibility.value},
            digest_after=draft.bundle.digest,
        )
        row.changed = self._history.record(transaction, principal.actor, change, why)
        await write_draft(transaction, row, draft, at=now)
        return await self.now(transaction, row.id)

    async def update(self, transaction: Transaction, skill: Skill, draft: Draft) -> Change:
        """Write a draft over a working copy within a transaction that has its bundle."""
        if draft.name != skill.name:
            await self._require_free(transaction, skill, draft.name)
        row = await transaction.session.get_one(SkillRow, skill.id)
        await write_draft(transaction, row, draft, at=self._clock())
        return Change(
            action=UPDATED,
            subject=skill_subject(skill.id, f"{skill.namespace}/{draft.name}", skill.audience),
            before={"name": skill.name, "description": skill.description, "files": len(skill.files)},
            after=summary(draft),
            digest_before=skill.digest,
            digest_after=draft.bundle.digest,
        )

    async def show_within(
        self, transaction: Transaction, principal: Principal, skill: Skill, visibility: Visibility | None, why: Why
    ) -> Skill:
        """Change who may see a skill within a transaction; None, or what it is already, changes nothing."""
        if visibility is None or visibility is skill.visibility:
            return skill
        change = await self.set_visibility(transaction, skill, visibility)
        await self.note(transaction, principal, skill.id, change, why)
        return await self.now(transaction, skill.id)

    async def set_visibility(self, transaction: Transaction, skill: Skill, visibility: Visibility) -> Change:
        row = await transaction.session.get_one(SkillRow, skill.id)
        is_system = skill.owner_id is None
        if is_system and visibility is Visibility.PRIVATE:
            raise InputError("A system skill cannot be private.", hint="Use public or discoverable.")
        row.visibility = visibility
        row.audience = audience_of(
            visibility, tenant_id=skill.tenant_id, namespace_id=skill.namespace_id, is_system=is_system
        )
        row.updated_at = self._clock()
        return Change(
            action=SHOWN,
            subject=skill_subject(skill.id, skill.full_name, row.audience),
            before={"visibility": skill.visibility.value},
            after={"visibility": visibility.value},
            digest_before=skill.digest,
            digest_after=skill.digest,
            audience_before=skill.audience,
        )

    async def remove(self, transaction: Transaction, skill: Skill) -> Change:
        row = await transaction.session.get_one(SkillRow, skill.id)
        row.deleted_at = self._clock()
        row.audience = NOBODY
        return Change(
            action=DELETED,
            subject=skill.subject,
            before={"name": skill.name, "description": skill.description, "visibility": skill.visibility.value},
            digest_before=skill.digest,
        )

    async def _rework(
        self,
        principal: Principal,
        skill_id: str,
        change: Callable[[Bundle, SkillDocument], Bundle],
        *,
        visibility: Visibility | None = None,
        base: str | None,
        why: Why,
    ) -> Skill:
        """Make another bundle of a working copy and write it, unless someone else was quicker."""
        async with self._database.read() as session:
            skill = await visible_skill(session, principal, skill_id)
            await require_skill_role(session, principal, skill, role_to_change(skill, visibility), Scope.WRITE)
        present = await self._bundles.load(skill.digest)
        bundle = await asyncio.to_thread(lambda: change(present, document_of(present, folder=skill.name)))
        if bundle.digest == skill.digest:
            require_base(skill, base)
            if visibility is None or visibility is skill.visibility:
                return skill
            return await self.show(principal, skill_id, visibility, base=base, why=why)
        draft = await asyncio.to_thread(draft_of, bundle, folder=_folder_of(bundle, skill))

        async def work(transaction: Transaction) -> Skill:
            now = await visible_skill(transaction.session, principal, skill_id)
            role = role_to_change(now, visibility)
            await require_skill_role(transaction.session, principal, now, role, Scope.WRITE)
            require_base(now, base or skill.digest)
            made = await self.update(transaction, now, draft)
            await self.note(transaction, principal, now.id, made, why)
            written = await self.now(transaction, now.id)
            return await self.show_within(transaction, principal, written, visibility, why)

        return await self.attempt(principal, bundle, UPDATED, skill.subject, why, work)

    async def attempt(
        self,
        principal: Principal,
        bundle: Bundle,
        action: str,
        subject: Subject,
        why: Why,
        work: Callable[[Transaction], Awaitable[Answer]],
    ) -> Answer:
        """Do the work; should it be refused, keep what was sent and note the refusal."""
        try:
            return await self._bundles.commit(bundle, work)
        except ConflictError as error:
            await self.note_refusal(principal, bundle, action, subject, why, error)
            raise

    async def note_refusal(
        self, principal: Principal, bundle: Bundle, action: str, subject: Subject, why: Why, error: SkillyardError
    ) -> None:
        change = Change(action=action, subject=subject, digest_after=bundle.digest)

        async def work(transaction: Transaction) -> None:
            self._history.record_refusal(transaction, principal.actor, change, why, error)

        await self._bundles.commit(bundle, work)

    async def _require_free(self, transaction: Transaction, skill: Skill, name: str) -> None:
        other = await skill_named(transaction.session, skill.namespace_id, name)
        if other is not None and other.id != skill.id:
            raise name_taken(other)
        if (await versions_of(transaction.session, [skill.id]))[skill.id]:
            raise ConflictError(
                f"{skill.full_name!r} has published versions and cannot be renamed.",
                hint="Create a skill of the new name, and yank the old versions.",
                details={"field": "name", "value": name},
            )

    async def note(
        self, transaction: Transaction, principal: Principal, skill_id: str, change: Change, why: Why
    ) -> None:
        """Record a change to a skill."""
        row = await transaction.session.get_one(SkillRow, skill_id)
        row.changed = self._history.record(transaction, principal.actor, change, why)
        await transaction.session.flush()

    async def now(self, transaction: Transaction, skill_id: str) -> Skill:
        """The skill as this transaction leaves it."""
        skill = await skill_with_id(transaction.session, skill_id)
        if skill is None:
            raise AssertionError(f"the skill {skill_id} vanished from its own transaction")
        return skill


def require_base(skill: Skill, base: str | None) -> None:
    """Refuses an edit that was made from another state than the present one."""
    if base is not None and base != skill.digest:
        raise ConflictError(
            f"{skill.full_name!r} has changed since you read it.",
            hint="Read it again and repeat your edit on what is there now.",
            details={"base": base, "digest": skill.digest},
        )


def summary(draft: Draft) -> dict[str, Any]:
    """What the history shows of a working copy beside its digest."""
    return {"name": draft.name, "description": draft.document.description, "files": len(draft.bundle)}


def role_to_change(skill: Skill, visibility: Visibility | None) -> Role:
    """The role that may edit a skill, and with a visibility, show it to others than now."""
    if visibility is None or visibility is skill.visibility:
        return Role.EDITOR
    return max(role_to_show(visibility), role_to_show(skill.visibility), key=lambda role: role.rank)


def _folder_of(bundle: Bundle, skill: Skill) -> str:
    """The name under which a skill will be kept: the one that its SKILL.md states, or the present one."""
    return document_of(bundle).name or skill.name


def name_taken(skill: Skill) -> ConflictError:
    return ConflictError(
        f"There is a skill {skill.full_name!r} already.",
        hint="Edit that one, or choose another name.",
        details={"field": "name", "value": skill.name},
    )
