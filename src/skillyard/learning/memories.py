"""The memories of a tenant's agents: told, changed, found again and taken back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotFoundError, UsageError
from skillyard.history.entries import Change, Entry
from skillyard.history.service import History, Step, moved_on
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.drafts import Author, Draft, Effect, Related
from skillyard.learning.ids import id_of, new_id
from skillyard.learning.memory import Memory, memory_of, require_text
from skillyard.learning.models import MemoryRow
from skillyard.learning.states import Operation, Target
from skillyard.learning.traces import same_words, trace_of

MEMORY_CREATED: Final = "memory.created"
MEMORY_UPDATED: Final = "memory.updated"
MEMORY_DELETED: Final = "memory.deleted"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryWish:
    """What somebody wants remembered, changed or forgotten."""

    operation: Operation
    memory_id: str | None = None
    text: str = ""
    agent_id: str | None = None
    expires_at: datetime | None = None
    relations: Sequence[Related] = ()
    reasons: Sequence[str] = ()


class Memories:
    """Everyone in a tenant may read its memories; changing them takes the scope `publish`."""

    target = Target.MEMORY

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._clock = clock
        history.register_undo(MEMORY_CREATED, self._uncreate)
        history.register_undo(MEMORY_UPDATED, self._revert)
        history.register_undo(MEMORY_DELETED, self._undelete)

    async def all(self, principal: Principal, *, agent_id: str | None = None) -> list[Memory]:
        """What is remembered, the newest first; with an agent, what it goes by."""
        principal.require_scope(Scope.READ)
        query = select(MemoryRow).where(MemoryRow.tenant_id == principal.tenant_id, MemoryRow.deleted_at.is_(None))
        if agent_id is not None:
            query = query.where(or_(MemoryRow.agent_id.is_(None), MemoryRow.agent_id == agent_id))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(MemoryRow.created_at.desc(), MemoryRow.id))
            return [memory_of(row) for row in rows]

    async def get(self, principal: Principal, memory_id: str) -> Memory:
        principal.require_scope(Scope.READ)
        async with self._database.read() as session:
            return memory_of(await _row(session, principal.tenant_id, memory_id))

    async def draft(self, principal: Principal, wish: MemoryWish) -> Draft:
        """What would change; an update keeps the old memory, superseded by the new one."""
        principal.require_scope(Scope.WRITE)
        if wish.operation is Operation.CREATE:
            text = require_text(wish.text)
            return _draft(wish, None, {"text": text, "agent_id": wish.agent_id, **_expiry(wish)}, "Remember: " + text)
        if wish.memory_id is None:
            raise UsageError("memory_id is missing.", hint="Say which memory is meant.", details={"field": "memory_id"})
        present = await self.get(principal, wish.memory_id)
        if wish.operation is Operation.DELETE:
            return _draft(wish, present, {}, f"Forget: {present.label}")
        text = require_text(wish.text)
        content = {"text": text, "agent_id": present.agent_id, **_expiry(wish)}
        return _draft(wish, present, content, f"Instead of {present.label!r}: {text}")

    async def apply(self, draft: Draft, author: Author) -> Sequence[Effect]:
        """Make a change that `draft` worked out."""
        author.principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            done = await self._done_before(transaction, draft, author)
            if done:
                return done
            if draft.operation is Operation.CREATE:
                return (self._create(transaction, draft.content, author, Operation.CREATE),)
            row = await _row(transaction.session, author.principal.tenant_id, draft.target_id or "")
            if row.updated_at.isoformat() != draft.base or row.superseded_by is not None:
                raise ConflictError(
                    f"The memory {memory_of(row).label!r} has changed since.",
                    hint="Look at it again, and work the change out anew.",
                    details={"field": "base", "value": draft.base},
                )
            if draft.operation is Operation.DELETE:
                return (self._record(transaction, author, self._remove(row), Operation.DELETE),)
            new = self._create(transaction, draft.content, author, Operation.UPDATE)
            return (new, self._record(transaction, author, self._set(row, superseded_by=new.id), Operation.UPDATE))

    async def lock(self, author: Author, memory_id: str, *, locked: bool) -> Memory:
        """Hold a memory, so that lessons are only proposed against it, or let it go."""
        author.principal.require_scope(Scope.PUBLISH)
        async with self._database.write() as transaction:
            row = await _row(transaction.session, author.principal.tenant_id, memory_id)
            if row.locked != locked:
                self._record(transaction, author, self._set(row, locked=locked), Operation.UPDATE)
            return memory_of(row)

    async def judge(self, principal: Principal, memory_id: str, verdict: Literal["helpful", "harmful"]) -> Memory:
        """Count that a memory helped, or did harm."""
        principal.require_scope(Scope.WRITE)
        async with self._database.write(bookkeeping=True) as transaction:
            row = await _row(transaction.session, principal.tenant_id, memory_id)
            if verdict == "helpful":
                row.helpful += 1
            else:
                row.harmful += 1
            return memory_of(row)

    def _create(
        self, transaction: Transaction, content: Mapping[str, Any], author: Author, operation: Operation
    ) -> Effect:
        now = self._clock()
        expires = content.get("expires_at")
        row = MemoryRow(
            id=id_of("mem", author.lesson_id) if author.lesson_id else new_id("mem"),
            tenant_id=author.principal.tenant_id,
            agent_id=content["agent_id"],
            text=content["text"],
            lesson_id=author.lesson_id,
            provenance={"by": author.principal.name, "feedback": author.feedback},
            superseded_by=None,
            helpful=0,
            harmful=0,
            expires_at=expires and datetime.fromisoformat(expires),
            locked=False,
            created_at=now,
            updated_at=now,
            deleted_at=None,
        )
        transaction.session.add(row)
        memory = memory_of(row)
        change = Change(action=MEMORY_CREATED, subject=memory.subject, after=memory.state)
        return self._record(transaction, author, change, operation)

    def _record(self, transaction: Transaction, author: Author, change: Change, operation: Operation) -> Effect:
        number = self._history.record(transaction, author.principal.actor, change, author.why)
        return _effect(change, operation, number)

    def _set(self, row: MemoryRow, **columns: Any) -> Change:  # noqa: ANN401 -- of any column
        before = memory_of(row)
        for name, value in columns.items():
            setattr(row, name, value)
        row.updated_at = self._clock()
        after = memory_of(row)
        return Change(action=MEMORY_UPDATED, subject=after.subject, before=before.state, after=after.state)

    def _remove(self, row: MemoryRow) -> Change:
        memory = memory_of(row)
        row.deleted_at = self._clock()
        return Change(action=MEMORY_DELETED, subject=memory.subject, before=memory.state)

    async def _done_before(self, transaction: Transaction, draft: Draft, author: Author) -> Sequence[Effect]:
        """What this lesson did to memory already."""
        if author.lesson_id is None:
            return ()
        new_id, old_id = id_of("mem", author.lesson_id), draft.target_id or ""

        async def trace(memory_id: str, action: str, fits: Callable[[Entry], bool]) -> Entry | None:
            subject = ("memory", memory_id)
            return await trace_of(transaction.session, author.principal.tenant_id, subject, action, fits)

        if draft.operation is Operation.DELETE:
            row = await transaction.session.get(MemoryRow, old_id)
            if row is None or row.deleted_at is None:
                return ()
            found = [await trace(old_id, MEMORY_DELETED, lambda entry: same_words(entry.why, author.why))]
        else:
            found = [await trace(new_id, MEMORY_CREATED, lambda _: True)]
            if draft.operation is Operation.UPDATE:
                found.append(await trace(old_id, MEMORY_UPDATED, lambda entry: _superseded_by(entry) == new_id))
        return [_effect(entry.change, draft.operation, entry.number) for entry in found if entry is not None]

    async def _uncreate(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            return self._remove(await _as_left(transaction, entry))

        return step

    async def _revert(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            row = await _as_left(transaction, entry)
            before = entry.change.before or {}
            return self._set(row, superseded_by=before["superseded_by"], locked=before["locked"])

        return step

    async def _undelete(self, entry: Entry) -> Step:
        async def step(transaction: Transaction) -> Change:
            row = await transaction.session.get(MemoryRow, entry.change.subject.id)
            if row is None or row.deleted_at is None:
                raise moved_on(entry)
            row.deleted_at = None
            memory = memory_of(row)
            return Change(action=MEMORY_CREATED, subject=memory.subject, after=memory.state)

        return step


def _effect(change: Change, operation: Operation, number: int) -> Effect:
    subject = change.subject
    return Effect(kind="memory", operation=operation, id=subject.id, label=subject.label, history=number)


def _superseded_by(entry: Entry) -> str | None:
    return (entry.change.after or {}).get("superseded_by")


def _draft(wish: MemoryWish, present: Memory | None, content: Mapping[str, Any], summary: str) -> Draft:
    return Draft(
        target=Target.MEMORY,
        operation=wish.operation,
        target_id=present and present.id,
        target_name=present.label if present else summary.removeprefix("Remember: ")[:80],
        base=present and present.updated_at.isoformat(),
        content=content,
        summary=summary,
        reasons=wish.reasons,
        relations=wish.relations,
        locked=bool(present and present.locked),
    )


def _expiry(wish: MemoryWish) -> dict[str, str]:
    return {"expires_at": wish.expires_at.isoformat()} if wish.expires_at else {}


async def _row(session: AsyncSession, tenant_id: str, memory_id: str) -> MemoryRow:
    row = await session.get(MemoryRow, memory_id)
    if row is None or row.tenant_id != tenant_id or row.deleted_at is not None:
        raise NotFoundError(
            f"There is no memory {memory_id[:64]!r}.",
            hint="List them: skillyard learn memory",
            details={"memory": memory_id[:64]},
        )
    return row


async def _as_left(transaction: Transaction, entry: Entry) -> MemoryRow:
    row = await _row(transaction.session, entry.tenant_id, entry.change.subject.id)
    if memory_of(row).state != entry.change.after:
        raise moved_on(entry)
    return row
