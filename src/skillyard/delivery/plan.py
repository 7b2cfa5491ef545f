"""Plans: what would be done to which folder, decided before anything is written."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from skillyard.delivery.lock import LockEntry
from skillyard.delivery.place import LockPlace
from skillyard.delivery.source import is_commit
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import BundleDiff, diff_bundles
from skillyard.skill.models import Finding

NOTHING: Final = Bundle(())


class Act(StrEnum):
    CREATE = "create"
    REPLACE = "replace"
    MERGE = "merge"
    """Replace by what upstream changed and the person's own edits together."""
    ADOPT = "adopt"
    """Track what is there already; the folder stays as it is."""
    RECORD = "record"
    """Bring the lock or the links up to date; the folder stays as it is."""
    MOVE = "move"
    """Take the folder, as it is, from `origin` to `path`: other agents share it from now on, or no longer."""
    REMOVE = "remove"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"
    REFUSED = "refused"


IDLE: Final = frozenset({Act.UNCHANGED, Act.CONFLICT, Act.REFUSED})
"""Acts that touch nothing."""
_SHORT_DIGEST: Final = 7
BLOCKED: Final = frozenset({Act.CONFLICT, Act.REFUSED})


@dataclass(frozen=True, kw_only=True, slots=True)
class FileConflict:
    """A file that a person and upstream both changed."""

    path: str
    reason: str
    merged: str = ""
    """The text with conflict markers, where there is one."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """One thing to do to one skill's folder, with all that is needed to do it and to show it."""

    act: Act
    id: str
    place: LockPlace
    path: Path
    origin: Path | None = None
    """The folder that moves to `path`."""
    reason: str = ""
    fix: str = ""
    seen: str = ""
    """The mark of what was at `path` when this was planned."""
    found: Bundle | None = None
    """What was in the folder when this was planned."""
    before: LockEntry | None = None
    """What the lock said when this was planned."""
    after: LockEntry | None = None
    """What the lock will say; None takes the skill out of it."""
    bundle: Bundle | None = None
    """What the folder will hold, or would without a conflict; None leaves it as it is."""
    pristine: Bundle | None = None
    """What the source gave, to be kept as the base of later merges."""
    links: tuple[Path, ...] = ()
    """Links to make."""
    unlinks: tuple[Path, ...] = ()
    """Links to take away."""
    findings: tuple[Finding, ...] = ()
    conflicts: tuple[FileConflict, ...] = ()

    @cached_property
    def diff(self) -> BundleDiff | None:
        """What writing the folder changes in it."""
        if self.act is Act.REMOVE:
            return diff_bundles(self.found, NOTHING) if self.found else None
        return diff_bundles(self.found or NOTHING, self.bundle) if self.bundle else None

    @property
    def versions(self) -> tuple[str, str] | None:
        """The version before and after: as their authors call them, or by commit or digest. None if it stays."""
        if self.before is None or self.after is None or self.before.digest == self.after.digest:
            return None
        for old, new in (
            (self.before.version, self.after.version),
            (self.before.resolved, self.after.resolved),
            (self.before.digest, self.after.digest),
        ):
            if old and new and old != new:
                return _short(old), _short(new)
        return None

    def as_dict(self) -> dict[str, Any]:
        """The action as `--json` shows it."""
        entry = self.after or self.before
        return {
            "action": self.act.value,
            "id": self.id,
            "path": str(self.path),
            "lock": str(self.place.lock),
            "source": str(entry.source.recordable) if entry else "",
            "resolved": entry.resolved if entry else "",
            "version": entry.version if entry else "",
            "versions": list(self.versions) if self.versions else None,
            "digest": entry.digest if entry else "",
            "reason": self.reason,
            "fix": self.fix,
            "links": [str(link) for link in self.links],
            "unlinks": [str(link) for link in self.unlinks],
            "findings": [finding.as_dict() for finding in self.findings],
            "conflicts": [
                {"file": conflict.path, "reason": conflict.reason, "merged": conflict.merged}
                for conflict in self.conflicts
            ],
        }


def _short(version: str) -> str:
    digest = version.removeprefix("sha256:")
    return digest[:_SHORT_DIGEST] if is_commit(digest) else version


def blocked(action: Action, act: Act, reason: str, fix: str) -> Action:
    """The action as one that writes nothing, and why."""
    return replace(action, act=act, reason=reason, fix=fix, after=action.before, links=(), unlinks=())


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    actions: tuple[Action, ...] = ()

    @property
    def changes(self) -> tuple[Action, ...]:
        """The actions that write something."""
        return tuple(action for action in self.actions if action.act not in IDLE)

    @property
    def blocked(self) -> tuple[Action, ...]:
        """The actions that cannot be done without a decision or a fix."""
        return tuple(action for action in self.actions if action.act in BLOCKED)

    def as_dict(self) -> dict[str, Any]:
        """The plan as `--dry-run --json` shows it, with what each action would change."""
        return {
            "actions": [
                {**action.as_dict(), "diff": action.diff.as_dict() if action.diff else None} for action in self.actions
            ]
        }
