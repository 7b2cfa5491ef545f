"""The values that decision tables speak of: text, numbers, truth and dates."""

import re
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, NoReturn, TypeAlias

from skillyard.errors import InputError

MAX_TEXT: Final = 2_000
MAX_DIGITS: Final = 24
"""Of a number: as many as the engine keeps exactly."""

Value: TypeAlias = str | Decimal | bool | date | None

_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}


class ValueType(StrEnum):
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"


def refuse(problem: str, fix: str, *, field: str, value: object) -> NoReturn:
    """An error that says what is wrong where, and what to write instead."""
    shown = str(value)[:200]
    raise InputError(f"{field}: {problem}.", hint=fix, details={"field": field, "value": shown})


def given_value(given: Any, kind: ValueType, *, field: str) -> Value:  # noqa: ANN401 -- whatever JSON holds
    """A value from JSON as its column has it; None stays None."""
    if given is None:
        return None
    if kind is ValueType.STRING and isinstance(given, str):
        return text_value(given, field=field)
    if kind is ValueType.BOOLEAN and isinstance(given, bool):
        return given
    if kind is ValueType.NUMBER and isinstance(given, int | float | Decimal) and not isinstance(given, bool):
        return number_value(str(given), field=field)
    if kind is ValueType.DATE and isinstance(given, str):
        return date_value(given, field=field)
    return refuse(f"{given!r} is not a {kind}", f"Give a {kind}.", field=field, value=given)


def text_value(text: str, *, field: str) -> str:
    if len(text) > MAX_TEXT:
        refuse(f"the text has {len(text):,} characters; {MAX_TEXT:,} are allowed", "Shorten it.", field=field, value="")
    if _CONTROL.search(text):
        refuse("the text has control characters", "Take them out.", field=field, value=text)
    return text


def number_value(text: str, *, field: str) -> Decimal:
    fix = f"Write a number of at most {MAX_DIGITS} digits, such as 10 or -2.5."
    if not _NUMBER.fullmatch(text):
        refuse(f"{text[:40]!r} is not a number", fix, field=field, value=text)
    number = Decimal(text)
    _, digits, exponent = number.as_tuple()
    size = max(len(digits) + max(int(exponent), 0), -int(exponent))
    if size > MAX_DIGITS:
        refuse(f"{text[:40]} is longer than numbers can be", fix, field=field, value=text)
    return number


def date_value(text: str, *, field: str) -> date:
    if _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    return refuse(f"{text[:40]!r} is not a date", "Write it as 2026-01-31.", field=field, value=text)


def plain(value: Value) -> Any:  # noqa: ANN401 -- JSON
    """A value for JSON."""
    if isinstance(value, Decimal):
        whole = value == value.to_integral_value()
        return int(value) if whole else float(value)
    return value.isoformat() if isinstance(value, date) else value


def written(value: Value) -> str:
    """A value as a cell has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value.normalize(), "f") if value else "0"
    if isinstance(value, date):
        return f'date("{value.isoformat()}")'
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def unescaped(text: str) -> str:
    """What a quoted text says, its quotes taken off before."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text, flags=re.DOTALL)
