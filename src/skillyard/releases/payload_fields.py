"""Reading the fields of a payload's JSON: each of its type, within its limit, and none misspelt."""

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from skillyard.errors import InputError, LimitError

_SHOWN: Final = 80
_ALIKE: Final = 0.8


class Fields:
    """One object of the document, read field by field."""

    def __init__(self, value: object, where: str, known: Collection[str]) -> None:
        if not isinstance(value, Mapping):
            refuse(where, value, "is not an object", "Write it as {…}.")
        self.where = where
        self._values = cast("Mapping[str, Any]", value)
        for key in self._values:
            # What nobody here knows is a client's own; what is nearly a name was meant to be it.
            meant = difflib.get_close_matches(str(key), known, n=1, cutoff=_ALIKE)
            if key not in known and meant:
                refuse(self.at(str(key)), str(key), "is not known", f"Did you mean {meant[0]!r}?")

    def at(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def get(self, name: str) -> object:
        return self._values.get(name)

    def text(self, name: str, *, most: int, least: int = 0, default: str = "") -> str:
        value = self._values.get(name)
        if value is None:
            value = default
        if not isinstance(value, str):
            refuse(self.at(name), value, "is not a text", "Write it between quotes.")
        if len(value) < least:
            refuse(self.at(name), value, "is empty", "Write something, or leave the whole out.")
        within(self.at(name), len(value), most, "characters")
        if "\0" in value or not is_whole(value):
            refuse(self.at(name), value, "holds a zero byte or half of a character", "Delete that.")
        return value

    def flag(self, name: str) -> bool:
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            refuse(self.at(name), value, "is neither true nor false", "Write true or false.")
        return bool(value)

    def items(self, name: str, *, most: int) -> Sequence[object]:
        """The entries of a list; none where there is no list."""
        value = self._values.get(name)
        if value is None:
            return ()
        return listed(value, self.at(name), most)


def listed(value: object, where: str, most: int) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        refuse(where, value, "is not a list", "Write it as […].")
    found = cast("Sequence[object]", value)
    within(where, len(found), most, "entries")
    return found


def within(where: str, count: int, most: int, what: str) -> None:
    if count > most:
        raise LimitError(
            f"{where} has {count:,} {what}; at most {most:,} are allowed.",
            hint="Make it smaller, or several of it.",
            details={"field": where, "value": count, "limit": most},
        )


def refuse(where: str, value: object, problem: str, fix: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    raise InputError(f"{where}: {shown} {problem}.", hint=fix, details={"field": where, "value": shown})


def is_whole(text: str) -> bool:
    """Whether it can be written down: no half of a character stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
