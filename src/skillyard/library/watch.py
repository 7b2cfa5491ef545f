"""Watching folders of skills: what was added, removed or updated, as it happens."""

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.skill.library import Catalog, Library, SkillEntry

DEBOUNCE_MS: Final = 400
"""Changes this close to each other are told together: one save is often many writes."""
LOOK_MS: Final = 1_000
"""How often a folder that is not there yet is looked for."""


class Added(NamedTuple):
    entry: SkillEntry


class Removed(NamedTuple):
    entry: SkillEntry


class Updated(NamedTuple):
    """A skill of which any file changed; `before` and `after` are equal when it was not `SKILL.md`."""

    before: SkillEntry
    after: SkillEntry


Change = Added | Removed | Updated


def diff_catalogs(before: Catalog, after: Catalog, *, touched: Collection[str] = ()) -> tuple[Change, ...]:
    """What changed from one listing to the next, by id. `touched` are paths known to have changed."""
    old = {entry.id: entry for entry in before.entries}
    new = {entry.id: entry for entry in after.entries}
    changed = _folders_of(touched)
    changes: list[Change] = []
    for skill_id in sorted(old.keys() | new.keys()):
        was, now = old.get(skill_id), new.get(skill_id)
        if was is None and now is not None:
            changes.append(Added(now))
        elif was is not None and now is None:
            changes.append(Removed(was))
        elif was is not None and now is not None and (was != now or _is_in(now, changed)):
            changes.append(Updated(was, now))
    return tuple(changes)


class Watcher:
    """A library being watched. Iterate to wait for changes since this was made; `stop` ends the iteration.

    `roots` are the folders to watch: all that the library reads, and those that links in it lead to. One that
    does not exist yet is picked up when it appears, one that goes away when it comes back. Files other than
    `SKILL.md` are watched once the iteration has begun.
    """

    def __init__(
        self,
        library: Library,
        roots: Sequence[Path],
        *,
        stop: threading.Event | None = None,
        debounce_ms: int = DEBOUNCE_MS,
        look_ms: int = LOOK_MS,
    ) -> None:
        self.stop = stop or threading.Event()
        self._library = library
        self._roots = tuple(roots)
        self._debounce_ms = debounce_ms
        self._look_ms = look_ms
        self._catalog = library.catalog()

    def __iter__(self) -> Iterator[tuple[Change, ...]]:
        while not self.stop.is_set():
            present = self._present()
            if present:
                yield from self._watch(present)
                continue
            changes = self._look(())
            if changes:
                yield changes
            self.stop.wait(self._look_ms / 1000)

    def _watch(self, present: frozenset[str]) -> Iterator[tuple[Change, ...]]:
        """Changes until another root appears or one goes away."""
        import watchfiles  # noqa: PLC0415 -- only watching needs it

        events = watchfiles.watch(
            *sorted(present),
            debounce=self._debounce_ms,
            step=min(50, self._debounce_ms),
            stop_event=self.stop,
            rust_timeout=self._look_ms,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        )
        try:
            for count, batch in enumerate(events):
                # The first look also sees what changed while nothing was watched.
                changes = self._look({path for _, path in batch}) if batch or count == 0 else ()
                if changes:
                    yield changes
                if self._present() != present:
                    return
        except FileNotFoundError:
            # A root went away in the moment before it was watched; the next round sees that.
            return

    def _look(self, touched: Collection[str]) -> tuple[Change, ...]:
        before, self._catalog = self._catalog, self._library.catalog()
        return diff_catalogs(before, self._catalog, touched=touched)

    def _present(self) -> frozenset[str]:
        # Real paths, because that is how entries tell where they are.
        return frozenset(os.path.realpath(root) for root in self._roots if root.is_dir())


def _folders_of(touched: Collection[str]) -> set[str]:
    """Every folder that holds a touched path, at any depth."""
    folders: set[str] = set()
    for path in touched:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _is_in(entry: SkillEntry, folders: set[str]) -> bool:
    if not folders:
        return False
    folder = os.path.dirname(entry.location)  # noqa: PTH120 -- a location is a string
    return folder in folders or (os.path.islink(folder) and os.path.realpath(folder) in folders)  # noqa: PTH114
