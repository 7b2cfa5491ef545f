"""Bringing back what was removed or written over."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from skillyard.delivery.guard import only_writer
from skillyard.delivery.links import leads_to, make_link
from skillyard.delivery.lock import Lock, LockEntry, read_lock, write_lock
from skillyard.delivery.place import LockPlace
from skillyard.delivery.prune import remember
from skillyard.delivery.trash import Trash, TrashItem
from skillyard.errors import SkillyardError


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    item: TrashItem
    replaced: TrashItem | None
    """What was there until now; restoring it undoes this."""


def restore_item(name: str, *, home: Path) -> Restored:
    """Put an item of the trash back where it was, with its links and its entry in the lock.

    What is there now goes to the trash with its own entry, so that this can be undone in turn.
    """
    trash = Trash(home)
    item = trash.get(name)
    with only_writer(item.place, home):
        relative = item.place.relative(item.path)
        lock = read_lock(item.place)
        current = lock.at(relative)
        replaced = _exchanged(trash, item, current)
        lock = _without_link(lock.without(relative), relative)
        if item.entry is not None:
            lock = lock.having(item.entry)
        _relink(item.place, item.path, current, item.entry)
        write_lock(item.place, lock)
        remember(item.place, lock, home, installed={relative})
    return Restored(item=item, replaced=replaced)


def _exchanged(trash: Trash, item: TrashItem, current: LockEntry | None) -> TrashItem | None:
    """Put the item into its place; what was there instead, or all is as before when that fails."""
    item.path.parent.mkdir(parents=True, exist_ok=True)
    replaced = trash.move(item.path, place=item.place, entry=current) if os.path.lexists(item.path) else None
    try:
        trash.take(item)
    except SkillyardError:
        if replaced is not None:
            trash.take(replaced)
        raise
    return replaced


def _without_link(lock: Lock, path: str) -> Lock:
    """The lock without a link at this path, where a folder is now."""
    for entry in lock.entries:
        if path in entry.links:
            lock = lock.having(replace(entry, links=tuple(link for link in entry.links if link != path)))
    return lock


def _relink(place: LockPlace, folder: Path, current: LockEntry | None, wanted: LockEntry | None) -> None:
    """Make the links that the skill had, as far as their places are free, and take away those it did not have."""
    links = set(wanted.links if wanted else ())
    for link in map(place.resolve, set(current.links if current else ()) - links):
        if leads_to(link, folder):
            link.unlink()
    for link in map(place.resolve, sorted(links)):
        if not os.path.lexists(link):
            make_link(link, folder)
