"""Reading and writing the history."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.transaction import Transaction
from skillyard.history.entries import Actor, Change, Entry, Outcome, Subject, Why
from skillyard.history.models import EntryRow

# Statements that are made once: to make one costs more than to carry it out. By columns: as objects of the session,
# rows cost more, and nothing is changed by them here.
_ENTRIES: Final = select(*(getattr(EntryRow, column.key) for column in EntryRow.__mapper__.columns))
_AFTER: Final = _ENTRIES.where(EntryRow.number > bindparam("number")).order_by(EntryRow.number).limit(bindparam("most"))


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


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Condition:
    """What shall hold for entries; made once, and its parameters are given with each query."""

    clause: ColumnElement[bool]


async def entries_of(
    session: AsyncSession,
    audiences: Collection[str] | None,
    *,
    tenant_id: str,
    subjects: Sequence[tuple[str, str]] = (),
    action: str | None = None,
    actor: str | None = None,
    before: int | None = None,
    only: Mapping[Condition, Mapping[str, Any]] | None = None,
    limit: int,
) -> list[Entry]:
    """The newest entries that holders of these keys, or with None anyone in the tenant, may know of.

    Only those older than `before`, about any of `subjects` where some are named, and where every condition of `only`
    holds with its parameters.
    """
    shape = _Shape(
        by_audience=audiences is not None,
        subjects=len(subjects),
        by_action=action is not None,
        by_actor=actor is not None,
        is_before=before is not None,
        only=tuple(only or ()),
    )
    values: dict[str, Any] = {"tenant": tenant_id, "action": action, "actor": actor, "before": before, "most": limit}
    values |= {f"kind{number}": kind for number, (kind, _) in enumerate(subjects)}
    values |= {f"subject{number}": key for number, (_, key) in enumerate(subjects)}
    values["audiences"] = list(audiences or ())
    for parameters in (only or {}).values():
        values |= parameters
    return [_entry(row) for row in await session.execute(_newest(shape), values)]


async def entries_after(session: AsyncSession, number: int, *, limit: int) -> list[Entry]:
    """The entries that follow a number, in the order they were committed, whoever may see them."""
    rows = await session.execute(_AFTER, {"number": number, "most": limit})
    return [_entry(row) for row in rows]


class _Shape(NamedTuple):
    """What a statement for entries depends on, beside its values."""

    by_audience: bool
    subjects: int
    by_action: bool
    by_actor: bool
    is_before: bool
    only: tuple[Condition, ...]


@lru_cache(maxsize=64)
def _newest(shape: _Shape) -> Select[*tuple[Any, ...]]:
    query = _ENTRIES.where(EntryRow.tenant_id == bindparam("tenant"), *(each.clause for each in shape.only))
    if shape.by_audience:
        query = query.where(EntryRow.audience.in_(bindparam("audiences", expanding=True)))
    if shape.subjects:
        about = [
            (EntryRow.subject_kind == bindparam(f"kind{number}"))
            & (EntryRow.subject_id == bindparam(f"subject{number}"))
            for number in range(shape.subjects)
        ]
        query = query.where(or_(*about))
    if shape.by_action:
        query = query.where(EntryRow.action == bindparam("action"))
    if shape.by_actor:
        query = query.where(EntryRow.actor == bindparam("actor"))
    if shape.is_before:
        query = query.where(EntryRow.number < bindparam("before"))
    return query.order_by(EntryRow.number.desc()).limit(bindparam("most"))


def _entry(row: Any) -> Entry:  # noqa: ANN401 -- the columns of an entry, or a row of its table
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
