"""Carrying a plan out, one skill at a time, each whole or not at all."""

import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from skillyard.delivery.depot import Depot
from skillyard.delivery.guard import only_writer
from skillyard.delivery.leftovers import put_right
from skillyard.delivery.links import leads_to, make_link
from skillyard.delivery.lock import Lock, read_lock, write_lock
from skillyard.delivery.look import Look, look_at
from skillyard.delivery.place import LockPlace
from skillyard.delivery.plan import Act, Action, Plan, blocked
from skillyard.delivery.prune import installed_from, prune, remember
from skillyard.delivery.trash import Trash, TrashItem
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.library.disk import discard_folder, swap_folder, write_folder
from skillyard.skill.bundle import Bundle


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a plan."""

    done: tuple[Action, ...] = ()
    left: tuple[Action, ...] = ()
    """What could not be done: conflicts, refusals, and what changed since the plan was made."""
    trashed: tuple[TrashItem, ...] = ()


def apply_plan(plan: Plan, *, home: Path) -> Outcome:
    """Do what the plan says. What changed since it was made is left alone and reported, the rest is done."""
    depot, trash = Depot(home), Trash(home)
    done: list[Action] = []
    left = list(plan.blocked)
    by_place = sorted(plan.changes, key=lambda action: str(action.place.lock))
    for place, group in groupby(by_place, key=lambda action: action.place):
        actions = list(group)
        with only_writer(place, home), _kept_lock(place) as kept:
            put_right(place, kept.lock, {action.path.parent for action in actions}, trash)
            for action in actions:
                seen = look_at(action.path)
                if seen.mark != action.seen or kept.lock.at(place.relative(action.path)) != action.before:
                    left.append(_stale(action))
                    continue
                try:
                    _Performing(action, seen, kept.lock, depot, trash).perform()
                except (SkillyardError, OSError) as error:
                    left.append(_failed(action, error))
                else:
                    kept.lock = _written_down(action, kept.lock)
                    done.append(action)
            remember(place, kept.lock, home, installed=_from_their_sources(place, done, home))
    prune(home)
    return Outcome(done=tuple(done), left=tuple(left), trashed=tuple(trash.added))


def _from_their_sources(place: LockPlace, done: Sequence[Action], home: Path) -> set[str]:
    """What was installed from where the lock has it now. A new link, or files that were kept here, tell nothing of a
    source that somebody else wrote there.
    """
    known = installed_from(place, home)
    paths = {place.relative(action.path): action for action in done if action.place == place}
    return {path for path, action in paths.items() if action.pristine is not None or path not in known}


@dataclass(slots=True)
class _Kept:
    lock: Lock


@contextmanager
def _kept_lock(place: LockPlace) -> Generator[_Kept]:
    """The lock of a place, written once what was done is done, even when that was not all."""
    before = read_lock(place)
    kept = _Kept(before)
    try:
        yield kept
    finally:
        if kept.lock != before:
            write_lock(place, kept.lock)


def _stale(action: Action) -> Action:
    return replace(
        action,
        act=Act.CONFLICT,
        reason=f"{action.path} or its entry in the lock changed after the plan was made.",
        fix="Run the command again.",
    )


def _failed(action: Action, error: SkillyardError | OSError) -> Action:
    if isinstance(error, SkillyardError):
        return blocked(action, Act.REFUSED, error.message, error.hint)
    reason = f"{error.filename or action.path} could not be written: {error.strerror or error}."
    return blocked(action, Act.REFUSED, reason, "Check the permissions and the space there, then run it again.")


@dataclass(frozen=True, slots=True)
class _Performing:
    """One action being done to what is there."""

    action: Action
    seen: Look
    lock: Lock
    depot: Depot
    trash: Trash

    def perform(self) -> None:
        """Keep what came, put what goes into the trash, write what is new; the lock comes last.

        Whatever step it stops at, doing the same again finishes it.
        """
        action = self.action
        if action.before is not None:  # what gives way may be wanted back for a while
            self.depot.refresh(action.before.digest)
        if action.pristine is not None:
            self.depot.keep(action.pristine)
        for path in action.unlinks:
            self._take_away(path)
        if action.origin is not None:
            self._move(action.origin)
        elif action.act is Act.REMOVE:
            self._take_away(action.path)
        elif action.bundle is not None:
            self._write(action.bundle)
        for link in action.links:
            make_link(link, action.path)

    def _move(self, origin: Path) -> None:
        """The folder goes to the place of its link, or to a free one, with all that is in it."""
        path = self.action.path
        was_link = leads_to(path, origin)
        if was_link:
            path.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.move(origin, path)
        except OSError:
            if was_link:
                make_link(path, origin)
            raise

    def _take_away(self, path: Path) -> None:
        """A link to the skill can be made again; everything else, also somebody's own link, goes to the trash."""
        folders = (self.action.path, self.action.origin)
        if any(folder and folder != path and leads_to(path, folder) for folder in folders):
            path.unlink()
        elif os.path.lexists(path):
            self.trash.move(path, place=self.action.place, entry=self.lock.at(self.action.place.relative(path)))

    def _write(self, bundle: Bundle) -> None:
        path = self.action.path
        if self.seen.bundle is None:
            self._take_away(path)
            write_folder(bundle, path)
        else:
            self._replace(bundle)
        written = look_at(path)
        if written.digest != bundle.digest:
            raise UnavailableError(
                f"{path} does not hold what was written: {written.digest or written.kind} instead of {bundle.digest}.",
                hint="Check the disk and what else writes there, then run the command again.",
            )

    def _replace(self, bundle: Bundle) -> None:
        path, place, before = self.action.path, self.action.place, self.action.before
        if not _is_as_installed(self.action, self.seen):
            self.trash.copy(path, place=place, entry=before)
        old = swap_folder(bundle, path)
        if old is None:
            return
        if look_at(old) == self.seen:
            discard_folder(old)
        else:  # somebody saved something there until the last moment
            self.trash.move(old, was=path, place=place, entry=before)


def _is_as_installed(action: Action, seen: Look) -> bool:
    """Whether a folder holds only what its source gave, which can be fetched again."""
    entry = action.before
    return entry is not None and entry.verified and entry.digest == seen.digest and not seen.holds_more


def _written_down(action: Action, lock: Lock) -> Lock:
    for path in (*action.unlinks, *((action.origin,) if action.origin else ())):
        lock = lock.without(action.place.relative(path))
    if action.after is not None:
        return lock.having(action.after)
    return lock.without(action.place.relative(action.path))
