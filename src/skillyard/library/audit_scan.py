"""The scan of every skill that agents may read, kept with the indexes and done again when a file changed."""

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast

from skillyard import skill
from skillyard.files import make_folder, replace_file
from skillyard.library.disk import read_folder
from skillyard.library.index import unpack_findings
from skillyard.skill.bundle import left_out_part
from skillyard.skill.models import Finding, Severity

FILE: Final = "scans.json"
NOT_SCANNED: Final = "not-scanned"
MAX_KEPT: Final = 20_000
"""Skills whose scan is kept; above that, those of other places are forgotten."""
_MAX_ENTRIES: Final = 20_000
_UNSETTLED_NS: Final = 2_000_000_000
"""A file that changed less than this ago may change again with the same times."""
_SCAN_FOLDER: Final = Path(skill.__path__[0]) / "scan"

Kept = dict[str, list[Any]]
"""By real folder: the stamp of its files, and the findings as JSON."""


def scans_of(folders: Iterable[str], index_dir: Path | None) -> dict[str, tuple[Finding, ...]]:
    """The errors and warnings of the scan of each of these folders."""
    rules = _stamp_of_rules()
    kept = _load(index_dir, rules) if index_dir else {}
    found: Kept = {}
    answers: dict[str, tuple[Finding, ...]] = {}
    try:
        for folder in dict.fromkeys(folders):
            stamp = _stamp(folder)
            old = kept.get(folder)
            if stamp and old and old[0] == stamp:
                answers[folder] = unpack_findings(old[1]) if old[1] else ()
                continue
            answers[folder] = _scan(folder)
            if stamp:
                found[folder] = [
                    stamp,
                    json.dumps([each.as_dict() for each in answers[folder]]) if answers[folder] else "",
                ]
    finally:
        # Also if the person interrupts the command.
        if index_dir and found:
            _save(index_dir, rules, {**(kept if len(kept) < MAX_KEPT else {}), **found})
    return answers


def _scan(folder: str) -> tuple[Finding, ...]:
    from skillyard.skill.scan import scan  # noqa: PLC0415 -- its rules take long to load, and are rarely needed

    read = read_folder(Path(folder))
    if read.bundle is None:
        first = next(finding for finding in read.findings if finding.severity is Severity.ERROR)
        return (replace(first, code=NOT_SCANNED, severity=Severity.WARNING),)
    return tuple(finding for finding in scan(read.bundle) if finding.severity is not Severity.INFO)


def _stamp(folder: str) -> str:
    """A text that is equal while no file in the folder changes; empty if that is unknown."""
    lines: list[str] = []
    newest = 0
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as scan:
                for entry in scan:
                    if left_out_part(entry.name):
                        continue
                    status = entry.stat(follow_symlinks=False)
                    newest = max(newest, status.st_ctime_ns)
                    lines.append(
                        f"{entry.path}\0{status.st_ctime_ns}\0{status.st_size}\0{status.st_ino}\0{status.st_mode}"
                    )
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            return ""
        if len(lines) > _MAX_ENTRIES:
            return ""
    if newest > time.time_ns() - _UNSETTLED_NS:
        return ""
    lines.sort()
    return blake2b("\n".join(lines).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _stamp_of_rules() -> str:
    """A text that changes with the rules, so that every skill is scanned again."""
    files = sorted(_SCAN_FOLDER.rglob("*.py"))
    return " ".join(f"{status.st_mtime_ns}:{status.st_size}" for status in map(os.stat, files))


def _load(index_dir: Path, rules: str) -> Kept:
    try:
        values = json.loads((index_dir / FILE).read_bytes())
        if values["rules"] != rules:
            return {}
        kept = cast("Kept", values["folders"])
        return {folder: item for folder, item in kept.items() if list(map(type, item)) == [str, str]}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _save(index_dir: Path, rules: str, kept: Kept) -> None:
    document = json.dumps({"rules": rules, "folders": kept}, ensure_ascii=True)
    with suppress(OSError):
        make_folder(index_dir)
        replace_file(index_dir / FILE, document.encode())
