"""Bundles from elsewhere: they become the working copy of a skill, which is made if need be."""

from dataclasses import dataclass

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.directory import Namespace
from skillyard.identity.namespaces import require_role
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.drafts import Draft
from skillyard.registry.rights import role_to_show, writable_namespace
from skillyard.registry.skills import UPDATED, Skill, Visibility, skill_subject
from skillyard.registry.store import skill_named, versions_of
from skillyard.registry.workbench import Workbench, require_base, role_to_change


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """What taking a bundle in led to."""

    skill: Skill
    created: bool
    """False: there was a skill of that name, and its working copy is now these files."""


class Intake:
    """Takes whole bundles into a namespace, by the name that they state."""

    def __init__(self, database: Database, workbench: Workbench) -> None:
        self._database = database
        self._workbench = workbench

    async def take(
        self,
        principal: Principal,
        draft: Draft,
        *,
        namespace: str | None = None,
        visibility: Visibility | None = None,
        base: str | None = None,
        why: Why,
    ) -> Taken:
        """Make a skill of a bundle, or replace the working copy of the one that has its name.

        Edits that were never published are only replaced when `base` names them.
        """
        async with self._database.read() as session:
            place = await writable_namespace(session, principal, namespace, Visibility.PRIVATE)

        async def work(transaction: Transaction) -> Taken:
            skill = await skill_named(transaction.session, place.id, draft.name)
            return await self.place(
                transaction, principal, place, draft, skill, visibility=visibility, base=base, why=why
            )

        subject = skill_subject("", f"{place.name}/{draft.name}", place.audience)
        return await self._workbench.attempt(principal, draft.bundle, UPDATED, subject, why, work)

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
            made = await self._workbench.add(transaction, principal, namespace, draft, shown, why)
            return Taken(skill=made, created=True)
        require_role(principal, namespace, role_to_change(skill, visibility), Scope.WRITE)
        if skill.digest != draft.bundle.digest:
            await _require_nothing_unpublished(transaction, skill, base)
            change = await self._workbench.update(transaction, skill, draft)
            await self._workbench.note(transaction, principal, skill.id, change, why)
            skill = await self._workbench.now(transaction, skill.id)
        skill = await self._workbench.show_within(transaction, principal, skill, visibility, why)
        return Taken(skill=skill, created=False)


async def _require_nothing_unpublished(transaction: Transaction, skill: Skill, base: str | None) -> None:
    """Refuses to replace a working copy that somebody edited and nobody published."""
    if base is not None:
        require_base(skill, base)
        return
    versions = (await versions_of(transaction.session, [skill.id]))[skill.id]
    if all(version.digest != skill.digest for version in versions):
        raise ConflictError(
            f"{skill.full_name!r} has edits in the registry that were never published.",
            hint=f"Publish or fetch them first; to replace them, pass their digest as the base: {skill.digest}",
            details={"digest": skill.digest},
        )
