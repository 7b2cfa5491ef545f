"""What every table is made of."""

import uuid
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import DateTime, MetaData, String, TypeDecorator
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase

KEY: Final = String(256).with_variant(String(256, collation="C"), "postgresql")
"""A text that things are ordered by: everywhere by its code points, whatever the locale of the database."""
ID_LENGTH: Final = 36
"""Ids are UUIDs, kept as the text that every surface shows."""

_NAMES: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """The tables of every room; constraints have names, so that a migration can speak of them."""

    metadata = MetaData(naming_convention=_NAMES)


class UtcTime(TypeDecorator[datetime]):
    """A moment. SQLite keeps no time zone, so all are kept in UTC and given back with it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        moment = _in_utc(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ANN401, ARG002 -- as declared
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # in UTC it is in the year 0 or 10000
        return datetime.min.replace(tzinfo=UTC) if moment.year == 1 else datetime.max.replace(tzinfo=UTC)


def new_id() -> str:
    return str(uuid.uuid4())
