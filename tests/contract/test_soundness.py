"""What is said to be damage in a database, on each engine: what is stored, and not how it is reached."""

import asyncio
import sqlite3

import psycopg
import pytest

from skillyard.db.database import Database
from skillyard.db.soundness import damage
from skillyard.errors import UnavailableError
from skillyard.server.soundness import Soundness


def opened(address):
    async def scenario():
        await (await Database.open(address)).close()

    asyncio.run(scenario())
    return address


@pytest.mark.parametrize("deep", [False, True])
def test_a_new_database_is_not_damaged(database_url, deep):
    assert damage(opened(database_url), deep=deep) == []


def test_a_table_of_another_program_in_the_same_database_is_no_damage(new_postgres_database, empty_postgres_registry):
    with (
        new_postgres_database(empty_postgres_registry) as address,
        psycopg.connect(address.replace("+psycopg", ""), autocommit=True) as connection,
    ):
        connection.execute("CREATE TABLE theirs (x integer)")
        connection.execute("CREATE ROLE sound_reader")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO sound_reader")
        connection.execute("REVOKE SELECT ON theirs FROM sound_reader")
        try:
            mark = "&" if "?" in address else "?"
            assert damage(f"{address}{mark}options=-c%20role%3Dsound_reader", deep=True) == []
        finally:
            connection.execute("DROP OWNED BY sound_reader")
            connection.execute("DROP ROLE sound_reader")


@pytest.mark.parametrize("held", ["file", "server"])
def test_a_database_that_does_not_answer_when_a_server_starts_is_not_called_damaged(held, tmp_path, monkeypatch):
    monkeypatch.setattr("skillyard.db.revision._SECONDS", 0)
    if held == "server":
        address = "postgresql://someone@127.0.0.1:9/x"
    else:
        address = opened(f"sqlite:///{tmp_path / 'registry.sqlite'}")
        holder = sqlite3.connect(tmp_path / "registry.sqlite", isolation_level=None)
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("PRAGMA journal_mode=DELETE")
        holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(UnavailableError, match="did not answer"):
        damage(address)
    soundness = Soundness()
    asyncio.run(soundness.look(address))
    asyncio.run(soundness.require())
    if held == "file":
        holder.close()
