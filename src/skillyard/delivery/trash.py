"""The trash: folders taken away or written over, kept so that it can be undone."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from skillyard.delivery.lock import LockEntry, entry_from_dict, entry_to_dict
from skillyard.delivery.place import LockPlace
from skillyard.errors import InputError, NotFoundError, UnavailableError

_RECORD: Final = "trash.json"
_CONTENT: Final = "content"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrashItem:
    name: str
    """How the item is asked for: `0007-pdf`."""
    path: Path
    """Where the folder was."""
    content: Path
    """Where it is now."""
    place: LockPlace
    entry: LockEntry | None
    """What the lock said about it; None for what was not tracked."""


class Trash:
    """Items under `<home>/trash`, numbered in the order they came. Deleting an item's folder forgets it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "trash"
        self.added: list[TrashItem] = []
        """What was put here through this object."""

    def move(self, path: Path, *, place: LockPlace, entry: LockEntry | None) -> TrashItem:
        """Take a folder away into the trash."""
        item = self._new(path, place, entry)
        self._filling(item, lambda: shutil.move(path, item.content))
        return item

    def copy(self, path: Path, *, place: LockPlace, entry: LockEntry | None) -> TrashItem:
        """Put a copy of a folder into the trash, before it is written over in place."""
        item = self._new(path, place, entry)
        self._filling(item, lambda: shutil.copytree(path, item.content, symlinks=True))
        return item

    def items(self) -> list[TrashItem]:
        """What is in the trash, last in first."""
        names = sorted((path.name for path in self.folder.glob("*-*") if (path / _RECORD).is_file()), reverse=True)
        return [self.get(name) for name in names]

    def find(self, wanted: str) -> TrashItem:
        """The item of that name, or the last one that was a skill of that id."""
        return next((item for item in self.items() if item.path.name == wanted), None) or self.get(wanted)

    def get(self, name: str) -> TrashItem:
        record = self.folder / name / _RECORD
        if Path(name).name != name or not record.is_file():
            raise NotFoundError(
                f"There is no {name!r} in the trash.",
                hint="See what is there: skillyard skill restore",
                details={"value": name},
            )
        try:
            fields: Any = json.loads(record.read_bytes())
            place = LockPlace(lock=Path(fields["lock"]), base=Path(fields["base"]), trusted=bool(fields["trusted"]))
            entry = fields["entry"] and entry_from_dict(place, cast("dict[str, Any]", fields["entry"]), "entry")
            path = Path(fields["path"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{record} cannot be used: {error}.", hint=f"Move {record.parent / _CONTENT} back by hand."
            ) from error
        return TrashItem(name=name, path=path, content=record.parent / _CONTENT, place=place, entry=entry)

    def take(self, item: TrashItem) -> None:
        """Move an item back to where it was."""
        shutil.move(item.content, item.path)
        shutil.rmtree(item.content.parent)

    def _filling(self, item: TrashItem, fill: Callable[[], object]) -> None:
        try:
            fill()
        except OSError as error:
            if item.path.exists():
                shutil.rmtree(item.content.parent, ignore_errors=True)
            raise UnavailableError(
                f"{item.path} could not be put into the trash: {error}.",
                hint=f"Check its permissions and the space in {self.folder}.",
            ) from error
        self.added.append(item)

    def _new(self, path: Path, place: LockPlace, entry: LockEntry | None) -> TrashItem:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = 1 + max((_number(path.name) for path in self.folder.iterdir()), default=0)
        while True:
            name = f"{number:04d}-{path.name}"
            try:
                (self.folder / name).mkdir()
                break
            except FileExistsError:  # another process was faster
                number += 1
        record = {
            "path": str(path),
            "lock": str(place.lock),
            "base": str(place.base),
            "trusted": place.trusted,
            "entry": entry_to_dict(place, entry) if entry else None,
        }
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        (self.folder / name / _RECORD).write_text(text, encoding="utf-8")
        content = self.folder / name / _CONTENT
        return TrashItem(name=name, path=path, content=content, place=place, entry=entry)


def _number(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
