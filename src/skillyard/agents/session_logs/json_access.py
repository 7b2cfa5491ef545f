"""Reaching into JSON that others wrote: what is not of the expected kind is nothing."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

_NOTHING: Final[Mapping[str, Any]] = {}


def mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else _NOTHING


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def each(value: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list."""
    for one in cast("list[object]", value) if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield cast("Mapping[str, Any]", one)


def texts(value: object) -> list[str]:
    return [one for one in cast("list[object]", value) if isinstance(one, str)] if isinstance(value, list) else []


def said(value: object) -> str:
    """A content: a text, or a list of parts that have one."""
    return value if isinstance(value, str) else "\n".join(text(part.get("text")) for part in each(value))


def moment(value: object) -> datetime | None:
    """A time as logs write it."""
    try:
        at = datetime.fromisoformat(text(value))
    except ValueError:
        return None
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        return None
