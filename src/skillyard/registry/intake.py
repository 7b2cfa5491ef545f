"""Bundles from elsewhere: they become the working copy of a skill, which is made if need be."""

from dataclasses import dataclass

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.directory import Namespace
from skillyard.identity.namespaces import require_role
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.attempts import Attempts
from skillyard.registry.drafts import Draft
from skillyard.registry.rights import role_to_change, role_to_show, writable_namespace
from skillyard.registry.skills import UPDATED, Skill, Visibility
from skillyard.registry.store import skill_named, versions_of
from skillyard.registry.working_copies import WorkingCopies, require_base


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """What taking a bundle in led to."""

    skill: Skill
    created: bool
    """False: there was a skill of that name, and its working copy is now these files."""
    changed: bool
    """False: that skill was just so already."""


class Intake:
    """Takes whole bundles into a namespace, by the name that they state."""

    def __init__(self, database: Database, copies: WorkingCopies, attempts: Attempts) -> None:
        self._database = database
        self._copies = copies
        self._attempts = attempts

    async def take(
        self,
        principal: Principal,
        draft: Draft,
        *,
        namespace: str | None = None,
        visibility: Visibility | None = None,
        base: str | None = None,
        dry_run: bool = False,
        why: Why,
    ) -> Taken:
        """Make a skill of a bundle, or replace the working copy of the one that has its name.

        Edits that were never published are only replaced when `base` names them. A dry run writes nothing.
        """
        async with self._database.read() as session:
            place = await writable_namespace(session, principal, namespace, Visibility.PRIVATE)

        async def work(transaction: Transaction) -> Taken:
            skill = await skill_named(transaction.session, place.id, draft.name)
            return await self.place(
                transaction, principal, place, draft, skill, visibility=visibility, base=base, why=why
            )

        return await self._attempts.bring(principal, place, draft, UPDATED, why, work, dry_run=dry_run)

    async def place(
        self,
        transaction: Transaction,
        principal: Principal,
        namespace: Namespace,
        draft: Draft,
        skill: Skill | None,
        *,
        visibility: Visibility | None,
        base: str | None,
        why: Why,
    ) -> Taken:
        """The same within a transaction that has the bundle; `skill` is the one of its name, if there is one."""
        if skill is None:
            shown = visibility or Visibility.PRIVATE
            require_role(principal, namespace, role_to_show(shown), Scope.WRITE)
            made = await self._copies.add(transaction, principal, namespace, draft, shown, why)
            return Taken(skill=made, created=True, changed=True)
        require_role(principal, namespace, role_to_change(skill, visibility), Scope.WRITE)
        if skill.digest != draft.bundle.digest:
            await _require_nothing_unpublished(transaction, skill, base)
            change = await self._copies.update(transaction, skill, draft)
            await self._copies.note(transaction, principal, skill.id, change, why)
            skill = await self._copies.now(transaction, skill.id)
        skill = await self._copies.show(transaction, principal, skill, visibility, why)
        return Taken(skill=skill, created=False, changed=transaction.changed)


async def _require_nothing_unpublished(transaction: Transaction, skill: Skill, base: str | None) -> None:
    """Refuses to replace a working copy that somebody edited and nobody published."""
    if base is not None:
        require_base(skill, base)
        return
    versions = (await versions_of(transaction.session, [skill.id]))[skill.id]
    if all(version.digest != skill.digest for version in versions):
        raise ConflictError(
            f"{skill.full_name!r} has edits in the registry that were never published.",
            hint=f"Publish or fetch them first; to replace them, pass their digest as --base: {skill.digest}",
            details={"digest": skill.digest},
        )
