import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from skillyard.db.database import Database


def test_counts_of_an_early_day_do_not_make_sqlite_read_whole_tables(tmp_path: Path):
    path = tmp_path / "a.sqlite"
    wanted = ["x"] * 60
    query = f"EXPLAIN QUERY PLAN SELECT * FROM tenants WHERE id IN ({', '.join('?' * len(wanted))})"

    def plan() -> str:
        with closing(sqlite3.connect(path)) as connection:
            return str(connection.execute(query, wanted).fetchall())

    _open_and_close(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO tenants (id, name, created_at) VALUES ('1', 'one', '2026-01-01')")
        connection.execute("ANALYZE")
    assert "SCAN tenants" in plan(), "nothing to see: SQLite has become wiser"
    _open_and_close(path)
    assert "SEARCH tenants USING INDEX" in plan()


def _open_and_close(path: Path) -> None:
    async def scenario() -> None:
        await (await Database.open(f"sqlite:///{path}")).close()

    asyncio.run(scenario())
