"""Attempts to bring content into the registry: what is refused is kept and told, a rehearsal leaves nothing."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, SkillyardError
from skillyard.history.entries import Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.directory import Namespace
from skillyard.identity.principals import Principal
from skillyard.registry.bundles import Bundles
from skillyard.registry.drafts import Draft
from skillyard.registry.policies import PolicyError
from skillyard.registry.skills import Skill, skill_subject
from skillyard.registry.store import skill_named
from skillyard.skill.bundle import Bundle

Answer = TypeVar("Answer")
REFUSALS = (ConflictError, PolicyError)
"""What is told in the history, with what was sent."""


class Attempts:
    """Does work that names a bundle, in a transaction that has it."""

    def __init__(self, database: Database, bundles: Bundles, history: History) -> None:
        self._database = database
        self._bundles = bundles
        self._history = history

    async def edit(
        self,
        principal: Principal,
        skill: Skill,
        bundle: Bundle,
        action: str,
        why: Why,
        work: Callable[[Transaction], Awaitable[Answer]],
    ) -> Answer:
        """Do something to a skill; should it be refused, keep what was sent and note the refusal."""
        try:
            return await self._bundles.commit(bundle, work)
        except REFUSALS as error:
            await self._note(principal, bundle, action, skill.subject, why, error)
            raise

    async def bring(
        self,
        principal: Principal,
        place: Namespace,
        draft: Draft,
        action: str,
        why: Why,
        work: Callable[[Transaction], Awaitable[Answer]],
        *,
        dry_run: bool = False,
    ) -> Answer:
        """The same for files that are sent to a namespace: a refusal is told of whichever skill has their name.

        A dry run answers, or refuses, as the work would, and writes nothing.
        """
        if dry_run:
            return await self._bundles.rehearse(draft.bundle, work)
        try:
            return await self._bundles.commit(draft.bundle, work)
        except REFUSALS as error:
            async with self._database.read() as session:
                skill = await skill_named(session, place.id, draft.name)
            # Where there is none, the history has it under the name alone.
            subject = skill_subject(skill.id if skill else "", f"{place.name}/{draft.name}", place.audience)
            await self._note(principal, draft.bundle, action, subject, why, error)
            raise

    async def _note(
        self, principal: Principal, bundle: Bundle, action: str, subject: Subject, why: Why, error: SkillyardError
    ) -> None:
        change = Change(action=action, subject=subject, digest_after=bundle.digest)

        async def work(transaction: Transaction) -> None:
            self._history.record_refusal(transaction, principal.actor, change, why, error)

        await self._bundles.commit(bundle, work)
