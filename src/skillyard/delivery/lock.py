"""`skillyard.lock`: what was installed where, from which source, with which content."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote, unquote

from skillyard.delivery.place import LockPlace
from skillyard.delivery.source import Source, SourceKind, is_digest
from skillyard.errors import InputError, SkillyardError, UnavailableError
from skillyard.files import replace_file
from skillyard.skill.limits import MIB

LOCK_VERSION: Final = 1
MAX_LOCK_BYTES: Final = 16 * MIB
_PATH_KINDS: Final = frozenset({SourceKind.FOLDER, SourceKind.ARCHIVE})
_HERE: Final = "./"
_BESIDE: Final = "../"
_FILE_URL: Final = "file://"


@dataclass(frozen=True, kw_only=True, slots=True)
class LockEntry:
    """One installed skill."""

    id: str
    path: str
    """Its folder, relative to the place's base."""
    source: Source
    digest: str
    """The tree digest of what the source gave; content on disk that differs is a person's own edit."""
    resolved: str = ""
    version: str = ""
    links: tuple[str, ...] = ()
    """Links to the folder in other agents' folders, relative to the place's base."""
    verified: bool = True
    """False for adopted content that nobody can say whether its source ever had it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lock:
    entries: tuple[LockEntry, ...] = ()

    def at(self, path: str) -> LockEntry | None:
        """The entry of the folder at this path."""
        return next((entry for entry in self.entries if entry.path == path), None)

    def of(self, skill_id: str) -> tuple[LockEntry, ...]:
        folded = skill_id.casefold()
        return tuple(entry for entry in self.entries if entry.id.casefold() == folded)

    def having(self, entry: LockEntry) -> "Lock":
        return Lock(entries=_ordered([*self.without(entry.path).entries, entry]))

    def without(self, path: str) -> "Lock":
        return Lock(entries=tuple(entry for entry in self.entries if entry.path != path))


def read_lock(place: LockPlace) -> Lock:
    """The lock of a place; an empty one when there is none. A broken one is an error, never overwritten."""
    if place.lock.exists() and not place.lock.is_file():
        raise _broken(place, "it cannot be read (it is no plain file)")  # opening a pipe would wait for its writer
    try:
        with place.lock.open("rb") as stream:
            data = stream.read(MAX_LOCK_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return Lock()
    except OSError as error:
        raise _broken(place, f"it cannot be read ({error.strerror})") from error
    if len(data) > MAX_LOCK_BYTES:
        raise _broken(place, f"it is larger than {MAX_LOCK_BYTES} bytes")
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _broken(place, f"it is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise _broken(place, "it is not a JSON object")
    document = cast("dict[str, Any]", document)
    version = document.get("version")
    if version != LOCK_VERSION:
        newer = isinstance(version, int) and version > LOCK_VERSION
        hint = "Update Skillyard: pip install -U skillyard" if newer else ""
        raise _broken(place, f"its version is {version!r}, and only {LOCK_VERSION} is understood", hint=hint)
    entries: Any = document.get("skills")
    if not isinstance(entries, list):
        raise _broken(place, "`skills` is not a list")
    read = [
        entry_from_dict(place, raw, f"skills[{position}]") for position, raw in enumerate(cast("list[Any]", entries))
    ]
    if len({entry.path for entry in read}) != len(read):
        raise _broken(place, "two entries have the same path")
    return Lock(entries=_ordered(read))


def write_lock(place: LockPlace, lock: Lock) -> None:
    """Write the lock whole or not at all; the same entries always give the same bytes."""
    document = {"version": LOCK_VERSION, "skills": [entry_to_dict(place, entry) for entry in lock.entries]}
    data = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    try:
        place.lock.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place.lock, data.encode(), mode=0o644)
    except OSError as error:
        raise UnavailableError(
            f"{place.lock} could not be written: {error.strerror}.",
            hint="What was installed is there. Make the lock writable, then run the same command again.",
            details={"file": str(place.lock)},
        ) from error


def _ordered(entries: Iterable[LockEntry]) -> tuple[LockEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: (entry.id, entry.path)))


def entry_to_dict(place: LockPlace, entry: LockEntry) -> dict[str, object]:
    """An entry as it is written; what is empty is left out."""
    source = entry.source.recordable
    fields: dict[str, object] = {
        "id": entry.id,
        "path": entry.path,
        "links": list(entry.links),
        "kind": source.kind.value,
        "source": _written_location(place, source),
        "ref": source.ref,
        "subpath": source.subpath,
        "pin": source.digest,
        "resolved": entry.resolved,
        "version": entry.version,
        "digest": entry.digest,
    }
    written = {key: value for key, value in fields.items() if value}
    return written if entry.verified else {**written, "verified": False}


def is_of_this_machine(place: LockPlace, source: Source) -> bool:
    """Whether a lock names a path that others who have the lock do not have."""
    return not place.trusted and _path(source) is not None and not _written_location(place, source).startswith(".")


def _path(source: Source) -> Path | None:
    """Where on this machine a source is; None for one that is reached over a network."""
    if source.kind in _PATH_KINDS:
        return Path(source.location)
    if source.kind is SourceKind.GIT and source.location.startswith(_FILE_URL):
        return Path(unquote(source.location.removeprefix(_FILE_URL)))
    return None


def _written_location(place: LockPlace, source: Source) -> str:
    """Paths inside the place, or beside a project, are written relative to it: a project moves, and is cloned."""
    path = _path(source)
    if path is None:
        return source.location
    if path.is_relative_to(place.base):
        return _HERE + path.relative_to(place.base).as_posix()
    around = place.base.parent
    if not place.trusted and around != around.parent and path.is_relative_to(around):
        return _BESIDE + path.relative_to(around).as_posix()
    return source.location


def _read_location(place: LockPlace, kind: SourceKind, location: str) -> str:
    if not location.startswith((_HERE, _BESIDE)) or kind not in {*_PATH_KINDS, SourceKind.GIT}:
        return location
    path = os.path.normpath(place.base / location)
    return f"{_FILE_URL}{quote(path)}" if kind is SourceKind.GIT else path


def entry_from_dict(place: LockPlace, raw: object, where: str) -> LockEntry:
    """An entry as it was written, every field and path of it checked; `where` names it in messages."""
    if not isinstance(raw, dict):
        raise _broken(place, f"{where} is not an object")
    fields = cast("dict[str, Any]", raw)

    def text(key: str, *, required: bool = False) -> str:
        value = fields.get(key, "")
        if not isinstance(value, str) or (required and not value):
            raise _broken(place, f"{where}.{key} must be a text, got {value!r}")
        return value

    links: Any = fields.get("links", [])
    if not isinstance(links, list) or not all(isinstance(link, str) for link in cast("list[Any]", links)):
        raise _broken(place, f"{where}.links must be a list of texts")
    digest = text("digest", required=True)
    if not is_digest(digest):
        raise _broken(place, f"{where}.digest must be sha256: and 64 hex digits, got {digest!r}")
    verified = fields.get("verified", True)
    if not isinstance(verified, bool):
        raise _broken(place, f"{where}.verified must be true or false")
    entry = LockEntry(
        id=text("id", required=True),
        path=text("path", required=True),
        source=_source(place, where, text),
        digest=digest,
        resolved=text("resolved"),
        version=text("version"),
        links=tuple(cast("list[str]", links)),
        verified=verified,
    )
    for path in (entry.path, *entry.links):
        if path.rpartition("/")[2] != entry.id:
            raise _broken(place, f"{where}: the folder {path!r} is not named {entry.id!r}")
        place.resolve(path)
    return entry


def _source(place: LockPlace, where: str, text: Any) -> Source:  # noqa: ANN401 -- the reader of this entry's texts
    kind = text("kind", required=True)
    if kind not in set(SourceKind):
        raise _broken(place, f"{where}.kind is {kind!r}, not one of {', '.join(SourceKind)}")
    location = _read_location(place, SourceKind(kind), text("source"))
    if SourceKind(kind) in _PATH_KINDS and not Path(location).is_absolute():
        raise _broken(place, f"{where}.source must start with ./ or ../ or be absolute, got {location!r}")
    try:
        return Source(
            kind=SourceKind(kind), location=location, ref=text("ref"), subpath=text("subpath"), digest=text("pin")
        )
    except SkillyardError as error:
        raise _broken(place, f"{where}: {error.message}") from error


def _broken(place: LockPlace, problem: str, *, hint: str = "") -> InputError:
    return InputError(
        f"{place.lock} is not a lock file that can be used: {problem}.",
        hint=hint or f"Restore {place.lock} from version control, or move it away and run `skillyard skill adopt`.",
        details={"file": str(place.lock)},
    )
