"""The memories of a tenant's agents: told, changed, found again and taken back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import or_, select

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, NotFoundError, UsageError
from skillyard.history.entries import Entry
from skillyard.history.service import History
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.learning.drafts import Author, Draft, Effect, Related
from skillyard.learning.kept_knowledge import KeptKnowledge
from skillyard.learning.memory import Memory, memory_of, require_text
from skillyard.learning.models import MemoryRow
from skillyard.learning.places import COMMON, Place, place_of, require_at, visible
from skillyard.learning.states import Operation, Target

_PREFIX: Final = "mem"


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
    place: Place = COMMON
    """Where a new one goes."""


class Memories(KeptKnowledge[MemoryRow, Memory]):
    """The memories of a tenant. A changed one is kept, superseded by the new one."""

    target = Target.MEMORY

    def __init__(self, database: Database, history: History, *, clock: Clock = utc_now) -> None:
        super().__init__(database, history, "memory", MemoryRow, clock=clock)

    async def all(self, principal: Principal, *, agent_id: str | None = None) -> list[Memory]:
        """What is remembered, the newest first; with an agent, what it goes by."""
        principal.require_scope(Scope.READ)
        query = select(MemoryRow).where(visible(principal, MemoryRow), MemoryRow.deleted_at.is_(None))
        if agent_id is not None:
            query = query.where(or_(MemoryRow.agent_id.is_(None), MemoryRow.agent_id == agent_id))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(MemoryRow.created_at.desc(), MemoryRow.id))
            return [memory_of(row) for row in rows]

    async def of_tenant(self, tenant_id: str) -> list[Memory]:
        """All of them, the newest first, whether or not the caller may read them."""
        query = select(MemoryRow).where(MemoryRow.tenant_id == tenant_id, MemoryRow.deleted_at.is_(None))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(MemoryRow.created_at.desc(), MemoryRow.id))
            return [memory_of(row) for row in rows]

    async def knows(self, principal: Principal, text: str, *, agent_id: str) -> bool:
        """Whether an agent remembers something in just these words."""
        principal.require_scope(Scope.READ)
        query = select(MemoryRow).where(
            visible(principal, MemoryRow),
            MemoryRow.text == require_text(text),
            MemoryRow.deleted_at.is_(None),
            or_(MemoryRow.agent_id.is_(None), MemoryRow.agent_id == agent_id),
        )
        async with self._database.read() as session:
            memories = [memory_of(row) for row in await session.scalars(query)]
        return any(memory.holds(self._clock()) for memory in memories)

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

    async def judge(self, principal: Principal, memory_id: str, verdict: Literal["helpful", "harmful"]) -> Memory:
        """Count that a memory helped, or did harm."""
        principal.require_scope(Scope.WRITE)
        async with self._database.write(bookkeeping=True) as transaction:
            row = await self._visible_row(transaction.session, principal, memory_id)
            require_at(principal, place_of(row), Role.EDITOR, Scope.WRITE)
            if verdict == "helpful":
                row.helpful += 1
            else:
                row.harmful += 1
            return memory_of(row)

    def _value(self, row: MemoryRow) -> Memory:
        return memory_of(row)

    def _missing(self, key: str) -> NotFoundError:
        return NotFoundError(
            f"There is no memory {key[:64]!r}.",
            hint="List them: skillyard learn memory",
            details={"memory": key[:64]},
        )

    def _require_base(self, row: MemoryRow, draft: Draft) -> None:
        if row.updated_at.isoformat() != draft.base or row.superseded_by is not None:
            raise ConflictError(
                f"The memory {memory_of(row).label!r} has changed since.",
                hint="Look at it again, and work the change out anew.",
                details={"field": "base", "value": draft.base},
            )

    def _create(self, transaction: Transaction, draft: Draft, author: Author, *, locked: bool = False) -> Effect:
        now, content = self._clock(), draft.content
        expires = content.get("expires_at")
        row = MemoryRow(
            id=self._id(_PREFIX, author),
            tenant_id=author.principal.tenant_id,
            agent_id=content["agent_id"],
            text=content["text"],
            lesson_id=author.lesson_id,
            provenance={"by": author.principal.name, "feedback": author.feedback, **_lesson(author)},
            superseded_by=None,
            helpful=0,
            harmful=0,
            expires_at=expires and datetime.fromisoformat(expires),
            locked=locked,
            **(draft.place or COMMON).columns,
            created_at=now,
            updated_at=now,
            deleted_at=None,
        )
        transaction.session.add(row)
        return self._record_new(transaction, author, row, draft.operation)

    async def _update(self, transaction: Transaction, row: MemoryRow, draft: Draft, author: Author) -> Sequence[Effect]:
        new = self._create(transaction, draft, author, locked=row.locked)
        change = self._set(row, {**memory_of(row).state, "superseded_by": new.id})
        return new, self._record(transaction, author, change, Operation.UPDATE)

    def _fill(self, row: MemoryRow, state: Mapping[str, Any]) -> None:
        row.superseded_by, row.locked = state["superseded_by"], state["locked"]

    async def _entries(self, transaction: Transaction, draft: Draft, author: Author) -> Sequence[Entry | None]:
        new_id = self._id(_PREFIX, author)
        found = [await self._trace(transaction, author, new_id, self._created, lambda _: True)]
        if draft.operation is Operation.UPDATE:
            old_id = draft.target_id or ""
            found.append(
                await self._trace(
                    transaction, author, old_id, self._updated, lambda entry: _superseded_by(entry) == new_id
                )
            )
        return found


def _lesson(author: Author) -> dict[str, str]:
    """Who gave the feedback behind a memory, and what the lesson took from it, which may differ from the words."""
    return {"given_by": author.given_by, "lesson": author.meaning} if author.lesson_id else {}


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
        place=present.place if present else wish.place,
    )


def _expiry(wish: MemoryWish) -> dict[str, str]:
    return {"expires_at": wish.expires_at.isoformat()} if wish.expires_at else {}
