"""Comparing what is installed with what the lock says: edited, missing, dangling, untracked."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from skillyard.command_text import command_text
from skillyard.delivery.depot import Depot
from skillyard.delivery.discover import skill_folders_on_disk
from skillyard.delivery.links import leads_to
from skillyard.delivery.lock import LockEntry, read_lock
from skillyard.delivery.look import Kind, look_at
from skillyard.delivery.place import LockPlace
from skillyard.delivery.source import SourceKind
from skillyard.delivery.target import Target
from skillyard.errors import NotAllowedError
from skillyard.skill.diff import BundleDiff, diff_bundles


class Status(StrEnum):
    OK = "ok"
    EDITED = "edited"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    """Something is there that cannot be a skill."""
    LINK = "link"
    """A link to the skill is missing, dangles or leads elsewhere."""
    UNTRACKED = "untracked"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """One installed skill, compared."""

    id: str
    path: Path
    place: LockPlace
    status: Status
    reason: str = ""
    fix: str = ""
    """One command."""
    alternative: str = ""
    """Another command, with the other outcome that the reason names."""
    entry: LockEntry | None = None
    diff: BundleDiff | None = None
    """What was edited, where the content as installed is still known."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "path": str(self.path),
            "lock": str(self.place.lock),
            "status": self.status.value,
            "reason": self.reason,
            "fix": self.fix,
            "alternative": self.alternative,
            "source": str(self.entry.source) if self.entry else "",
            "digest": self.entry.digest if self.entry else "",
            "diff": self.diff.as_dict() if self.diff else None,
        }


def check_installed(targets: Sequence[Target], *, home: Path, named: bool = False) -> tuple[Checked, ...]:
    """Every skill that the locks of these folders name, and every skill in the folders that none names.

    Folders that are only found when they are `named` are named in the fixes too.
    """
    return (*compare(targets, Depot(home), named=named), *untracked(targets, named=named))


def untracked(targets: Sequence[Target], *, named: bool = False) -> Iterator[Checked]:
    """The skills in these folders that no lock names; links and hidden folders, which agents do not read, aside."""
    for target in targets:
        tracked = {entry.path for entry in read_lock(target.place).entries}
        for folder in filter(None, skill_folders_on_disk(target.root, hidden=False)):
            path = target.root / folder
            reason = "No lock names it."
            fix = command_text("skill adopt", path.name, options=_root_option(target.root, named=named))
            try:
                if target.place.relative(path) in tracked:
                    continue
            except NotAllowedError as error:
                # One odd name, or a folder that leads out of the project, hides no other skill.
                reason, fix = f"It cannot be tracked: {error.message} {error.hint}", ""
            yield Checked(id=path.name, path=path, place=target.place, status=Status.UNTRACKED, reason=reason, fix=fix)


def compare(targets: Sequence[Target], depot: Depot | None = None, *, named: bool = False) -> Iterator[Checked]:
    """Every skill that the locks of these folders name; with the depot, edits are told with their difference."""
    for place in dict.fromkeys(target.place for target in targets):
        for entry in read_lock(place).entries:
            yield _Comparing(place, entry, place.resolve(entry.path), depot, named=named).compared()


@dataclass(frozen=True, slots=True)
class _Comparing:
    """One entry of a lock and the folder it speaks of. Every fix is one command that works as it is."""

    place: LockPlace
    entry: LockEntry
    path: Path
    depot: Depot | None
    named: bool

    def compared(self) -> Checked:
        seen = look_at(self.path)
        if seen.kind is Kind.ABSENT:
            return self._missing()
        if seen.bundle is None:
            reason = seen.findings[0].message if seen.findings else f"{self.path} is a {seen.kind}, not a folder."
            if self._is_local:
                # It is the only copy, and agents may read it all the same: no fix moves it away.
                return self._checked(Status.UNREADABLE, f"{reason} Correct it by hand; it has no source.")
            return self._checked(Status.UNREADABLE, f"{reason} The fix moves it to the trash.", self._sync("--force"))
        if seen.digest != self.entry.digest:
            base = self.depot.get(self.entry.digest) if self.depot else None
            return self._edited(diff_bundles(base, seen.bundle) if base else None)
        for link in map(self.place.resolve, self.entry.links):
            if not leads_to(link, self.path):
                return self._lost(link)
        return self._checked(Status.OK)

    def _missing(self) -> Checked:
        reason = f"{self.path} is not there."
        if not self._is_local:
            return self._checked(Status.MISSING, reason, self._sync())
        if self.depot and self.depot.get(self.entry.digest):
            return self._checked(Status.MISSING, f"{reason} The fix brings back what was adopted.", self._sync())
        reason += " It has no source to fetch it from: put it back, or let the lock forget it."
        return self._checked(Status.MISSING, reason, self._remove())

    def _edited(self, diff: BundleDiff | None) -> Checked:
        if self._is_local:
            reason = "It was edited since it was adopted. The fix takes it as it is now."
            fix = command_text("skill adopt", self.entry.id, options=self._root)
            return replace(self._checked(Status.EDITED, reason, fix), diff=diff)
        reason = "It was edited since it was installed. The fix keeps the edits, the other command drops them."
        edited = self._checked(Status.EDITED, reason, self._update)
        return replace(edited, alternative=self._sync("--force"), diff=diff)

    def _lost(self, link: Path) -> Checked:
        if not os.path.lexists(link):
            return self._checked(Status.LINK, f"The link {link} is missing.", self._sync())
        fate = "makes the link again" if link.is_symlink() else "moves what is there to the trash"
        reason = f"{link} is not the link to it any more. The fix {fate}."
        return self._checked(Status.LINK, reason, self._sync("--force"))

    def _checked(self, status: Status, reason: str = "", fix: str = "") -> Checked:
        entry = self.entry
        return Checked(
            id=entry.id, path=self.path, place=self.place, status=status, reason=reason, fix=fix, entry=entry
        )

    @property
    def _is_local(self) -> bool:
        return self.entry.source.kind is SourceKind.LOCAL

    @property
    def _root(self) -> tuple[str, ...]:
        return _root_option(self.path.parent, named=self.named)

    @property
    def _update(self) -> str:
        return command_text("update", self.entry.id, options=self._root)

    def _sync(self, *options: str) -> str:
        return command_text("sync", self.entry.id, options=[*self._root, *options])

    def _remove(self, *options: str) -> str:
        return command_text("remove", self.entry.id, options=[*self._root, *options, "-y"])


def _root_option(root: Path, *, named: bool) -> tuple[str, ...]:
    return ("--root", str(root)) if named else ()
