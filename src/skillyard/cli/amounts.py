"""Amounts and times as people write them on the command line."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from skillyard.clock import utc_now
from skillyard.errors import UsageError
from skillyard.skill.limits import MIB

_UNITS: Final = {"": 1, "k": 1024, "m": MIB, "g": 1024 * MIB}
_TIMES: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_AMOUNT: Final = re.compile(r"(\d{1,15})([a-z]?)", re.IGNORECASE)


def size(text: str, option: str, taken: str) -> int:
    """A number, or a size such as `512m` or `2g` in bytes; `taken` says what may stand there."""
    return _amount(text, _UNITS, option, taken)


def mebibytes(text: str | None, option: str) -> int | None:
    """A size such as `512m` or `2g`, in MiB."""
    return None if text is None else size(text, option, f"{option} takes a size such as 512m or 2g.") // MIB


def seconds(text: str | None, option: str) -> int | None:
    """A time such as `90`, `30m`, `2h` or `1d`."""
    if text is None:
        return None
    return _amount(text, _TIMES, option, f"{option} takes seconds, or a time such as 30m, 2h or 1d.")


def moment(text: str | None, option: str = "--since") -> str | None:
    """A moment as the API takes it: a date, a date with a time, or how long ago it was (`2h`)."""
    return _moment(text, option, example="2026-05-20, or a time such as 2h or 3d ago", direction=-1)


def until(text: str | None, option: str) -> str | None:
    """A moment to come: a date, a date with a time, or how long from now (`30d`)."""
    return _moment(text, option, example="2027-01-31, or a time such as 12h or 30d", direction=1)


def _moment(text: str | None, option: str, *, example: str, direction: int) -> str | None:
    if text is None:
        return None
    taken = f"{option} takes a date such as {example}, not {text!r}."
    try:
        try:
            return datetime.fromisoformat(text).astimezone(UTC).isoformat()
        except ValueError:
            away = timedelta(seconds=_amount(text, _TIMES, option, taken))
            return (utc_now() + direction * away).isoformat()
    except OverflowError:  # no calendar goes so far
        raise UsageError(taken, details={"field": option, "value": text}) from None


def _amount(text: str, units: Mapping[str, int], option: str, taken: str) -> int:
    match = _AMOUNT.fullmatch(text.strip())
    factor = units.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise UsageError(taken, details={"field": option, "value": text})
    return int(match[1]) * factor
