"""The history as a principal may see it, and undo."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.db.until_changed import UntilChanged
from skillyard.errors import NotAllowedError, NotFoundError
from skillyard.history.entries import MAX_ENTRIES, Entry, Page, Why
from skillyard.history.models import EntryRow
from skillyard.history.service import History
from skillyard.history.store import Condition, entries_of
from skillyard.identity.agents import require_agent_rights
from skillyard.identity.models import NamespaceRow
from skillyard.identity.namespaces import require_role
from skillyard.identity.principals import Principal, Role, Scope, person_audience
from skillyard.identity.store import namespace_with_id
from skillyard.identity.world import require_world
from skillyard.registry.bundles import Bundles
from skillyard.registry.models import SkillRow
from skillyard.registry.rights import no_skill
from skillyard.registry.shelf import Shelf
from skillyard.registry.skills import CREATED, DELETED, NOBODY, SHOWN, Visibility
from skillyard.registry.undoing import NEEDED_TO_UNDO
from skillyard.registry.veil import hidden_skills, not_hidden, skill_of
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import BundleDiff, diff_bundles
from skillyard.skill.limits import MIB
from skillyard.skill.names import is_id
from skillyard.skill.requires import name_key

MAX_DIFF_BYTES: Final = 8 * MIB
"""Bundles that are larger together are not fetched to be compared."""
_KEPT: Final = 64
"""Pages that are kept until the next change: nothing is added to the history without one."""
_PUBLISHING: Final = (Role.PUBLISHER, Scope.PUBLISH)

_IS_SKILL: Final = EntryRow.subject_kind == "skill"
_OF_SKILLS: Final = EntryRow.subject_id.in_(bindparam("skills", expanding=True))
_OF_NAME: Final = (EntryRow.subject_id == "") & (EntryRow.subject == bindparam("skill_name"))
_ABOUT_SKILLS: Final = Condition(clause=_IS_SKILL & _OF_SKILLS)
_ABOUT_NAME: Final = Condition(clause=_IS_SKILL & (_OF_SKILLS | _OF_NAME))
"""Also refused attempts to make a skill of that name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedItem:
    """A change as one reader meets it."""

    entry: Entry
    lost: bool
    """Whether all the reader may know is that the subject is gone for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    items: tuple[FeedItem, ...]
    next: int
    """The last number examined: ask on from here."""


class Chronicle:
    """What happened, who did it and why, within what a principal may know."""

    def __init__(self, database: Database, history: History, shelf: Shelf, bundles: Bundles) -> None:
        self._database = database
        self._history = history
        self._shelf = shelf
        self._bundles = bundles
        self._rights: dict[str, Callable[[Principal, Entry], Awaitable[None]]] = {}
        self._kept = UntilChanged[tuple[object, ...], Page](database, size=_KEPT)

    def register_right(self, kind: str, require: Callable[[Principal, Entry], Awaitable[None]]) -> None:
        """Lets a room above decide who may undo changes of its kind."""
        self._rights[kind] = require

    async def entries(
        self,
        principal: Principal,
        *,
        skill: str | None = None,
        subjects: Sequence[tuple[str, str]] = (),
        action: str | None = None,
        actor: str | None = None,
        before: int | None = None,
        limit: int = 50,
        everything: bool = False,
    ) -> Page:
        """The newest entries first. `everything` is the audit log: all of the tenant, for its administrators.

        `skill` is an id, a name, or a namespace and a name; of a name, those count too that had it until they were
        deleted, and attempts that were refused before there was one.
        """
        principal.require_scope(Scope.READ)
        if everything:
            principal.require_admin()
        limit = max(1, min(limit, MAX_ENTRIES))

        async def find() -> Page:
            only = {} if everything else not_hidden(principal)
            if skill is not None:
                only.update(await self._about(principal, skill))
            async with self._database.read() as session:
                found = await entries_of(
                    session,
                    None if everything else principal.audiences,
                    tenant_id=principal.tenant_id,
                    subjects=subjects,
                    action=action,
                    actor=actor,
                    before=before,
                    only=only,
                    limit=limit + 1,
                )
            return Page(entries=tuple(found[:limit]), next=found[limit - 1].number if len(found) > limit else None)

        asked = (skill, tuple(subjects), action, actor, before, limit, everything)
        return await self._kept.get((principal.audiences, *asked), find)

    async def entry(self, principal: Principal, number: int) -> Entry:
        principal.require_scope(Scope.READ)
        entry = await self._history.entry(number)
        subject = entry.change.subject
        known = entry.tenant_id == principal.tenant_id and subject.audience in principal.audiences
        if not known or await self._hidden(principal, [entry]):
            raise NotFoundError(f"There is no history entry {number}.", hint="List them: skillyard registry history")
        return entry

    async def has_content(self, entry: Entry) -> bool:
        """Whether the files that a change left, or that were refused, are there: those are not kept for good."""
        digest = entry.change.digest_after
        return digest is not None and await self._bundles.has(digest)

    async def diff(self, entry: Entry) -> BundleDiff | None:
        """What a change did to the files.

        None where it did nothing to them, where they are too large to compare, or where they are no longer kept.
        """
        change = entry.change
        if not entry.done and not await self.has_content(entry):
            return None
        whole = change.action in {CREATED, DELETED} or not entry.done
        if change.digest_before == change.digest_after or not (whole or (change.digest_before and change.digest_after)):
            return None
        digests = [digest for digest in (change.digest_before, change.digest_after) if digest]
        if not all([await self._bundles.has(digest) for digest in digests]):
            return None  # of something that is no files, such as a decision table
        sizes = [await self._size(digest) for digest in digests]
        if sum(sizes) > MAX_DIFF_BYTES:
            return None
        old, new = await self._load(change.digest_before), await self._load(change.digest_after)
        return await asyncio.to_thread(diff_bundles, old, new)

    def is_undoable(self, entry: Entry) -> bool:
        """Whether a change is of a kind that can be taken back and was not yet; who may is another question."""
        return self._history.is_undoable(entry)

    async def may_undo(self, principal: Principal, number: int) -> bool:
        """Whether this principal may take a change back, and it can be."""
        entry = await self.entry(principal, number)
        try:
            await self._require_right(principal, entry)
        except NotAllowedError:
            return False
        return self.is_undoable(entry)

    async def undo(self, principal: Principal, number: int, *, why: Why) -> Entry:
        """Take one change back, and answer with the entry that says so."""
        entry = await self.entry(principal, number)
        await self._require_right(principal, entry)
        done = await self._history.undo(principal.actor, entry, why)
        return await self._history.entry(done)

    async def feed(self, principal: Principal, *, since: int, limit: int = 1000) -> Feed:
        """The changes after a number, in the order of their commits.

        Who loses sight of a subject by a change is told that it is gone, and nothing else.
        """
        principal.require_scope(Scope.READ)
        page = await self._history.feed(principal.audiences, since=since, limit=limit)
        hidden = await self._hidden(principal, page.entries)
        items: list[FeedItem] = []
        for entry in page.entries:
            lost = entry.change.subject.audience not in principal.audiences
            if lost or skill_of(entry) not in hidden:
                items.append(FeedItem(entry=entry, lost=lost))
        return Feed(items=tuple(items), next=page.next)

    async def _about(self, principal: Principal, name: str) -> dict[Condition, dict[str, Any]]:
        """What holds for the entries about a skill; an error where nothing is known of one."""
        if is_id(name):
            return {_ABOUT_SKILLS: {"skills": [name]}}
        namespace, _, last = name.rpartition("/")
        try:
            present = await self._shelf.named(principal, last, namespace or None)
        except NotFoundError:
            present = None
        namespace = present.namespace if present else namespace
        full_name = present.full_name if present else f"{namespace or principal.name}/{last}"
        async with self._database.read() as session:
            gone = await _deleted(session, principal.tenant_id, namespace, last)
            ids = [*gone, present.id] if present else gone
            about = {_ABOUT_NAME: {"skills": ids, "skill_name": full_name}}
            known = present or await entries_of(
                session,
                principal.audiences,
                tenant_id=principal.tenant_id,
                only=about | not_hidden(principal),
                limit=1,
            )
        if not known:
            raise no_skill(name)
        return about

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
        else_needed = _PUBLISHING if subject.kind == "release" else (Role.ADMIN, Scope.ADMIN)
        role, scope = NEEDED_TO_UNDO.get(entry.change.action, else_needed)
        async with self._database.read() as session:
            namespace_id = subject.id if subject.kind == "namespace" else ""
            if subject.kind in {"skill", "release"}:
                row = await session.get(SkillRow, skill_of(entry) or "")
                namespace_id = row.namespace_id if row else ""
                shown = row.visibility if row and entry.change.action == DELETED else _shown_before(entry)
                if shown == Visibility.DISCOVERABLE:
                    await require_world(session, principal)
            namespace = await namespace_with_id(session, namespace_id)
        if namespace is not None:
            require_role(principal, namespace, role, scope)
        elif entry.change.action.startswith("agent."):
            require_agent_rights(principal)
        elif subject.kind in self._rights:
            await self._rights[subject.kind](principal, entry)
        elif subject.audience == person_audience(principal.person_id):
            principal.require_scope(Scope.WRITE)
        else:
            principal.require_admin()


async def _deleted(session: AsyncSession, tenant_id: str, namespace: str, name: str) -> list[str]:
    """The ids of skills that had this name until they were deleted, in one namespace or, without one, in any."""
    query = (
        select(SkillRow.id)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.audience == NOBODY, SkillRow.name_key == name_key(name), SkillRow.tenant_id == tenant_id)
    )
    return list(await session.scalars(query.where(NamespaceRow.name == namespace) if namespace else query))


def _shown_before(entry: Entry) -> str | None:
    """The visibility of a skill before a change of it."""
    return (entry.change.before or {}).get("visibility") if entry.change.action == SHOWN else None
