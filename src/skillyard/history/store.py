"""Reading and writing the history."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.transaction import Transaction
from skillyard.history.entries import Actor, Change, Entry, Outcome, Subject, Why
from skillyard.history.models import EntryRow


def add_entry(
    transaction: Transaction,
    actor: Actor,
    change: Change,
    why: Why,
    *,
    at: datetime,
    error: dict[str, Any] | None = None,
) -> int:
    """Write one entry; its number is the change's."""
    number = transaction.take_number()
    row = {
        "number": number,
        "tenant_id": actor.tenant_id,
        "at": at,
        "actor_id": actor.id,
        "actor": actor.name,
        "action": change.action,
        "outcome": Outcome.REFUSED if error else Outcome.DONE,
        "subject_kind": change.subject.kind,
        "subject_id": change.subject.id,
        "subject": change.subject.label,
        "audience": change.subject.audience,
        "audience_before": change.audience_before,
        "reason": why.reason,
        "feedback": why.feedback,
        "before": _plain(change.before),
        "after": _plain(change.after),
        "digest_before": change.digest_before,
        "digest_after": change.digest_after,
        "error": error,
        "undoes": change.undoes,
        "undone_by": None,
        "request_id": why.request_id,
    }
    transaction.insert_last(EntryRow, row)
    return number


async def mark_undone(transaction: Transaction, number: int, *, by: int) -> None:
    await transaction.session.execute(update(EntryRow).where(EntryRow.number == number).values(undone_by=by))


async def get_entry(session: AsyncSession, number: int) -> Entry | None:
    row = await session.get(EntryRow, number)
    return row and _entry(row)


async def entries_of(
    session: AsyncSession,
    audiences: Collection[str] | None,
    *,
    tenant_id: str,
    subjects: Sequence[tuple[str, str]] = (),
    actor: str | None = None,
    before: int | None = None,
    only: ColumnElement[bool] | None = None,
    limit: int,
) -> list[Entry]:
    """The newest entries that holders of these keys, or with None anyone in the tenant, may know of.

    Only those older than `before`, about any of `subjects` where some are named, and where `only` holds.
    """
    query = select(EntryRow).where(EntryRow.tenant_id == tenant_id)
    if audiences is not None:
        query = query.where(EntryRow.audience.in_(audiences))
    if subjects:
        about = [(EntryRow.subject_kind == kind) & (EntryRow.subject_id == key) for kind, key in subjects]
        query = query.where(or_(*about))
    if actor is not None:
        query = query.where(EntryRow.actor == actor)
    if only is not None:
        query = query.where(only)
    if before is not None:
        query = query.where(EntryRow.number < before)
    rows = await session.scalars(query.order_by(EntryRow.number.desc()).limit(limit))
    return [_entry(row) for row in rows]


async def entries_after(session: AsyncSession, number: int, *, limit: int) -> list[Entry]:
    """The entries that follow a number, in the order they were committed, whoever may see them."""
    query = select(EntryRow).where(EntryRow.number > number).order_by(EntryRow.number).limit(limit)
    return [_entry(row) for row in await session.scalars(query)]


def _entry(row: EntryRow) -> Entry:
    return Entry(
        number=row.number,
        tenant_id=row.tenant_id,
        at=row.at,
        actor=Actor(tenant_id=row.tenant_id, name=row.actor, id=row.actor_id),
        why=Why(reason=row.reason, feedback=row.feedback, request_id=row.request_id),
        change=Change(
            action=row.action,
            subject=Subject(kind=row.subject_kind, id=row.subject_id, label=row.subject, audience=row.audience),
            before=row.before,
            after=row.after,
            digest_before=row.digest_before,
            digest_after=row.digest_after,
            audience_before=row.audience_before,
            undoes=row.undoes,
        ),
        outcome=Outcome(row.outcome),
        error=row.error,
        undone_by=row.undone_by,
    )


def _plain(fields: Any) -> dict[str, Any] | None:  # noqa: ANN401 -- any mapping or none
    return None if fields is None else dict(fields)
