"""The secrets that are known of a running sandbox: kept in memory, to be taken out of all that is written down."""

import re
from collections.abc import Mapping
from threading import Lock
from typing import Final

from skillyard.redact import Secrets
from skillyard.sandbox.capture.markers import MARKER, marker, marker_name

_MOST: Final = 64
_AT_ONCE: Final = 8
"""Above this many values, the oldest are forgotten and no longer hidden."""
_BEFORE: Final = 64 * 1024
"""Characters before a cut that are checked too, because a secret may be cut in two."""
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
    """Values that must not be kept, and what to write instead of each; for all threads."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = {}
        self._secrets = Secrets()
        self._forgotten = 0
        self._own_markers: re.Pattern[str] | None = None
        self._lock = Lock()
        for name, value in (given or {}).items():
            self._add(value, marker_name(name))

    def __repr__(self) -> str:
        return f"KnownSecrets({len(self._names)})"

    def learn(self, value: str, name: str) -> str:
        """Know a value from now on; the marker that stands for it."""
        with self._lock:
            return self._learned(value, name)

    def _learned(self, value: str, name: str) -> str:
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

    def clean(self, text: str, *, cut: bool = False) -> str:
        """The text with a marker where a secret was, in whatever form; `cut` if more of it is not kept."""
        with self._lock:
            return self._cleaned(text, cut=cut)

    def _cleaned(self, text: str, *, cut: bool) -> str:
        if "{{secret" not in text:
            return self._secrets.text(text, cut=cut)
        if self._own_markers is None:
            markers = {marker(), *map(marker, self._names.values())}
            self._own_markers = re.compile(f"({'|'.join(map(re.escape, sorted(markers)))})")
        parts = self._own_markers.split(text)
        last = len(parts) - 1
        return "".join(
            part if index % 2 else self._secrets.text(part, cut=cut and index == last)
            for index, part in enumerate(parts)
        )

    def clean_end(self, text: str, size: int) -> str:
        """The same for the end of a text; a secret may begin before it and end in it."""
        with self._lock:
            stream = self._secrets.stream()
            stream.feed(text[-size - _BEFORE : -size].encode(errors="replace"))
            return (stream.feed(text[-size:].encode(errors="replace")) + stream.finish()).decode(errors="replace")

    def _add(self, value: str, name: str) -> None:
        self._names[value] = name
        self._secrets.add(value, marker(name))
        self._own_markers = None

    def _forget(self, value: str) -> None:
        del self._names[value]
        self._forgotten += 1
        if self._forgotten >= _AT_ONCE:
            self._forgotten = 0
            self._secrets = Secrets()
            for each, name in self._names.items():
                self._secrets.add(each, marker(name))
