"""Sessions of agents whose runs were read in: which there are, and taking them out again.

What a person read in from a log of their own is theirs to take away; what was run in a sandbox stays as it was.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, delete, exists, func, select

from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.imported_runs import IMPORTED
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, SandboxRow

_AT_ONCE: Final = 500
"""Executions that one write takes away: others are waiting to write."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WhichImported:
    """Which of them; without any of these, all."""

    sandbox_id: str | None = None
    """What stands for one session."""
    agent: str | None = None
    before: datetime | None = None
    """Only what was run before then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionKept:
    """What is kept of one session."""

    sandbox_id: str
    agent: str
    session: str
    folder: str
    executions: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionsKept:
    """Some of the sessions, the latest first, and how many there are with how many executions."""

    items: list[SessionKept]
    total: int
    executions: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TakenOut:
    executions: int
    sessions: int
    """Those of which nothing is left."""


class ImportedSessions:
    """The sessions that each person read in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def kept(self, caller: Principal, which: WhichImported, *, limit: int, offset: int = 0) -> SessionsKept:
        """The caller's own, as far as they are asked for."""
        last = func.max(ExecutionRow.created_at)
        number = func.count().label("number")
        grouped = (
            select(SandboxRow.id, number, func.min(ExecutionRow.created_at).label("first"), last.label("last"))
            .join(ExecutionRow, ExecutionRow.sandbox_id == SandboxRow.id)
            .where(*_asked(caller, which))
            .group_by(SandboxRow.id)
        )
        counted = grouped.subquery()
        shown = grouped.order_by(last.desc(), SandboxRow.id).limit(limit).offset(offset)
        async with self._database.read() as session:
            total, executions = (
                await session.execute(select(func.count(), func.coalesce(func.sum(counted.c.number), 0)))
            ).one()
            rows = (await session.execute(shown)).all()
            ids = [row.id for row in rows]
            found = await session.execute(select(SandboxRow.id, SandboxRow.labels).where(SandboxRow.id.in_(ids)))
            labels: dict[str, dict[str, str]] = {row.id: row.labels for row in found}
        items = [
            SessionKept(
                sandbox_id=row.id,
                agent=labels[row.id].get("agent", ""),
                session=labels[row.id].get("session", ""),
                folder=labels[row.id].get("folder", ""),
                executions=row.number,
                first_at=row.first,
                last_at=row.last,
            )
            for row in rows
        ]
        return SessionsKept(items=items, total=total, executions=int(executions))

    async def remove(self, caller: Principal, which: WhichImported) -> TakenOut:
        """Take executions out of what is kept, and with the last of it the session. Done again, nothing happens.

        What was learned from them stays.
        """
        caller.require_scope(Scope.WRITE)
        executions = 0
        while True:
            async with self._database.write() as transaction:
                gone = await _some(transaction, caller, which)
                executions += gone
                if gone < _AT_ONCE:
                    return TakenOut(executions=executions, sessions=await _empty_sessions(transaction, caller))


async def _some(transaction: Transaction, caller: Principal, which: WhichImported) -> int:
    """Take some away; answers how many."""
    query = (
        select(ExecutionRow.id)
        .join(SandboxRow, ExecutionRow.sandbox_id == SandboxRow.id)
        .where(*_asked(caller, which))
        .limit(_AT_ONCE)
    )
    ids = list(await transaction.session.scalars(query))
    notes = delete(ExecutionNoteRow).where(ExecutionNoteRow.execution_id.in_(ids))
    await transaction.session.execute(notes, execution_options=UNSEEN)
    await transaction.session.execute(delete(ExecutionRow).where(ExecutionRow.id.in_(ids)), execution_options=UNSEEN)
    return len(ids)


async def _empty_sessions(transaction: Transaction, caller: Principal) -> int:
    left = exists().where(ExecutionRow.sandbox_id == SandboxRow.id)
    empty = select(SandboxRow.id).where(SandboxRow.owner_id == caller.person_id, SandboxRow.backend == IMPORTED, ~left)
    ids = list(await transaction.session.scalars(empty))
    await transaction.session.execute(delete(SandboxRow).where(SandboxRow.id.in_(ids)), execution_options=UNSEEN)
    return len(ids)


def _asked(caller: Principal, which: WhichImported) -> list[ColumnElement[bool]]:
    wanted = [SandboxRow.owner_id == caller.person_id, SandboxRow.backend == IMPORTED]
    if which.sandbox_id is not None:
        wanted.append(SandboxRow.id == which.sandbox_id)
    if which.agent is not None:
        wanted.append(SandboxRow.labels["agent"].as_string() == which.agent)
    if which.before is not None:
        wanted.append(ExecutionRow.created_at < which.before)
    return wanted
