"""Working copies as a transaction writes them: each change with its entry in the history."""

from typing import Any, Final

from sqlalchemy import bindparam, update

from skillyard.clock import Clock, utc_now
from skillyard.db.base import new_id
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import ConflictError, InputError
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.directory import Namespace
from skillyard.identity.principals import NamespaceKind, Principal
from skillyard.identity.world import require_world
from skillyard.registry.drafts import Draft, require_folder_name
from skillyard.registry.models import SkillRow
from skillyard.registry.rows import add_skill, content_of, files_of, rewrite_skill
from skillyard.registry.skills import (
    CREATED,
    DELETED,
    LOCKED,
    NOBODY,
    SHOWN,
    UNLOCKED,
    UPDATED,
    Skill,
    Visibility,
    audience_of,
    skill_subject,
)
from skillyard.registry.store import skill_named, skill_of, skill_with_id, versions_of

_MARK: Final = update(SkillRow).where(SkillRow.id == bindparam("skill")).values(changed=bindparam("number"))


class WorkingCopies:
    """Writes working copies within transactions that others began; who may is settled by then."""

    def __init__(self, history: History, *, clock: Clock = utc_now) -> None:
        self._history = history
        self._clock = clock

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
        if visibility is Visibility.DISCOVERABLE:
            await require_world(transaction.session, principal)
        require_folder_name(draft.name)
        now = self._clock()
        is_system = namespace.kind is NamespaceKind.SYSTEM
        if is_system and visibility is Visibility.PRIVATE:
            visibility = Visibility.PUBLIC
        skill_id = new_id()
        audience = audience_of(
            visibility, tenant_id=namespace.tenant_id, namespace_id=namespace.id, is_system=is_system
        )
        change = Change(
            action=CREATED,
            subject=skill_subject(skill_id, f"{namespace.name}/{draft.name}", audience),
            after={**_summary(draft), "visibility": visibility.value},
            digest_after=draft.bundle.digest,
        )
        row = SkillRow(
            **content_of(draft),
            id=skill_id,
            tenant_id=namespace.tenant_id,
            namespace_id=namespace.id,
            owner_id=None if is_system else principal.person_id,
            visibility=visibility,
            audience=audience,
            created_at=now,
            updated_at=now,
            changed=self._history.record(transaction, principal.actor, change, why),
            locked=False,
            deleted_at=None,
        )
        await add_skill(transaction, row, draft)
        return skill_of(row, namespace.name, files_of(skill_id, draft.bundle))

    async def update(self, transaction: Transaction, skill: Skill, draft: Draft) -> Change:
        """Write a draft over a working copy within a transaction that has its bundle."""
        if draft.name != skill.name:
            require_folder_name(draft.name)
            await self._require_free(transaction, skill, draft.name)
        await rewrite_skill(transaction, skill.id, draft, at=self._clock())
        return Change(
            action=UPDATED,
            subject=skill_subject(skill.id, f"{skill.namespace}/{draft.name}", skill.audience),
            before={"name": skill.name, "description": skill.description, "files": len(skill.files)},
            after=_summary(draft),
            digest_before=skill.digest,
            digest_after=draft.bundle.digest,
        )

    async def show(
        self, transaction: Transaction, principal: Principal, skill: Skill, visibility: Visibility | None, why: Why
    ) -> Skill:
        """Change who may see a skill within a transaction; None, or what it is already, changes nothing."""
        if visibility is None or visibility is skill.visibility:
            return skill
        if visibility is Visibility.DISCOVERABLE:
            await require_world(transaction.session, principal)
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

    async def set_lock(self, transaction: Transaction, skill: Skill, *, locked: bool) -> Change:
        """Let a person hold a skill, or let go of it; not a byte of it changes."""
        row = await transaction.session.get_one(SkillRow, skill.id)
        row.locked = locked
        return Change(
            action=LOCKED if locked else UNLOCKED,
            subject=skill.subject,
            before={"locked": skill.locked},
            after={"locked": locked},
            digest_before=skill.digest,
            digest_after=skill.digest,
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

    async def note(
        self, transaction: Transaction, principal: Principal, skill_id: str, change: Change, why: Why
    ) -> int:
        """Record a change to a skill, and answer with its number."""
        number = self._history.record(transaction, principal.actor, change, why)
        await transaction.session.execute(_MARK, {"skill": skill_id, "number": number}, execution_options=UNSEEN)
        return number

    async def now(self, transaction: Transaction, skill_id: str) -> Skill:
        """The skill as this transaction leaves it."""
        skill = await skill_with_id(transaction.session, skill_id)
        if skill is None:
            raise AssertionError(f"the skill {skill_id} vanished from its own transaction")
        return skill

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


def require_base(skill: Skill, base: str | None) -> None:
    """Refuses an edit that was made from another state than the present one."""
    if base is not None and base != skill.digest:
        raise ConflictError(
            f"{skill.full_name!r} has changed since you read it.",
            hint="Read it again and repeat your edit on what is there now.",
            details={"base": base, "digest": skill.digest},
        )


def name_taken(skill: Skill) -> ConflictError:
    return ConflictError(
        f"There is a skill {skill.full_name!r} already.",
        hint="Edit that one, or choose another name.",
        details={"field": "name", "value": skill.name},
    )


def _summary(draft: Draft) -> dict[str, Any]:
    """What the history shows of a working copy beside its digest."""
    return {"name": draft.name, "description": draft.document.description, "files": len(draft.bundle)}
