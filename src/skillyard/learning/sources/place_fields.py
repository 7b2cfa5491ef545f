"""What somebody says about the place of a source, checked field by field."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn, cast

from skillyard.errors import InputError
from skillyard.learning.feedback_items import NAMES

MAX_TEXT: Final = 2_000
MAX_NUMBER: Final = 10_000_000


class Fields:
    """The fields of a place; what is not known is refused, since it would be ignored otherwise."""

    def __init__(self, place: Mapping[str, Any], *, known: Sequence[str]) -> None:
        self._place = place
        other = sorted(set(place) - set(known))
        if other:
            _refuse(other[0], "is not known", f"Use {', '.join(known)}.")

    def text(self, name: str, default: str | None = None) -> str:
        value = self._place.get(name, default)
        if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT:
            _refuse(name, "is missing or no text", f"Give 1 to {MAX_TEXT:,} characters.")
        return value

    def number(self, name: str, default: int) -> int:
        value = self._place.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            _refuse(name, "is no number", f"Give one from 0 to {MAX_NUMBER:,}.")
        return value

    def texts(self, name: str) -> dict[str, str]:
        """Texts by name; none where nothing is given."""
        value = self._place.get(name, {})
        if not isinstance(value, dict):
            _refuse(name, "is no object", 'Give {"name": "text"}.')
        given = cast("dict[str, object]", value)
        for key, text in given.items():
            if not key or not isinstance(text, str) or len(text) > MAX_TEXT or not (key + text).isprintable():
                _refuse(f"{name}.{key[:64]}", "is no text", "Give visible characters.")
        return cast("dict[str, str]", given)

    def mapping(self, *, required: Sequence[str] = ()) -> dict[str, str]:
        """Our names for the parts of feedback, and theirs."""
        fields = self.texts("fields")
        other = sorted(set(fields) - set(NAMES))
        if other:
            _refuse(f"fields.{other[0][:64]}", "is no part of feedback", f"Use {', '.join(NAMES)}.")
        missing = [name for name in required if not fields.get(name)]
        if missing:
            _refuse(f"fields.{missing[0]}", "is missing", "Name the column that holds it.")
        return fields


def _refuse(name: str, problem: str, fix: str) -> NoReturn:
    raise InputError(f"place.{name} {problem}.", hint=fix, details={"field": f"place.{name}"})
