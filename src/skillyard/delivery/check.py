"""Comparing what is installed with what the lock says: edited, missing, dangling, untracked."""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

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
            "source": str(self.entry.source) if self.entry else "",
            "digest": self.entry.digest if self.entry else "",
            "diff": self.diff.as_dict() if self.diff else None,
        }


def check(targets: Sequence[Target], *, home: Path) -> tuple[Checked, ...]:
    """Every skill that the locks of these folders name, and every skill in the folders that none names."""
    return (*compare(targets, Depot(home)), *untracked(targets))


def untracked(targets: Sequence[Target]) -> Iterator[Checked]:
    """The skills in these folders that no lock names; links and hidden folders, which agents do not read, aside."""
    for target in targets:
        tracked = {entry.path for entry in read_lock(target.place).entries}
        for folder in filter(None, skill_folders_on_disk(target.root, hidden=False)):
            path = target.root / folder
            reason, fix = "No lock names it.", f"skillyard skill adopt {path.name}"
            try:
                if target.place.relative(path) in tracked:
                    continue
            except NotAllowedError as error:
                # One odd name, or a folder that leads out of the project, hides no other skill.
                reason, fix = f"It cannot be tracked: {error.message}", error.hint
            yield Checked(id=path.name, path=path, place=target.place, status=Status.UNTRACKED, reason=reason, fix=fix)


def compare(targets: Sequence[Target], depot: Depot | None = None) -> Iterator[Checked]:
    """Every skill that the locks of these folders name; with the depot, edits are told with their difference."""
    for place in dict.fromkeys(target.place for target in targets):
        for entry in read_lock(place).entries:
            yield _compared(place, entry, depot)


def _compared(place: LockPlace, entry: LockEntry, depot: Depot | None) -> Checked:
    path = place.resolve(entry.path)

    def checked(status: Status, reason: str = "", fix: str = "", diff: BundleDiff | None = None) -> Checked:
        return Checked(
            id=entry.id, path=path, place=place, status=status, reason=reason, fix=fix, entry=entry, diff=diff
        )

    seen = look_at(path)
    if seen.kind is Kind.ABSENT:
        return checked(Status.MISSING, f"{path} is not there.", f"skillyard update {entry.id}")
    if seen.bundle is None:
        reason = seen.findings[0].message if seen.findings else f"{path} is a {seen.kind}, not a folder."
        return checked(Status.UNREADABLE, reason, f"Move it away, then: skillyard update {entry.id}")
    if seen.digest != entry.digest:
        base = depot.get(entry.digest) if depot else None
        diff = diff_bundles(base, seen.bundle) if base else None
        return checked(Status.EDITED, "It was edited since it was installed.", _edit_fix(entry), diff)
    for link in map(place.resolve, entry.links):
        if not leads_to(link, path):
            if os.path.lexists(link):
                fix = f"Remove what is there, then: skillyard update {entry.id}"
                return checked(Status.LINK, f"{link} is not the link to it any more.", fix)
            return checked(Status.LINK, f"The link {link} is missing.", f"skillyard update {entry.id}")
    return checked(Status.OK)


def _edit_fix(entry: LockEntry) -> str:
    if entry.source.kind is SourceKind.LOCAL:
        return f"skillyard skill adopt {entry.id} (takes it as it is now)"
    source = shlex.quote(str(entry.source))
    return f"skillyard update {entry.id} (keeps the edits), or: skillyard add {source} --force (drops them)"
