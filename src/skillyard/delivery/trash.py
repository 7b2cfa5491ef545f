"""The trash: folders taken away or written over, kept so that it can be undone."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from skillyard.delivery.lock import LockEntry, entry_from_dict, entry_to_dict
from skillyard.delivery.place import LockPlace
from skillyard.errors import InputError, NotFoundError, SkillyardError, UnavailableError
from skillyard.files import make_folder, replace_file, sync_folder
from skillyard.library.disk import discard_folder, draft_beside, hidden_beside, remove_old_drafts

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


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenItem:
    """Something in the trash that cannot be put back by a command."""

    name: str
    problem: SkillyardError


class Trash:
    """Items under `<home>/trash`, numbered in the order they came. Deleting an item's folder forgets it."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "trash"
        self.added: list[TrashItem] = []
        """What was put here through this object."""

    def move(self, path: Path, *, place: LockPlace, entry: LockEntry | None, was: Path | None = None) -> TrashItem:
        """Take what is at a path away into the trash; `was` is where it belongs, if not there."""
        return self._filled(was or path, place, entry, lambda content: _move(path, content))

    def copy(self, path: Path, *, place: LockPlace, entry: LockEntry | None) -> TrashItem:
        """Put a copy of a folder into the trash, before it is written over in place."""
        return self._filled(path, place, entry, lambda content: _copy(path, content))

    def items(self) -> list[TrashItem | BrokenItem]:
        """What is in the trash, last in first."""
        return [self._item_or_problem(name) for name in self._names()]

    def find(self, wanted: str) -> TrashItem:
        """The item of that name, or the last one that was a skill of that id."""
        names = self._names()
        if wanted not in names:
            named = [name for name in names if name.partition("-")[2] == wanted]
            whole = (item for item in map(self._item_or_problem, named) if isinstance(item, TrashItem))
            return next(whole, None) or self.get(named[0] if named else wanted)
        return self.get(wanted)

    def get(self, name: str) -> TrashItem:
        record = self.folder / name / _RECORD
        if Path(name).name != name or not record.is_file():
            raise NotFoundError(
                f"There is no {name!r} in the trash.",
                hint="See what is there: skillyard skill restore",
                details={"value": name},
            )
        content = record.parent / _CONTENT
        if not os.path.lexists(content):
            raise InputError(
                f"{record.parent} was never finished: there is no {_CONTENT} in it.",
                hint="What should have come here is where it was, or in a hidden folder beside that.",
            )
        try:
            fields: Any = json.loads(record.read_bytes())
            place = LockPlace(lock=Path(fields["lock"]), base=Path(fields["base"]), trusted=bool(fields["trusted"]))
            entry = fields["entry"] and entry_from_dict(place, cast("dict[str, Any]", fields["entry"]), "entry")
            path = Path(fields["path"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{record} cannot be used: {error}.", hint=f"Move {content} back by hand.") from error
        return TrashItem(name=name, path=path, content=content, place=place, entry=entry)

    def take(self, item: TrashItem) -> None:
        """Move an item back to where it was."""
        try:
            _move(item.content, item.path)
        except OSError as error:
            raise UnavailableError(
                f"{item.path} could not be put back: {error}.",
                hint=f"Check the permissions and the space there; it is still in {item.content}.",
            ) from error
        shutil.rmtree(item.content.parent, ignore_errors=True)

    def remove_before(self, moment: float) -> None:
        """Delete what came here before a moment. What has a broken record is for a person to judge, and stays."""
        remove_old_drafts(self.folder)
        for name in self._names():
            folder = self.folder / name
            came = (folder / _RECORD).stat().st_mtime
            unfinished = not os.path.lexists(folder / _CONTENT)
            if came < moment and (unfinished or isinstance(self._item_or_problem(name), TrashItem)):
                discard_folder(folder)

    def _names(self) -> list[str]:
        names = (path.name for path in self.folder.glob("[0-9]*-*") if (path / _RECORD).is_file())
        return sorted(names, reverse=True)

    def _item_or_problem(self, name: str) -> TrashItem | BrokenItem:
        try:
            return self.get(name)
        except SkillyardError as error:
            return BrokenItem(name=name, problem=error)

    def _filled(self, path: Path, place: LockPlace, entry: LockEntry | None, fill: Callable[[Path], None]) -> TrashItem:
        try:
            item = self._new(path, place, entry)
            self._fill(item, fill)
        except OSError as error:
            raise UnavailableError(
                f"{path} could not be put into the trash: {error}.",
                hint=f"Check its permissions and the space in {self.folder}.",
            ) from error
        self.added.append(item)
        return item

    def _fill(self, item: TrashItem, fill: Callable[[Path], None]) -> None:
        try:
            fill(item.content)
        except OSError:
            # What got here whole is never deleted: it may be all that there is.
            if not os.path.lexists(item.content):
                shutil.rmtree(item.content.parent, ignore_errors=True)
            raise

    def _new(self, path: Path, place: LockPlace, entry: LockEntry | None) -> TrashItem:
        make_folder(self.folder)
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
        replace_file(self.folder / name / _RECORD, text.encode())
        content = self.folder / name / _CONTENT
        return TrashItem(name=name, path=path, content=content, place=place, entry=entry)


def _number(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _move(path: Path, to: Path) -> None:
    """Move whatever is at a path. At every moment all of it is in one of the two places."""
    try:
        path.rename(to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        return
    # Another disk. Out of everybody's way first: what is saved while the copy is made would be in neither.
    aside = hidden_beside(path)
    path.rename(aside)
    try:
        _copy(aside, to)
    except OSError:
        aside.rename(path)
        raise
    _delete(aside)


def _copy(path: Path, to: Path) -> None:
    """Copy whatever is at a path; under the new name there is all of it or nothing, even when the machine stops."""
    unfinished = draft_beside(to)
    try:
        if _is_folder(path):
            shutil.copytree(path, unfinished, symlinks=True, copy_function=_copy_file)
            for folder, _, _ in os.walk(unfinished):
                sync_folder(Path(folder))
        else:
            _copy_file(path, unfinished)
        unfinished.rename(to)
    except OSError:
        _delete(unfinished)
        raise
    sync_folder(to.parent)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _delete(path: Path) -> None:
    if _is_folder(path):
        discard_folder(path)
    else:
        path.unlink(missing_ok=True)


def _copy_file(source: str | Path, target: str | Path) -> None:
    shutil.copy2(source, target, follow_symlinks=False)
    if not Path(target).is_symlink():
        with Path(target).open("rb") as stream:
            os.fsync(stream.fileno())
