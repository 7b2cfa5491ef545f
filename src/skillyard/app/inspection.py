"""Looking into a skill: what could do harm, and what it points at."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillyard.app.loading import load_bundle, load_skill, skill_folder
from skillyard.app.validation import Report, pointing_below
from skillyard.skill.library import Library
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import Finding, has_errors
from skillyard.skill.references import Reference, find_references, reference_findings
from skillyard.skill.scan import scan


@dataclass(frozen=True, kw_only=True, slots=True)
class Scanned:
    """What the scan found in one skill."""

    path: str
    id: str
    digest: str
    files: int
    findings: tuple[Finding, ...]

    @property
    def is_serious(self) -> bool:
        return has_errors(self.findings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "id": self.id,
            "digest": self.digest,
            "files": self.files,
            "serious": self.is_serious,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def scan_skill(path: Path) -> Scanned:
    """Scan every byte of a skill in a folder or an archive. That it cannot be read is a finding too."""
    read = load_skill(path)
    return Scanned(
        path=str(path),
        id=read.folder or path.stem,
        digest=read.bundle.digest if read.bundle else "",
        files=len(read.bundle or ()),
        findings=scan(read.bundle)
        if read.bundle
        else pointing_below(path, read.findings, ["skillyard", "skill", "scan"]),
    )


def not_scanned(report: Report) -> Scanned:
    """A folder that a search through a tree could not look into."""
    return Scanned(path=report.path, id=report.id, digest="", files=0, findings=report.findings)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pointing:
    """What one skill points at, and which of that leads nowhere."""

    path: str
    id: str
    references: tuple[Reference, ...]
    findings: tuple[Finding, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "id": self.id,
            "references": [
                {
                    "file": reference.source_file,
                    "line": reference.line,
                    "kind": reference.kind.value,
                    "text": reference.text,
                    "target_skill": reference.target_skill,
                    "target_path": reference.target_path,
                }
                for reference in self.references
            ],
            "findings": [finding.as_dict() for finding in self.findings],
        }


def references_of(path: Path, library: Library) -> Pointing:
    """The references of a skill; other skills are looked for beside it and in a library."""
    skill_id, bundle = load_bundle(path)
    known = {entry.id for entry in library.catalog().entries} | _beside(path)
    return Pointing(
        path=str(path),
        id=skill_id,
        references=find_references(bundle, skill_id, known),
        findings=reference_findings(bundle, skill_id, known),
    )


def _beside(path: Path) -> set[str]:
    """The skills that lie in the same folder; an archive lies beside none."""
    folder = skill_folder(path)
    if folder is None:
        return set()
    parent = Path(os.path.abspath(folder)).parent  # noqa: PTH100 -- resolving would follow links
    return {other.name for other in parent.iterdir() if any((other / name).is_file() for name in SKILL_FILE_NAMES)}
