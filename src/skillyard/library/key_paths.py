"""Settings as a table of tables, and one entry in it by the path of its keys."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from skillyard.errors import InputError

Table: TypeAlias = dict[str, Any]


def table_for(settings: Table, path: Sequence[str], *, file: str) -> Table:
    """The table that the entry at a path is in, or will be: those on the way are made where they are missing."""
    for depth, key in enumerate(path[:-1], start=1):
        inner = settings.setdefault(key, {})
        if not isinstance(inner, dict):
            place = ".".join(path[:depth])
            raise InputError(
                f"{place} in {file} is no table.",
                hint=f"Correct {place} by hand in {file}: it must hold settings of its own.",
                details={"file": file, "field": place},
            )
        settings = cast("Table", inner)
    return settings


def take_out(settings: Table, path: Sequence[str]) -> bool:
    """Remove the entry at a path; whether there was one."""
    for key in path[:-1]:
        inner = settings.get(key)
        if not isinstance(inner, dict):
            return False
        settings = cast("Table", inner)
    if path[-1] not in settings:
        return False
    del settings[path[-1]]
    return True
