"""Three-way merging of bundles: what a person changed and what upstream changed, together."""

import tempfile
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from skillyard.delivery.git_process import run_git
from skillyard.delivery.plan import FileConflict
from skillyard.errors import UnavailableError
from skillyard.skill.bundle import SKILL_FILE, Bundle, BundleFile, bundle_of
from skillyard.skill.document import parse
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.models import has_errors

MAX_MERGED_BYTES: Final = MAX_SKILL_MD_BYTES
MERGE_SECONDS: Final = 20.0
_MAX_CONFLICTS: Final = 127
_LABELS: Final = ("-L", "yours", "-L", "as installed", "-L", "upstream")


class Favor(StrEnum):
    """Whose version wins where both changed the same."""

    NEITHER = "neither"
    OURS = "ours"
    THEIRS = "theirs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    bundle: Bundle | None
    """The merged bundle; None when there are conflicts."""
    conflicts: tuple[FileConflict, ...] = ()


def merge_bundles(base: Bundle, ours: Bundle, theirs: Bundle, *, favor: Favor = Favor.NEITHER) -> Merge:
    """What only one side changed is taken from it; what both changed is merged by lines or is a conflict."""
    files: list[BundleFile] = []
    conflicts: list[FileConflict] = []
    for path in sorted({file.path for bundle in (base, ours, theirs) for file in bundle}):
        merged = _merge_file(base.get(path), ours.get(path), theirs.get(path), path, favor)
        if isinstance(merged, FileConflict):
            conflicts.append(merged)
        elif merged is not None:
            files.append(merged)
    if conflicts:
        return Merge(bundle=None, conflicts=tuple(conflicts))
    return _checked(files)


def _checked(files: list[BundleFile]) -> Merge:
    """Two good halves can make a bad whole: names that collide, a frontmatter that no longer reads."""
    read = bundle_of(files)
    skill_file = read.bundle.get(SKILL_FILE) if read.bundle is not None else None
    findings = read.findings if skill_file is None else parse(skill_file.data).findings
    errors = [finding for finding in findings if has_errors([finding])]
    if read.bundle is None or errors:
        reason = "; ".join(finding.message for finding in errors)
        path = errors[0].file or SKILL_FILE
        return Merge(bundle=None, conflicts=(FileConflict(path=path, reason=f"Merged, it is broken: {reason}"),))
    return Merge(bundle=read.bundle)


def _merge_file(
    base: BundleFile | None, ours: BundleFile | None, theirs: BundleFile | None, path: str, favor: Favor
) -> BundleFile | FileConflict | None:
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    if favor is not Favor.NEITHER and (base is None or ours is None or theirs is None):
        return ours if favor is Favor.OURS else theirs
    if ours is None or theirs is None:
        gone, changed = ("you", "upstream") if ours is None else ("upstream", "you")
        return FileConflict(path=path, reason=f"Deleted by {gone}, changed by {changed}")
    if base is None:
        return FileConflict(path=path, reason="Added by both, with different content")
    return _merge_contents(base, ours, theirs, favor)


def _merge_contents(base: BundleFile, ours: BundleFile, theirs: BundleFile, favor: Favor) -> BundleFile | FileConflict:
    executable = theirs.executable if ours.executable == base.executable else ours.executable
    if ours.data in (theirs.data, base.data):
        return BundleFile(base.path, theirs.data, executable)
    if theirs.data == base.data:
        return BundleFile(base.path, ours.data, executable)
    if not all(map(_is_text, (base.data, ours.data, theirs.data))):
        if favor is Favor.NEITHER:
            return FileConflict(path=base.path, reason="Changed by both, and not a text that can be merged")
        return BundleFile(base.path, (ours if favor is Favor.OURS else theirs).data, executable)
    merged, is_clean = merge_texts(base.data, ours.data, theirs.data, favor=favor)
    if is_clean:
        return BundleFile(base.path, merged, executable)
    reason = "You and upstream changed the same lines"
    return FileConflict(path=base.path, reason=reason, merged=merged.decode("utf-8", "replace"))


def merge_texts(base: bytes, ours: bytes, theirs: bytes, *, favor: Favor) -> tuple[bytes, bool]:
    """The merge of a text by lines, and whether it is clean; if not, the text has conflict markers."""
    with tempfile.TemporaryDirectory(prefix="skillyard-merge-") as name:
        folder = Path(name)
        for side, data in (("yours", ours), ("base", base), ("upstream", theirs)):
            (folder / side).write_bytes(data)
        favored = [] if favor is Favor.NEITHER else [f"--{favor}"]
        finished = run_git(
            ["merge-file", "-p", "--diff3", *favored, *_LABELS, "yours", "base", "upstream"],
            folder=folder,
            deadline=time.monotonic() + MERGE_SECONDS,
        )
    # Git answers with the number of conflicts, or with more than that can be for a failure.
    if not 0 <= finished.status <= _MAX_CONFLICTS:
        raise UnavailableError(
            f"git could not merge the texts: {finished.errors}.", hint="Choose a side with --ours or --theirs."
        )
    return finished.output, finished.status == 0


def _is_text(data: bytes) -> bool:
    return b"\0" not in data and len(data) <= MAX_MERGED_BYTES
