"""A skill as the Skills extension describes it: its frontmatter, and every file with digest and size."""

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from skillyard.agents.source import Found, SkillFile, SkillSource
from skillyard.command_text import command_text
from skillyard.errors import InputError, LimitError, NotAllowedError, NotFoundError
from skillyard.server.mcp.json_frontmatter import json_fields
from skillyard.server.mcp.uris import file_uri
from skillyard.skill.bundle import SKILL_FILE
from skillyard.skill.document import parse
from skillyard.skill.limits import MIB
from skillyard.skill.names import is_valid_name

MAX_FILES: Final = 512
MAX_BYTES: Final = 16 * MIB
"""What every host takes of one skill; larger ones are served as files, but not described."""

MAX_KEPT_BYTES: Final = 64 * MIB
"""Entries that are kept; one takes about a kilobyte."""

_READ_OTHERWISE: Final = frozenset({"yaml-unquoted", "encoding-invalid", "encoding-utf16"})
"""What is put right when a file is read: a host that compares an entry with the file would find another frontmatter."""

Manifest: TypeAlias = dict[str, Any]
_State: TypeAlias = tuple[str, str, str]


def manifest_of(source: SkillSource, found: Found) -> Manifest:
    """The entry of a skill; an error says why a skill has none."""
    files = files_of(source, found)
    _require_fitting(found, files.values())
    if SKILL_FILE not in files:
        raise _unfit(found)
    main = source.file(found, SKILL_FILE)
    parsed = parse(main)
    if any(finding.code in _READ_OTHERWISE for finding in parsed.findings):
        raise _unfit(found)
    fields = json_fields(parsed.document.fields) if parsed.document else {}
    if fields.get("name") != found.name or not is_valid_name(found.name) or not _is_text(fields.get("description")):
        raise _unfit(found)
    resources = [
        _resource(found, path, main) if path == SKILL_FILE else _of_file(source, found, file)
        for path, file in files.items()
    ]
    return {"uri": file_uri(found), "frontmatter": fields, "resources": resources}


class KeptManifests:
    """Entries that were worked out, by skill and state of it; those that were used longest ago go first.

    They are kept as text, which takes a tenth of the memory. A skill that has no entry is kept as such.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[_State, bytes] = OrderedDict()
        self._bytes = 0

    def get(self, state: "_State") -> bytes | None:
        with self._lock:
            known = self._entries.get(state)
            if known is not None:
                self._entries.move_to_end(state)
            return known

    def put(self, state: "_State", entry: bytes) -> None:
        with self._lock:
            self._bytes += len(entry) - len(self._entries.pop(state, b""))
            self._entries[state] = entry
            while self._bytes > MAX_KEPT_BYTES:
                self._bytes -= len(self._entries.popitem(last=False)[1])


class Manifests:
    """The entries of the skills of a source, kept until one of a skill's files changes.

    What is kept may be shared by all who look at the same skills, whichever of them each may see.
    """

    def __init__(self, source: SkillSource, kept: KeptManifests | None = None) -> None:
        self._source = source
        self._kept = kept or KeptManifests()

    def listed(self, skills: Sequence[Found]) -> list[Manifest]:
        """The entries of those skills that have one."""
        states: Mapping[str, str] = self._source.snapshot() if not all(map(_shipped, skills)) else {}
        entries = (self._entry(found, _shipped(found) or states.get(found.id, "")) for found in skills)
        return [entry for entry in entries if entry is not None]

    def _entry(self, found: Found, shipped: str) -> Manifest | None:
        state = (found.key, found.id, shipped)
        known = self._kept.get(state)
        if shipped and known is not None:
            return json.loads(known)
        try:
            entry = manifest_of(self._source, found)
        except NotAllowedError:
            return None  # its owner may yet let it be read
        except (InputError, NotFoundError):
            entry = None  # what is wrong with it is told to whoever asks for it
        # A working copy may have changed since it was found.
        if not found.digest or self._source.bundle(found).digest == found.digest:
            self._kept.put(state, json.dumps(entry).encode())
        return entry


def _shipped(found: Found) -> str:
    """Which bytes were found, where the source says so: a version, or the digest of a working copy."""
    return found.version or found.digest


def files_of(source: SkillSource, found: Found) -> dict[str, SkillFile]:
    """The files of a skill by their paths."""
    return {file.path: file for file in source.files(found)}


def _of_file(source: SkillSource, found: Found, file: SkillFile) -> dict[str, str | int]:
    if file.sha256:
        return {"uri": file_uri(found, file.path), "digest": f"sha256:{file.sha256}", "size": file.size}
    return _resource(found, file.path, source.file(found, file.path))


def _resource(found: Found, path: str, data: bytes) -> dict[str, str | int]:
    return {
        "uri": file_uri(found, path),
        "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
        "size": len(data),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _unfit(found: Found) -> NotFoundError:
    return NotFoundError(
        f"{found.id!r} has no frontmatter with a name and description as the specification of skills wants them.",
        hint=f"`{command_text('validate', found.id)}` says what is wrong; its files can be read all the same.",
        details={"skill": found.id},
    )


def _require_fitting(found: Found, files: Collection[SkillFile]) -> None:
    size = sum(file.size for file in files)
    if len(files) > MAX_FILES or size > MAX_BYTES:
        raise LimitError(
            f"{found.id!r} has {len(files)} files of {size:,} bytes; "
            f"hosts take {MAX_FILES} files of {MAX_BYTES:,} bytes.",
            hint="Split it, or leave files out; each of them can be read all the same.",
            details={"skill": found.id, "limit": MAX_FILES, "limit_bytes": MAX_BYTES},
        )
