"""A folder of skills as a library: read once, then only what changed."""

import os
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Final, NamedTuple, cast

from skillyard.command_text import command_text
from skillyard.errors import InputError, NotAllowedError, SkillyardError
from skillyard.library.disk import read_folder
from skillyard.library.index import (
    Rows,
    carry_over,
    index_file,
    load_rows,
    pack_findings,
    save_rows,
    unpack_findings,
)
from skillyard.library.kernel_watch import KernelWatch
from skillyard.library.regular import read_regular
from skillyard.library.walk import STAMP_FIELDS, Walk
from skillyard.skill.bundle import Bundle
from skillyard.skill.document import parse, summarize
from skillyard.skill.library import Catalog, Problem, Shadowed, SkillEntry
from skillyard.skill.limits import MAX_FOLDER_DEPTH, MAX_SKILL_MD_BYTES, SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Parsed, Severity, has_errors

FINE_CLOCK_NS: Final = 50_000_000
COARSE_CLOCK_NS: Final = 2_000_000_000
"""How young a file's times may be before they say nothing about a later change (coarse: FAT, old HFS+)."""

REWRITE_SHARE: Final = 200
"""The index is written again when more than one row in so many changed; reading a few again costs less."""

LOOKS_BEFORE_WATCHING: Final = 2
"""To begin a watch is as dear as some looks: who looks once or twice does not want it."""
TRUSTED_SECONDS: Final = 30.0
"""After so long the disk is looked at all the same: not every way of writing is told (through a hard link, say)."""

_new_entry = cast("Callable[[type[SkillEntry], tuple[str, ...]], SkillEntry]", tuple.__new__)  # pyright: ignore[reportUnknownMemberType]
"""Makes a SkillEntry from a tuple of the right length, without the cost of a call in Python."""


class Stamps:
    """The stamps of the skill files of a walk. Most callers need only the newest."""

    def __init__(self, walk: Walk | None) -> None:
        self._walk = walk

    @property
    def newest(self) -> int:
        """The change time of the file that changed last."""
        return max(self._walk.stamps[::STAMP_FIELDS], default=0) if self._walk else 0

    def by_location(self) -> dict[str, tuple[int, int, int]]:
        """For each skill file its change time, size and inode."""
        walk = self._walk
        if walk is None:
            return {}
        numbers = iter(walk.stamps)
        locations = map(f"{walk.root}/".__add__, walk.paths)
        return dict(zip(locations, zip(numbers, numbers, numbers, strict=True), strict=True))


_NOTHING: Final = Catalog(entries=(), watched=True)
"""Where there is no skill, no file of one can change."""


class _Look(NamedTuple):
    """What a look found, and the state of the watch before it began."""

    catalog: Catalog
    watch: KernelWatch
    changes: int
    at: float


class FolderLibrary:
    """The skills below one folder. A look at an unchanged folder costs little more than its stats.

    One that is looked at again and again costs less than that: the kernel says that nothing changed, and the catalog
    is the very one of the last look.
    """

    def __init__(
        self,
        root: Path,
        *,
        label: str | None = None,
        index_dir: Path | None = None,
        known_roots: Sequence[Path] = (),
        max_depth: int = MAX_FOLDER_DEPTH,
    ) -> None:
        self.root = os.path.realpath(root)
        self.label = label or str(root)
        self._known_roots = [os.path.realpath(known) for known in known_roots]
        self._max_depth = max_depth
        self._index = index_file(index_dir, self.root) if index_dir else None
        self._rows: Rows | None = None
        self._walk: Walk | None = None
        self._looks = 0
        self._watch: KernelWatch | None = None
        self._last: _Look | None = None

    def catalog(self) -> Catalog:
        """What is there now."""
        watch = self._watch or self._new_watch()
        changes = watch.changes() if watch else None
        if watch is None or changes is None:
            self._watch = self._last = None
            catalog, _ = self._look()
            return catalog if catalog.entries or catalog.problems else _NOTHING
        last = self._last
        is_quiet = last is not None and last.watch is watch and last.changes == changes
        if last is None or not is_quiet or time.monotonic() > last.at + TRUSTED_SECONDS:
            catalog, is_new = self._look()
            if last is not None and is_quiet and not is_new:
                catalog = last.catalog
            last = self._last = _Look(replace(catalog, watched=True), watch, changes, time.monotonic())
        return last.catalog

    def _new_watch(self) -> KernelWatch | None:
        self._looks += 1
        walk = self._walk
        if walk is None or walk.has_links or not walk.paths or self._looks <= LOOKS_BEFORE_WATCHING:
            return None
        try:
            self._watch = KernelWatch(self.root)
        except OSError:
            # Not here: it is not tried again before so many looks that it would not matter.
            self._looks = -1_000
        return self._watch

    def _look(self) -> tuple[Catalog, bool]:
        """What the disk holds, and whether that is new."""
        walk = Walk(self.root, known_roots=self._known_roots, max_depth=self._max_depth)
        # Threads may share a library: each works on rows of its own and leaves whole ones for the next look.
        rows = self._rows
        if rows is None and self._index:
            rows = load_rows(self._index, self.root)
        is_new = rows is None or not _unchanged(walk, rows)
        if rows is None or is_new:
            rows = self._refresh(walk, rows)
        self._rows, self._walk = rows, walk
        return self._as_catalog(rows, walk), is_new

    def stamps(self) -> "Stamps":
        """The stamps of the skill files when the last catalog was made."""
        return Stamps(self._walk)

    def read(self, entry: SkillEntry) -> Parsed:
        path = entry.location
        if os.path.islink(path):
            path = os.path.realpath(path)
            if not path.startswith(tuple(f"{known}/" for known in (self.root, *self._known_roots))):
                raise NotAllowedError(
                    f"{entry.location!r} is a link to {path!r}, outside every known skill folder.",
                    hint="Replace the link by a copy, or add the folder it leads to as a root.",
                )
        return parse(read_regular(path, MAX_SKILL_MD_BYTES), folder=entry.id)

    def bundle(self, entry: SkillEntry) -> Bundle:
        found = read_folder(Path(entry.location).parent)
        if found.bundle is None or has_errors(found.findings):
            raise InputError(
                f"The files of {entry.id!r} cannot be taken as they are.",
                hint=f"See every problem: {command_text('validate', entry.location)}",
                details={"findings": [finding.as_dict() for finding in found.findings]},
            )
        return found.bundle

    def _refresh(self, walk: Walk, kept: Rows | None) -> Rows:
        """Rows for what the walk found, reading only files whose stamps differ from those kept."""
        rows, stale = carry_over(kept, paths=walk.paths, stamps=array("q", walk.stamps))
        for at in stale:
            looked_at = time.time_ns()
            path = walk.paths[at]
            name, description, findings = self._summarize(path, walk.ids[at], linked=path in walk.linked)
            rows.names[at] = name
            rows.descriptions[at] = "" if findings and has_errors(findings) else description
            rows.findings[at] = pack_findings(findings)
            if not _settled(rows.stamps[at * STAMP_FIELDS], looked_at):
                rows.unsettle(at)
        gone = len(kept.names) + len(stale) - len(rows.names) if kept else 0
        if self._index and max(len(stale), gone) * REWRITE_SHARE > len(rows.names):
            save_rows(self._index, self.root, rows)
        return rows

    def _summarize(self, path: str, skill_id: str, *, linked: bool) -> tuple[str, str, tuple[Finding, ...]]:
        location = f"{self.root}/{path}"
        try:
            data = read_regular(os.path.realpath(location) if linked else location, MAX_SKILL_MD_BYTES)
        except SkillyardError as error:
            finding = Finding(code="unreadable", severity=Severity.ERROR, message=error.message, fix=error.hint)
            return skill_id, "", (finding,)
        return summarize(data, folder=skill_id)

    def _locations(self, walk: Walk) -> Iterator[str]:
        return map(f"{self.root}/".__add__, walk.paths)

    def _as_catalog(self, rows: Rows, walk: Walk) -> Catalog:
        labels = repeat(self.label, len(walk.ids))
        columns = zip(walk.ids, rows.names, rows.descriptions, self._locations(walk), labels, strict=True)
        entries = [_new_entry(SkillEntry, row) for row in columns]
        problems = [Problem(_id_of(path), path, self.label, (finding,)) for path, finding in walk.troubles]
        if "" in rows.descriptions:
            problems += [
                Problem(entry.id, entry.location, self.label, unpack_findings(rows.findings[at]))
                for at, entry in enumerate(entries)
                if not entry.description
            ]
            entries = [entry for entry in entries if entry.description]
        shadowed: list[Shadowed] = []
        if not walk.in_order:
            entries, shadowed = _first_of_each_id(entries)
        return Catalog(entries=entries, problems=problems, shadowed=shadowed)


def _id_of(path: str) -> str:
    """The name of the skill's folder, of which a trouble may name the file."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name in SKILL_FILE_NAMES else name


def _unchanged(walk: Walk, rows: Rows) -> bool:
    return "\0".join(walk.paths) == rows.paths and array("q", walk.stamps) == rows.stamps


def _settled(changed_at: int, looked_at: int) -> bool:
    """Whether a file's last change lies far enough back that any later one must show in its time."""
    return changed_at < looked_at - (FINE_CLOCK_NS if changed_at % 1_000_000 else COARSE_CLOCK_NS)


def _first_of_each_id(entries: list[SkillEntry]) -> tuple[list[SkillEntry], list[Shadowed]]:
    """The walk goes level by level, so the first of an id is the shallowest one."""
    winners: dict[str, SkillEntry] = {}
    shadowed: list[Shadowed] = []
    for entry in entries:
        winner = winners.setdefault(entry.id, entry)
        if winner is not entry:
            shadowed.append(Shadowed(entry, winner))
    return sorted(winners.values()), shadowed
