"""The values that someone gives to the variables of a payload: each there, each known, each of its type."""

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from skillyard.errors import InputError, LimitError
from skillyard.releases.payload_fields import is_whole
from skillyard.releases.payloads import Variable, VariableType
from skillyard.releases.placeholders import Scalar

MAX_VALUE: Final = 65_536
"""Characters of one value."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,3})?")
_EMAIL: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")
_EXAMPLES: Final[Mapping[VariableType, str]] = {
    VariableType.STRING: 'a text, as "Ada"',
    VariableType.INTEGER: "a whole number, as 42",
    VariableType.NUMBER: "a number, as 3.5",
    VariableType.BOOLEAN: "true or false",
    VariableType.DATE: 'a day, as "2026-03-31"',
    VariableType.EMAIL: 'an address, as "ada@example.org"',
    VariableType.URL: 'an address, as "https://example.org/page"',
    VariableType.PATH: 'a path, as "data/table.csv"',
}


def checked_values(variables: Mapping[str, Variable], given: Mapping[str, Any]) -> dict[str, Scalar]:
    """A value for each variable: the one given, or its default."""
    unknown = sorted(set(given) - set(variables))
    if unknown:
        known = f"It has: {', '.join(sorted(variables))}." if variables else "It has none: leave them out."
        raise InputError(
            f"variables: there is no variable {unknown[0]!r}.",
            hint=known,
            details={"field": f"variables.{unknown[0]}", "unknown": unknown, "known": sorted(variables)},
        )
    missing = sorted(name for name, each in variables.items() if name not in given and each.default is None)
    if missing:
        shown = ", ".join(
            f"{name} ({'secret' if variables[name].secret else variables[name].type.value})" for name in missing
        )
        raise InputError(
            f"variables: no value is given for {shown}.",
            hint="Give a value for each variable that has no default: --var NAME=VALUE, for a secret --secret NAME;"
            " in the API, `variables` and `secrets`.",
            details={"field": f"variables.{missing[0]}", "missing": missing},
        )
    return {name: checked_value(variable, given.get(name, variable.default)) for name, variable in variables.items()}


def checked_value(variable: Variable, value: object, *, field: str | None = None) -> Scalar:
    """A value, if it is one of the variable's type. Texts that spell a number or truth value are understood."""
    where = field or f"variables.{variable.name}"
    if isinstance(value, str) and len(value) > MAX_VALUE:
        raise LimitError(
            f"{where} has {len(value):,} characters; at most {MAX_VALUE:,} are taken.",
            hint="Put long contents into a file of the workspace.",
            details={"field": where, "value": len(value), "limit": MAX_VALUE},
        )
    found = _typed(variable.type, value)
    if found is None:
        _refuse(variable, value, where)
    if isinstance(found, str) and ("\0" in found or not is_whole(found)):
        _refuse(variable, value, where)
    return found


def _typed(kind: VariableType, value: object) -> Scalar | None:
    match kind:
        case VariableType.BOOLEAN:
            return _boolean(value)
        case VariableType.INTEGER:
            return _integer(value)
        case VariableType.NUMBER:
            return _number(value)
        case _:
            return value if isinstance(value, str) and _is_text_of(kind, value) else None


def _boolean(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else None


def _number(value: object) -> int | float | None:
    whole = _integer(value)
    if whole is not None:
        return whole
    number = float(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
    return number if isinstance(number, float) and math.isfinite(number) else None


def _is_text_of(kind: VariableType, text: str) -> bool:
    match kind:
        case VariableType.DATE:
            return _is_date(text)
        case VariableType.EMAIL:
            return bool(_EMAIL.fullmatch(text))
        case VariableType.URL:
            return _is_url(text)
        case VariableType.PATH:
            return bool(text) and "\n" not in text
        case _:
            return True


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not re.search(r"\s", text)


def _refuse(variable: Variable, value: object, where: str) -> NoReturn:
    """Without the value of a secret."""
    shown = "its value" if variable.secret else repr(value)[:80]
    raise InputError(
        f"{where}: {shown} is not {_EXAMPLES[variable.type]}.",
        hint=f"The variable {variable.name!r} is of the type {variable.type.value}; zero bytes are never taken.",
        details={"field": where, "value": None if variable.secret else repr(value)[:80], "type": variable.type.value},
    )
