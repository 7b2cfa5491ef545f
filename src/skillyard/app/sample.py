"""A sample history in a yard: what the demonstration made there, row by row, so that it can be taken out again."""

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from sqlalchemy import Connection, MetaData, Table, delete, select, tuple_
from sqlalchemy.orm import Session

from skillyard.app.yard import Yard
from skillyard.clock import utc_now
from skillyard.db.database import Database
from skillyard.errors import NotFoundError
from skillyard.files import replace_file
from skillyard.identity.principals import Principal

_FILE: Final = "sample.json"
_SHARED: Final = frozenset(
    {
        *("alembic_version", "change_counter", "sandbox_hosts", "tenants", "people", "namespaces", "members"),
        *("bundles", "bundle_files", "discovery_artifacts", "condemned_blobs"),
    }
)
"""Tables of which nothing is the sample's alone; content that nothing names any more is swept like all other."""
_TOLD_OF: Final = ("subject_id", "skill_id")

Key: TypeAlias = tuple[Any, ...]
Keys: TypeAlias = Mapping[str, frozenset[tuple[str, ...]]]
"""Of each table, the keys of some of its rows, as text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What was made, and when that was over."""

    made_at: datetime
    rows: Keys

    @property
    def count(self) -> int:
        return sum(map(len, self.rows.values()))


def sample_in(home: Path) -> Sample | None:
    """The sample in a yard's home, if there is one."""
    try:
        written = json.loads((home / _FILE).read_bytes())
    except FileNotFoundError:
        return None
    rows = {table: frozenset(tuple(key) for key in keys) for table, keys in written["rows"].items()}
    return Sample(made_at=datetime.fromisoformat(written["made_at"]), rows=rows)


def has_sample(home: Path) -> bool:
    return (home / _FILE).exists()


def note_sample(home: Path, before: Keys, after: Keys) -> Sample:
    """Write down that what came in between is a sample."""
    rows = {table: keys - before.get(table, frozenset()) for table, keys in after.items()}
    made = Sample(made_at=utc_now(), rows={table: keys for table, keys in rows.items() if keys})
    listed = {table: sorted(keys) for table, keys in made.rows.items()}
    text = json.dumps({"made_at": made.made_at.isoformat(), "rows": listed}, ensure_ascii=False)
    replace_file(home / _FILE, text.encode())
    return made


async def keys_of(database: Database) -> Keys:
    """The keys of every row that could be of a sample."""
    async with database.read() as session:
        return await session.run_sync(
            lambda sync: {table.name: frozenset(_present(sync, table)) for table in _tables(sync)}
        )


async def remove_sample(yard: Yard, principal: Principal, home: Path) -> int:
    """Take the sample out, with what was built on it since, and say how many rows that was."""
    sample = sample_in(home)
    if sample is None:
        raise NotFoundError("There is no sample in this yard.", hint="skillyard demo shows one.")
    for (sandbox_id,) in sample.rows.get("sandboxes", ()):
        with suppress(NotFoundError):  # its time may be over
            await yard.sandboxes.sandboxes.delete(principal, sandbox_id)
    async with yard.database.write() as transaction:
        count = await transaction.session.run_sync(_take_out, sample.rows)
        transaction.take_number()  # those who follow the yard look again
    (home / _FILE).unlink(missing_ok=True)
    return count


def _take_out(session: Session, rows: Keys) -> int:
    doomed: dict[str, set[Key]] = {}
    tables = _tables(session)
    for table in tables:  # each after those that it refers to
        present, noted = _present(session, table), rows.get(table.name, frozenset())
        doomed[table.name] = {present[text] for text in noted if text in present}
        doomed[table.name] |= _built_on(session, table, doomed)
    gone = {key[0] for keys in doomed.values() for key in keys if len(key) == 1}
    for table in tables:
        doomed[table.name] |= _told_of(session, table, gone)
    for table in reversed(tables):
        for key in doomed[table.name]:
            session.execute(delete(table).where(tuple_(*table.primary_key.columns) == key))
    return sum(map(len, doomed.values()))


def _built_on(session: Session, table: Table, doomed: Mapping[str, set[Key]]) -> set[Key]:
    """The rows that refer to one that goes."""
    found: set[Key] = set()
    for column in table.columns:
        for foreign in column.foreign_keys:
            gone = {key[0] for key in doomed.get(foreign.column.table.name, ()) if foreign.column.primary_key}
            if gone:
                query = select(*table.primary_key.columns).where(column.in_(gone))
                found |= {tuple(row) for row in session.execute(query)}
    return found


def _told_of(session: Session, table: Table, gone: Collection[Any]) -> set[Key]:
    """The rows that tell of something that goes, such as an entry of the history: they hold on to nothing."""
    columns = [
        table.columns[name] for name in _TOLD_OF if name in table.columns and not table.columns[name].foreign_keys
    ]
    found: set[Key] = set()
    for column in columns:
        rows = session.execute(select(column, *table.primary_key.columns))
        found |= {tuple(row[1:]) for row in rows if row[0] in gone}
    return found


def _present(session: Session, table: Table) -> dict[tuple[str, ...], Key]:
    """The keys of a table's rows, by their text."""
    keys = (tuple(row) for row in session.execute(select(*table.primary_key.columns)))
    return {tuple(map(str, key)): key for key in keys}


def _tables(session: Session) -> list[Table]:
    """As the database has them, whichever rooms were opened: parents before children."""
    metadata = MetaData()
    connection: Connection = session.connection()
    metadata.reflect(connection)
    return [table for table in metadata.sorted_tables if table.name not in _SHARED]
