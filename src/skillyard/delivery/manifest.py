"""The manifest: a file beside delivered skills that says which folders are ours, and what should be in them.

It lies where anybody may have written to it, a sandbox or a shared folder. What it says is used only to decide
between folders of that same place, and only as far as it is well-formed.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from skillyard.delivery.bundle_source import Origin
from skillyard.skill.folder_names import folder_problem
from skillyard.skill.limits import MIB
from skillyard.skill.names import hidden_characters

MANIFEST_NAME: Final = ".skillyard.json"
MAX_MANIFEST_BYTES: Final = 1 * MIB
MAX_ENTRIES: Final = 1_000
"""Skills that are kept in one place."""

_VERSION: Final = 1
_MAX_TEXT: Final = 200
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_KIND: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ManifestEntry:
    """A folder that we delivered."""

    digest: str
    origin: Origin


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    entries: Mapping[str, ManifestEntry] = field(default_factory=dict[str, ManifestEntry])
    """By the name of the folder."""
    is_sound: bool = True
    """False where there was none, or one that cannot be read: then it says nothing about what is ours."""

    @classmethod
    def read(cls, data: bytes | None) -> "Manifest":
        """What a manifest says; never raises. Entries that could lead elsewhere, or are damaged, are left out."""
        fields = _fields(data)
        if fields is None:
            return cls(is_sound=False)
        entries = {folder: entry for folder, raw in fields.items() if (entry := _entry(folder, raw)) is not None}
        return cls(entries=entries)

    def changed(self, *, without: Collection[str] = (), having: Mapping[str, ManifestEntry]) -> "Manifest":
        kept = {folder: entry for folder, entry in self.entries.items() if folder not in without}
        return Manifest(entries={**kept, **having})

    def write(self) -> bytes:
        """The file, the same for the same entries."""
        skills = {folder: dict(_written(entry)) for folder, entry in sorted(self.entries.items())}
        text = json.dumps({"version": _VERSION, "skills": skills}, ensure_ascii=False, indent=1)
        return f"{text}\n".encode()


def _fields(data: bytes | None) -> dict[str, Any] | None:
    if data is None or len(data) > MAX_MANIFEST_BYTES:
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    version, skills = _of(document, "version"), _of(document, "skills")
    if version != _VERSION or not isinstance(skills, dict):
        return None
    named = cast("dict[str, Any]", skills)
    return named if len(named) <= MAX_ENTRIES else None


def _entry(folder: str, raw: object) -> ManifestEntry | None:
    digest, kind = _text(raw, "digest"), _text(raw, "origin")
    if folder_problem(folder) or not _DIGEST.fullmatch(digest) or not _KIND.fullmatch(kind):
        return None
    return ManifestEntry(
        digest=digest, origin=Origin(kind=kind, skill=_text(raw, "skill"), version=_text(raw, "version"))
    )


def _of(raw: object, key: str) -> object:
    return cast("dict[str, object]", raw).get(key) if isinstance(raw, dict) else None


def _text(raw: object, key: str) -> str:
    """A short text of an entry; what is none, or cannot be shown, is empty."""
    value = _of(raw, key)
    if not isinstance(value, str) or len(value) > _MAX_TEXT or hidden_characters(value):
        return ""
    return value


def _written(entry: ManifestEntry) -> Iterator[tuple[str, str]]:
    yield "digest", entry.digest
    yield "origin", entry.origin.kind
    parts: Iterable[tuple[str, str]] = (("skill", entry.origin.skill), ("version", entry.origin.version))
    yield from (part for part in parts if part[1])
