"""Values by which rows are ordered, kept as JSON until they are compared again."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, cast
from uuid import UUID

from skillyard.errors import UnavailableError

_KINDS: Final[dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]]] = {
    "datetime": (datetime, lambda value: value.isoformat(), datetime.fromisoformat),
    "date": (date, lambda value: value.isoformat(), date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "uuid": (UUID, str, UUID),
}


def kept(values: Sequence[Any]) -> list[Any]:
    return [_kept(value) for value in values]


def again(values: Sequence[Any]) -> list[Any]:
    """As they came from the database."""
    return [_again(value) for value in values]


def _again(value: Any) -> Any:  # noqa: ANN401 -- JSON
    if not isinstance(value, list):
        return value
    kind, text = cast("list[str]", value)
    return _KINDS[kind][2](text)


def _kept(value: object) -> Any:  # noqa: ANN401 -- JSON
    if isinstance(value, str | int | float):
        return value
    for name, (kind, write, _) in _KINDS.items():
        if isinstance(value, kind):
            return [name, write(value)]
    raise UnavailableError(
        f"Rows cannot be ordered by a {type(value).__name__}.", hint="Name columns of times, numbers or texts."
    )
