"""Credentials of sources: they stand in the environment of the server, and only their names are kept."""

import os
import re
from collections.abc import Mapping
from typing import Final

from skillyard.errors import InputError, UnavailableError

PREFIX: Final = "FEEDBACK_SOURCE_"
"""No other variable can be named: a source could send what it says anywhere."""
_NAMED: Final = re.compile(r"\$\{([^}]*)\}")
_NAME: Final = re.compile(rf"{PREFIX}[A-Z0-9_]+")
_SECRET_HEADER: Final = re.compile(r"authorization|cookie|token|secret|key|password|credential", re.IGNORECASE)
_HINT: Final = f"Set it in the server's environment, and write ${{{PREFIX}NAME}} in its place."


def require_named(field: str, value: str) -> None:
    """Refuses variables that are nobody's to read."""
    for name in _NAMED.findall(value):
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{field}: the variable {name[:64]!r} cannot be used.",
                hint=f"Use one whose name begins with {PREFIX}.",
                details={"field": field, "value": name[:64]},
            )


def require_no_secret(field: str, value: str | None) -> None:
    """Refuses a password that would be kept as it is."""
    if value and not _NAMED.fullmatch(value):
        raise InputError(f"{field}: a password is not kept here.", hint=_HINT, details={"field": field})


def require_safe_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        field = f"headers.{name}"
        require_named(field, value)
        if _SECRET_HEADER.search(name) and not _NAMED.search(value):
            raise InputError(f"{field}: a credential is not kept here.", hint=_HINT, details={"field": field})


def filled_in(text: str) -> str:
    """The text with the variables that it names."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise UnavailableError(f"The variable {match[1]} is not set on the server.", hint="Set it, and restart it.")
        return found

    return _NAMED.sub(value, text)
