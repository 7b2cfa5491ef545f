"""The secrets that are known of a running sandbox: kept in memory, to be taken out of all that is written down."""

import re
from collections.abc import Mapping
from typing import Final

from skillyard.redact import forms_of
from skillyard.sandbox.capture.markers import MARKER, marker, marker_name

_MOST: Final = 64
_SHORTEST: Final = 4
"""Characters; shorter values are hidden where they are given, but would be found everywhere else."""
_EVERYDAY: Final = frozenset(
    (
        *(
            "admin",
            "administrator",
            "default",
            "demo",
            "example",
            "false",
            "guest",
            "login",
            "none",
            "null",
            "password",
        ),
        *("passwort", "root", "secret", "test", "token", "true", "user", "username"),
    )
)
"""Hiding such a word wherever it stands would hide more than it protects."""


class KnownSecrets:
    """Values that must not be kept, and what to write instead of each."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}
        self._forms: dict[str, str] = {}
        """Each form in which a value may be written, and the marker of it; the longest first."""
        for name, value in (given or {}).items():
            self._add(value, marker_name(name))

    def __repr__(self) -> str:
        return f"KnownSecrets({len(self._names)})"

    def learn(self, value: str, name: str) -> str:
        """Know a value from now on; the marker that stands for it."""
        known = self._names.get(value)
        if known is not None:
            return marker(known)
        if len(value.strip()) < _SHORTEST or value.strip().lower() in _EVERYDAY or MARKER.fullmatch(value):
            return marker(name)
        taken = set(self._names.values())
        number = 2
        own = name
        while own in taken:
            own, number = f"{name}_{number}", number + 1
        while len(self._names) >= _MOST:
            self._forget(next(iter(self._names)))
        self._add(value, own)
        return marker(own)

    def clean(self, text: str) -> str:
        """The text with a marker where a secret was, in whatever form."""
        present = [form for form in self._forms if form in text]
        if not present:
            return text
        pattern = re.compile("|".join([MARKER.pattern, *map(re.escape, present)]))
        return pattern.sub(lambda found: self._forms.get(found[0], found[0]), text)

    def _add(self, value: str, name: str) -> None:
        self._names[value] = name
        own = {form.decode(errors="surrogatepass"): marker(name) for form in forms_of(value) if form}
        merged = {**own, **self._forms}
        self._forms = {form: merged[form] for form in sorted(merged, key=len, reverse=True)}

    def _forget(self, value: str) -> None:
        name = self._names.pop(value)
        self._forms = {form: mark for form, mark in self._forms.items() if mark != marker(name)}
