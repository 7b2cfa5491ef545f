"""Feedback in a table of another database: selected in the order of its time, and nothing else is done there."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import (
    URL,
    ColumnClause,
    ColumnElement,
    Connection,
    NullPool,
    Select,
    and_,
    column,
    create_engine,
    make_url,
    not_,
    or_,
    select,
    table,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from skillyard.errors import InputError, UnavailableError
from skillyard.learning.sources.order_values import again, kept
from skillyard.learning.sources.place_fields import Fields
from skillyard.learning.sources.readers import Page, Position
from skillyard.learning.sources.secret_names import filled_in, require_named, require_no_secret

OVERLAP: Final = 1_000
"""Rows before the last that was seen from which the table is read again."""
PAGE: Final = 500
MAX_UNORDERED: Final = 10_000
_SQLITE: Final = "sqlite"
_POSTGRESQL: Final = "postgresql+psycopg"
_DRIVERS: Final = {_SQLITE: _SQLITE, "postgresql": _POSTGRESQL, "postgres": _POSTGRESQL}
_READ_ONLY: Final = "-c default_transaction_read_only=on -c statement_timeout=60000"


@dataclass(frozen=True, kw_only=True, slots=True)
class TablePlace:
    """Which columns of which table hold what."""

    database: URL
    schema: str | None
    table: str
    fields: Mapping[str, str]
    """Our name for each part of feedback, and the column; `event_id` is one that tells rows apart."""
    overlap: int

    @classmethod
    def read(cls, place: Mapping[str, Any]) -> Self:
        """The table that somebody named, once what they say is looked over; the database is not asked."""
        given = Fields(place, known=("database", "schema", "table", "fields", "overlap_rows"))
        text = given.text("database")
        require_named("place.database", text)
        try:
            url = make_url(text)
        except ArgumentError:
            raise InputError(
                "place.database is no address of a database.",
                hint=f"Write postgresql://reader:${{FEEDBACK_SOURCE_PASSWORD}}@host/name or {_SQLITE}:////path/to/file.",
                details={"field": "place.database"},
            ) from None
        for secret in (url.password, *(value for key, value in url.query.items() if "pass" in key.lower())):
            require_no_secret("place.database", secret if isinstance(secret, str) or secret is None else secret[0])
        return cls(
            database=url.set(drivername=_DRIVERS.get(url.drivername.partition("+")[0], url.drivername)),
            schema=given.text("schema") if "schema" in place else None,
            table=given.text("table"),
            fields=given.mapping(required=("content", "event_id")),
            overlap=given.number("overlap_rows", OVERLAP),
        )


class TableReader:
    """Reads a table, oldest rows first."""

    def __init__(self, place: TablePlace) -> None:
        self._place = place
        self._columns: dict[str, ColumnClause[Any]] = {ours: column(name) for ours, name in place.fields.items()}
        self._ordered_by = [name for name in ("time", "event_id") if name in self._columns]
        self._table = table(
            place.table, *{each.name: each for each in self._columns.values()}.values(), schema=place.schema
        )

    @property
    def _order(self) -> list[ColumnClause[Any]]:
        return [self._columns[name] for name in self._ordered_by]

    async def pages(self, position: Position | None) -> AsyncIterator[Page]:
        last = again(position["order"]) if position and position.get("order") else None
        start = None if last is None else await asyncio.to_thread(self._some_before, last)
        while rows := await asyncio.to_thread(self._rows, self._after(start)):
            start = [rows[-1][name] for name in self._ordered_by]
            yield Page(items=rows, position={"order": kept(start)})
            if len(rows) < PAGE:
                break
        if last is None:
            unordered = or_(*(each.is_(None) for each in self._order))
            rows = await asyncio.to_thread(self._rows, self._query(unordered).limit(MAX_UNORDERED))
            yield Page(items=rows, position={"order": None if start is None else kept(start)})

    def _query(self, *where: ColumnElement[bool]) -> Select[Any]:
        return select(*self._columns.values()).select_from(self._table).where(*where)

    def _after(self, start: Sequence[Any] | None) -> Select[Any]:
        ordered: list[ColumnElement[bool]] = [each.is_not(None) for each in self._order]
        if start is not None:
            ordered.append(self._later(start))
        return self._query(*ordered).order_by(*self._order).limit(PAGE)

    def _later(self, start: Sequence[Any]) -> ColumnElement[bool]:
        first, *rest = [(each, value) for each, value in zip(self._order, start, strict=True)]
        later: ColumnElement[bool] = first[0] > first[1]
        for each, value in rest:
            later = or_(later, and_(first[0] == first[1], each > value))
        return later

    def _some_before(self, last: Sequence[Any]) -> list[Any] | None:
        """Where to begin so that rows that came late are seen; None for the first row."""
        query: Select[Any] = select(*self._order).select_from(self._table)
        query = query.where(*(each.is_not(None) for each in self._order), not_(self._later(last)))
        query = query.order_by(*(each.desc() for each in self._order)).offset(self._place.overlap).limit(1)
        with self._connected() as connection:
            row = connection.execute(query).first()
        return None if row is None else list(row)

    def _rows(self, query: Select[Any]) -> list[dict[str, Any]]:
        with self._connected() as connection:
            return [dict(zip(self._columns, row, strict=True)) for row in connection.execute(query)]

    @contextmanager
    def _connected(self) -> Generator[Connection]:
        try:
            engine = create_engine(**_engine(self._place.database), poolclass=NullPool, hide_parameters=True)
            with engine.connect() as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error, ImportError) as error:
            cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            raise UnavailableError(f"The table could not be read: {cause}.", hint="It is tried again later.") from error


def _engine(url: URL) -> dict[str, Any]:
    """What makes an engine that can only read, as far as the database knows how to."""
    if url.password is not None:
        url = url.set(password=filled_in(str(url.password)))
    if url.drivername == _SQLITE:
        file = f"{Path(url.database or '').absolute().as_uri()}?mode=ro"
        return {"url": url, "creator": lambda: sqlite3.connect(file, uri=True, timeout=10)}
    if url.drivername == _POSTGRESQL:
        return {"url": url, "connect_args": {"connect_timeout": 10, "options": _READ_ONLY}}
    return {"url": url}
