"""What was written into the files of other programs, kept so that it can be taken back."""

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skillyard.files import make_folder, replace_file

FOLDER: Final = "mcp-clients"


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One entry that was written."""

    file: Path
    name: str
    entry: dict[str, Any]
    previous: dict[str, Any] | None
    """What had that name before."""
    before: bytes | None
    """The whole file before; None where there was none, and where it is not exact."""
    after: str
    """The digest of the whole file after."""
    is_exact: bool
    """Whether nothing but this entry lies between `before` and `after`."""
    folders: tuple[str, ...] = ()
    """Those that were made for the file, the innermost first."""


class Records:
    """The entries that were written, in Skillyard's home."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def find(self, file: Path, name: str) -> Record | None:
        try:
            told = json.loads(self._path(file, name).read_text(encoding="utf-8"))
            return Record(
                file=file,
                name=name,
                entry=told["entry"],
                previous=told["previous"],
                before=None if told["before"] is None else base64.b64decode(told["before"]),
                after=told["after"],
                is_exact=told["is_exact"],
                folders=tuple(told.get("folders", ())),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # then the entry is taken out, and nothing else

    def keep(self, record: Record) -> None:
        told = {
            "file": str(record.file),
            "name": record.name,
            "entry": record.entry,
            "previous": record.previous,
            "before": None if record.before is None else base64.b64encode(record.before).decode(),
            "after": record.after,
            "is_exact": record.is_exact,
            "folders": list(record.folders),
        }
        # The files of other programs hold secrets of theirs: for its owner only.
        make_folder(self._folder)
        replace_file(self._path(record.file, record.name), json.dumps(told).encode(), mode=0o600)

    def forget(self, file: Path, name: str) -> None:
        self._path(file, name).unlink(missing_ok=True)

    def _path(self, file: Path, name: str) -> Path:
        key = hashlib.sha256(f"{file.resolve()}\0{name}".encode()).hexdigest()[:32]
        return self._folder / f"{key}.json"


def digest_of(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()
