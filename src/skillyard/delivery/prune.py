"""Pruning Skillyard's home: what nobody has asked for in a month, and what no lock or trash needs any more."""

import json
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from skillyard.delivery.depot import Depot
from skillyard.delivery.guard import guard_file, guard_folder
from skillyard.delivery.lock import Lock, read_lock
from skillyard.delivery.place import LockPlace
from skillyard.delivery.trash import Trash, TrashItem
from skillyard.errors import SkillyardError
from skillyard.files import replace_file

KEEP_SECONDS: Final = 30 * 24 * 3600
"""How long the trash keeps what came there, and the depot what nothing needs."""


def remember(place: LockPlace, lock: Lock, home: Path, *, installed: Collection[str]) -> None:
    """Record where a lock is and which bundles it names, for pruning later.

    Also record the sources of the skills that were just `installed`, given by path: others may change a lock.
    """
    known = installed_from(place, home)
    record = {
        "lock": str(place.lock),
        "base": str(place.base),
        "trusted": place.trusted,
        "digests": sorted({entry.digest for entry in lock.entries}),
        "sources": {
            entry.path: entry.source.recordable.location if entry.path in installed else known[entry.path]
            for entry in lock.entries
            if entry.path in installed or entry.path in known
        },
    }
    path = _record(guard_file(place, home))
    data = f"{json.dumps(record, indent=2, ensure_ascii=False)}\n".encode()
    with suppress(OSError):
        if path.is_file() and path.read_bytes() == data:
            return
        path.unlink(missing_ok=True)  # no record is safer than one that is out of date
        replace_file(path, data)


def installed_from(place: LockPlace, home: Path) -> dict[str, str]:
    """The sources from which this machine installed the skills of a place, by path, as far as recorded."""
    try:
        record: Any = json.loads(_record(guard_file(place, home)).read_bytes())
        return {str(path): str(source) for path, source in record.get("sources", {}).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def prune(home: Path) -> None:
    """Delete old items of the trash, and old bundles that no lock and nothing in the trash names.

    Locks are all over the disk. Of one that is not there now, what it named last counts: its disk may be away.
    Where it is not known what some lock names, no bundle goes. What cannot be deleted is left for the next time.
    """
    moment = time.time() - KEEP_SECONDS
    with suppress(OSError, SkillyardError):
        Trash(home).remove_before(moment)
        old = Depot(home).kept_before(moment)
        needed = _needed(home) if old else None
        if needed is not None:
            for digest in old.keys() - needed:
                old[digest].unlink()


def _needed(home: Path) -> set[str] | None:
    """The digests that locks and the trash name; None when that is not known of every lock."""
    needed = {item.entry.digest for item in Trash(home).items() if isinstance(item, TrashItem) and item.entry}
    for guard in guard_folder(home).glob("*.lock"):
        try:
            needed.update(_named(json.loads(_record(guard).read_bytes())))
        except (OSError, ValueError, KeyError, TypeError, SkillyardError):
            return None
    return needed


def _named(record: Any) -> Iterator[str]:  # noqa: ANN401 -- whatever JSON holds
    yield from map(str, record["digests"])
    place = LockPlace(lock=Path(record["lock"]), base=Path(record["base"]), trusted=bool(record["trusted"]))
    yield from (entry.digest for entry in read_lock(place).entries)


def _record(guard: Path) -> Path:
    return guard.with_suffix(".json")
