import sqlite3

import pytest
from sqlalchemy import create_engine, text

from skillyard.jobs.connections import EndingPool


@pytest.fixture
def engine(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path}/jobs.sqlite", poolclass=EndingPool)
    yield engine
    engine.dispose()


def _is_open(raw) -> bool:
    try:
        raw.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def _raw(connection):
    connection.execute(text("SELECT 1"))
    return connection.connection.driver_connection


def test_a_connection_is_kept_for_the_next_while_the_pool_lasts(engine):
    with engine.connect() as first:
        raw = _raw(first)
    assert _is_open(raw)
    with engine.connect() as second:
        assert _raw(second) is raw


def test_a_connection_that_comes_back_after_the_end_is_closed(engine):
    with engine.connect() as late:
        raw = _raw(late)
        engine.dispose()
        assert _is_open(raw)
    assert not _is_open(raw)


def test_a_connection_that_is_made_after_the_end_is_closed_when_it_comes_back(engine):
    engine.dispose()
    with engine.connect() as late:
        raw = _raw(late)
    assert not _is_open(raw)
