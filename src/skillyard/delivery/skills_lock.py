"""Reading the lock files of the `npx skills` installer: where it says a skill came from."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.source_text import parse_source
from skillyard.errors import InputError, SkillyardError
from skillyard.library.regular import read_regular
from skillyard.skill.bundle import Bundle
from skillyard.skill.limits import MIB, SKILL_FILE_NAMES

PROJECT_FILE: Final = "skills-lock.json"
USER_FILE: Final = ".skill-lock.json"
MAX_BYTES: Final = 16 * MIB

# The order of the Unicode collation for ASCII, in which the installer sorts paths before hashing them.
_ORDER: Final = {char: place for place, char in enumerate(" _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789")}


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignEntry:
    """What the other installer wrote down about one skill."""

    source: Source
    content_hash: str = ""
    origin: str = ""
    """The origin as the installer wrote it, even if that is not an exact source."""

    def vouches_for(self, bundle: Bundle) -> bool:
        """Whether the content is exactly what was installed. A hash that does not match proves nothing."""
        return self.content_hash != "" and self.content_hash in {
            _hash(bundle, collated=True),
            _hash(bundle, collated=False),
        }


def lock_files(*, project: Path, user_home: Path, env: Mapping[str, str]) -> tuple[Path, Path]:
    """Where the installer keeps a project's lock and a person's own."""
    state = env.get("XDG_STATE_HOME", "").strip()
    own = Path(state) / "skills" / USER_FILE if state else user_home / ".agents" / USER_FILE
    return project / PROJECT_FILE, own


def read_skills_lock(path: Path) -> dict[str, ForeignEntry]:
    """The skills in such a file by name; none when there is no file. A source nobody can use again is local."""
    if not path.is_file():
        return {}
    try:
        document: Any = json.loads(read_regular(str(path), MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not JSON: {error}.", hint=f"Correct or remove {path}.", details={"file": str(path)}
        ) from error
    skills: Any = cast("dict[str, Any]", document).get("skills") if isinstance(document, dict) else None
    if not isinstance(skills, dict):
        raise InputError(
            f"{path} has no object `skills`.", hint=f"Correct or remove {path}.", details={"file": str(path)}
        )
    entries: dict[str, ForeignEntry] = {}
    for name, fields in cast("dict[str, Any]", skills).items():
        if isinstance(fields, dict):
            entries[name] = _entry(name, cast("dict[str, Any]", fields), path.parent)
    return entries


def _entry(name: str, fields: dict[str, Any], folder: Path) -> ForeignEntry:
    texts = {key: value for key, value in fields.items() if isinstance(value, str)}
    try:
        source = _source(name, texts, folder)
    except SkillyardError:
        # Its origin cannot be fetched from again; the skill itself is fine.
        source = Source(kind=SourceKind.LOCAL)
    origin = texts.get("sourceUrl") or texts.get("source", "")
    return ForeignEntry(source=source, content_hash=texts.get("computedHash", ""), origin=origin)


def _source(name: str, texts: Mapping[str, str], folder: Path) -> Source:
    kind, named = texts.get("sourceType", ""), texts.get("source", "")
    url = texts.get("sourceUrl", "") or named
    if kind == "well-known":
        return _index(texts.get("sourceUrl", ""), name, folder)
    if kind == "local":
        return parse_source(url, cwd=folder)
    if kind not in {"github", "gitlab", "git"}:
        return Source(kind=SourceKind.LOCAL)
    is_short = kind == "github" and ":" not in named
    source = parse_source(f"github:{named}" if is_short else f"git+{url}", cwd=folder)
    subpath, _, last = texts.get("skillPath", "").rpartition("/")
    if last not in SKILL_FILE_NAMES:
        subpath = f"{subpath}/{last}".strip("/")
    return replace(source, ref=texts.get("ref", source.ref), subpath=subpath or source.subpath)


def _index(url: str, name: str, folder: Path) -> Source:
    """The index of the site whose full address was written down; nothing is guessed from a part of it.

    With a path in it, the installer may have taken the index of that path or of the whole host.
    """
    if not url.startswith(("https://", "http://")):
        return Source(kind=SourceKind.LOCAL)
    source = parse_source(url, cwd=folder)
    return replace(source, subpath=name) if source.kind is SourceKind.INDEX else Source(kind=SourceKind.LOCAL)


def _hash(bundle: Bundle, *, collated: bool) -> str:
    digest = hashlib.sha256()
    for file in sorted(bundle, key=lambda file: _collation(file.path)) if collated else bundle:
        digest.update(file.path.encode())
        digest.update(file.data)
    return digest.hexdigest()


def _collation(path: str) -> tuple[list[tuple[int, str]], list[bool]]:
    """Letters without regard to case and accents, after digits and signs; between equals, lower case first."""
    letters = [char for char in unicodedata.normalize("NFD", path) if not unicodedata.combining(char)]
    weights = [(_ORDER.get(char, len(_ORDER)), "" if char in _ORDER else char.lower()) for char in letters]
    return weights, [char.isupper() for char in letters]
