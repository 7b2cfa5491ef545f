"""The history as a principal may see it, and undo."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.db.database import Database
from skillyard.errors import NotFoundError
from skillyard.history.entries import Entry, Page, Why
from skillyard.history.service import History
from skillyard.history.store import entries_of
from skillyard.identity.agents import require_agent_rights
from skillyard.identity.namespaces import require_role
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.identity.store import namespace_with_id
from skillyard.registry.bundles import Bundles
from skillyard.registry.models import SkillRow
from skillyard.registry.skills import CREATED, DELETED
from skillyard.registry.undoing import NEEDED_TO_UNDO
from skillyard.registry.veil import hidden_skills, not_hidden, skill_of
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import BundleDiff, diff_bundles
from skillyard.skill.limits import MIB

MAX_ENTRIES: Final = 200
MAX_DIFF_BYTES: Final = 8 * MIB
"""Bundles that are larger together are not fetched to be compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A change as one reader meets it."""

    entry: Entry
    lost: bool
    """Whether all the reader may know is that the subject is gone for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    steps: tuple[Step, ...]
    next: int
    """The last number examined: ask on from here."""


class Chronicle:
    """What happened, who did it and why, within what a principal may know."""

    def __init__(self, database: Database, history: History, bundles: Bundles) -> None:
        self._database = database
        self._history = history
        self._bundles = bundles

    async def entries(
        self,
        principal: Principal,
        *,
        subjects: Sequence[tuple[str, str]] = (),
        actor: str | None = None,
        before: int | None = None,
        limit: int = 50,
        everything: bool = False,
    ) -> Page:
        """The newest entries first. `everything` is the audit log: all of the tenant, for its administrators."""
        principal.require_scope(Scope.READ)
        if everything:
            principal.require_admin()
        limit = max(1, min(limit, MAX_ENTRIES))
        async with self._database.read() as session:
            found = await entries_of(
                session,
                None if everything else principal.audiences,
                tenant_id=principal.tenant_id,
                subjects=subjects,
                actor=actor,
                before=before,
                only=None if everything else not_hidden(principal),
                limit=limit + 1,
            )
        return Page(entries=tuple(found[:limit]), next=found[limit - 1].number if len(found) > limit else None)

    async def entry(self, principal: Principal, number: int) -> Entry:
        principal.require_scope(Scope.READ)
        entry = await self._history.entry(number)
        subject = entry.change.subject
        known = entry.tenant_id == principal.tenant_id and subject.audience in principal.audiences
        if not known or await self._hidden(principal, [entry]):
            raise NotFoundError(f"There is no history entry {number}.", hint="List them: skillyard registry history")
        return entry

    async def diff(self, entry: Entry) -> BundleDiff | None:
        """What a change did to the files; None where it did nothing to them, or they are too large to compare."""
        change = entry.change
        whole = change.action in {CREATED, DELETED} or not entry.done
        if change.digest_before == change.digest_after or not (whole or (change.digest_before and change.digest_after)):
            return None
        sizes = [await self._size(digest) for digest in (change.digest_before, change.digest_after) if digest]
        if sum(sizes) > MAX_DIFF_BYTES:
            return None
        old, new = await self._load(change.digest_before), await self._load(change.digest_after)
        return await asyncio.to_thread(diff_bundles, old, new)

    def is_undoable(self, entry: Entry) -> bool:
        """Whether a change is of a kind that can be taken back and was not yet; who may is another question."""
        return self._history.is_undoable(entry)

    async def undo(self, principal: Principal, number: int, *, why: Why) -> Entry:
        """Take one change back, and answer with the entry that says so."""
        entry = await self.entry(principal, number)
        self._history.require_undoable(entry)
        await self._require_right(principal, entry)
        done = await self._history.undo(principal.actor, entry, why)
        return await self._history.entry(done)

    async def feed(self, principal: Principal, *, since: int, limit: int = 1000) -> Steps:
        """The changes after a number, in the order of their commits.

        Who loses sight of a subject by a change is told that it is gone, and nothing else.
        """
        principal.require_scope(Scope.READ)
        page = await self._history.feed(principal.audiences, since=since, limit=limit)
        hidden = await self._hidden(principal, page.entries)
        steps: list[Step] = []
        for entry in page.entries:
            lost = entry.change.subject.audience not in principal.audiences
            if lost or skill_of(entry) not in hidden:
                steps.append(Step(entry=entry, lost=lost))
        return Steps(steps=tuple(steps), next=page.next)

    async def _hidden(self, principal: Principal, entries: Sequence[Entry]) -> set[str]:
        skills = {skill for entry in entries if (skill := skill_of(entry))}
        async with self._database.read() as session:
            return await hidden_skills(session, principal, skills)

    async def _size(self, digest: str) -> int:
        return sum(file.size for file in await self._bundles.files(digest))

    async def _load(self, digest: str | None) -> Bundle:
        return await self._bundles.load(digest) if digest else Bundle(())

    async def _require_right(self, principal: Principal, entry: Entry) -> None:
        subject = entry.change.subject
        role, scope = NEEDED_TO_UNDO.get(entry.change.action, (Role.ADMIN, Scope.ADMIN))
        async with self._database.read() as session:
            namespace_id = subject.id if subject.kind == "namespace" else ""
            if subject.kind == "skill":
                row = await session.get(SkillRow, subject.id)
                namespace_id = row.namespace_id if row else ""
            namespace = await namespace_with_id(session, namespace_id)
        if namespace is not None:
            require_role(principal, namespace, role, scope)
        elif entry.change.action.startswith("agent."):
            require_agent_rights(principal)
        else:
            principal.require_admin()
