"""Checking skills wherever they are: folders, single files, archives, whole trees."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from skillyard.app.findings import about
from skillyard.app.loading import absence, load_skill, skill_folder, unreadable
from skillyard.errors import SkillyardError
from skillyard.library.regular import read_regular
from skillyard.skill.bundle import SKILL_FILE, BundleRead, left_out_part
from skillyard.skill.document import parse
from skillyard.skill.limits import MAX_SKILL_MD_BYTES, SKILL_FILE_NAMES
from skillyard.skill.models import Finding, Parsed, Profile, Severity, has_errors
from skillyard.skill.references import reference_findings

MAX_TREE_FOLDERS: Final = 100_000
"""Folders that a search through a tree looks into."""
_NOTHING: Final = Parsed(document=None, findings=())


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What was found out about one skill."""

    path: str
    id: str
    name: str
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        return not has_errors(self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "id": self.id,
            "name": self.name,
            "valid": self.valid,
            "findings": [finding.as_dict() for finding in self.findings],
        }


class TreeSearch(NamedTuple):
    """What a search through a tree came upon."""

    files: tuple[Path, ...]
    unreadable: tuple[Report, ...]
    """Folders that could not be looked into, that there are too many, and files that are nearly called `SKILL.md`."""


def validate_path(path: Path, profile: Profile, *, references: bool) -> Report:
    """The report about a skill folder, a `SKILL.md` or an archive; that there is none is a finding too."""
    missing = absence(path)
    if missing is not None:
        return _report(str(path), path.stem, _NOTHING, (missing,))
    if path.is_dir():
        report = report_on(path, load_skill(path), profile, references=references)
        return replace(report, findings=pointing_below(path, report.findings, ["skillyard", "validate"]))
    if path.name in SKILL_FILE_NAMES:
        return validate_found(path, profile, references=references)
    if _is_misnamed(path.name):
        return _misnamed(path)
    if path.suffix.lower() == ".md":
        return _file_report(path, profile)
    return report_on(path, load_skill(path), profile, references=references)


def validate_found(file: Path, profile: Profile, *, references: bool) -> Report:
    """The report about a skill that a search through a tree found by its `SKILL.md`."""
    upper = SKILL_FILE_NAMES[0]
    if file.name != upper and os.path.lexists(file.with_name(upper)):
        return _file_report(file, profile)
    return report_on(file, load_skill(file), profile, references=references)


def report_on(path: Path, read: BundleRead, profile: Profile, *, references: bool) -> Report:
    """The report about a skill whose files were read from that path."""
    if read.bundle is None:
        # Some file is unfit, but the text can still be judged.
        folder = skill_folder(path)
        file = folder and next((folder / name for name in SKILL_FILE_NAMES if os.path.lexists(folder / name)), None)
        parsed = _parse_file(file, read.folder, profile) if file else _NOTHING
        return _report(str(path), read.folder, parsed, read.findings)
    file = read.bundle.get(SKILL_FILE)
    assert file is not None  # noqa: S101 -- a bundle has one, or it is no bundle
    parsed = _about_file(SKILL_FILE, parse(file.data, folder=read.folder or None, profile=profile))
    broken = reference_findings(read.bundle, read.folder) if references else ()
    return _report(str(path), read.folder, parsed, read.findings, broken)


def search_tree(tree: Path) -> TreeSearch:
    """Every `SKILL.md` and `skill.md` in a tree, in order; links to folders are not followed."""
    found: list[Path] = []
    unreadable: list[Report] = []
    waiting = [os.fspath(tree)]
    visited = 0
    while waiting:
        if visited == MAX_TREE_FOLDERS:
            unreadable.append(_too_many_folders(tree))
            break
        visited += 1
        folder = waiting.pop()
        try:
            with os.scandir(folder) as scan:
                entries = list(scan)
        except OSError as error:
            unreadable.append(_unreadable_folder(folder, error))
            continue
        names = {entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)}
        found.extend(Path(folder, name) for name in SKILL_FILE_NAMES if name in names)
        if names.isdisjoint(SKILL_FILE_NAMES):
            unreadable.extend(_misnamed(Path(folder, name)) for name in sorted(names) if _is_misnamed(name))
        below = (e.path for e in entries if e.is_dir(follow_symlinks=False) and not left_out_part(e.name))
        waiting.extend(sorted(below, reverse=True))
    return TreeSearch(tuple(found), tuple(unreadable))


def summary_of(reports: Sequence[Report]) -> dict[str, int]:
    valid = sum(report.valid for report in reports)
    return {"checked": len(reports), "valid": valid, "invalid": len(reports) - valid}


def _file_report(file: Path, profile: Profile) -> Report:
    named = file.name in SKILL_FILE_NAMES
    # Of `../SKILL.md` too the folder has a name; links are not resolved, for theirs are the names that agents see.
    folder = os.path.basename(os.path.dirname(os.path.abspath(file))) if named else None  # noqa: PTH100, PTH119, PTH120
    return _report(str(file), folder or file.stem, _parse_file(file, folder, profile))


def _parse_file(file: Path, folder: str | None, profile: Profile) -> Parsed:
    try:
        data = read_regular(str(file), MAX_SKILL_MD_BYTES)
    except SkillyardError as error:
        return _about_file(file.name, Parsed(document=None, findings=(unreadable(error.message, error.hint),)))
    return _about_file(file.name, parse(data, folder=folder, profile=profile))


def _about_file(name: str, parsed: Parsed) -> Parsed:
    return replace(parsed, findings=about(name, parsed.findings))


def pointing_below(path: Path, findings: tuple[Finding, ...], command: Sequence[str]) -> tuple[Finding, ...]:
    """The findings; those about a folder that is no skill but holds some say how to look at them all."""
    missing = any(finding.code == "skill-file-missing" for finding in findings)
    if not missing or not path.is_dir() or not any((below / SKILL_FILE).is_file() for below in path.iterdir()):
        return findings
    fix = f"It holds skills. Check them all: {shlex.join([*command, '-r', str(path)])}"
    return tuple(replace(each, fix=fix) if each.code == "skill-file-missing" else each for each in findings)


def _is_misnamed(name: str) -> bool:
    return name not in SKILL_FILE_NAMES and name.casefold() == SKILL_FILE.casefold()


def _misnamed(file: Path) -> Report:
    finding = Finding(
        code="file-name",
        severity=Severity.ERROR,
        message=f"The file is called {file.name!r}; agents look for {SKILL_FILE} and find no skill here.",
        fix=f"Rename it: {shlex.join(['mv', '-n', str(file), str(file.with_name(SKILL_FILE))])}",
        file=file.name,
    )
    return _report(str(file), file.parent.name or file.stem, _NOTHING, (finding,))


def _unreadable_folder(folder: str, error: OSError) -> Report:
    finding = unreadable(f"The folder cannot be read: {error.strerror}.", f"Check it: ls -ld {folder!r}")
    return _report(folder, Path(folder).name, _NOTHING, (finding,))


def _too_many_folders(tree: Path) -> Report:
    finding = Finding(
        code="too-many-folders",
        severity=Severity.ERROR,
        message=f"There are more than {MAX_TREE_FOLDERS:,} folders; the others were not looked into.",
        fix="Name the folders that hold skills, each by itself.",
    )
    return _report(str(tree), tree.name, _NOTHING, (finding,))


def _report(path: str, skill_id: str, parsed: Parsed, *more: Sequence[Finding]) -> Report:
    findings = [*parsed.findings, *(finding for group in more for finding in group)]
    return Report(
        path=path,
        id=skill_id,
        name=parsed.document.name if parsed.document else "",
        findings=tuple(sorted(findings, key=lambda finding: (finding.severity.rank, finding.file, finding.line))),
    )
