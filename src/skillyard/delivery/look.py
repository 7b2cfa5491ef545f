"""A look at one path where a skill is, or is to be."""

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from skillyard.library.disk import read_folder
from skillyard.skill.bundle import Bundle
from skillyard.skill.models import Finding


class Kind(StrEnum):
    ABSENT = "absent"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    kind: Kind
    bundle: Bundle | None = None
    """For a folder whose content can be a skill."""
    findings: tuple[Finding, ...] = ()
    leads_to: str = ""
    """For a link."""
    is_repository: bool = False
    """Whether the folder has a git history of its own, which nobody may write over."""

    @property
    def mark(self) -> str:
        """What was seen, in one comparable text: two equal marks mean that nothing changed between."""
        if self.bundle is not None:
            return self.bundle.digest
        return f"{self.kind}:{self.leads_to}" if self.leads_to else self.kind.value

    @property
    def digest(self) -> str:
        return self.bundle.digest if self.bundle is not None else ""

    @property
    def holds_more(self) -> bool:
        """Whether the folder has files that are no part of the skill, such as a `.git`."""
        return any(finding.code == "left-out" for finding in self.findings)


def look_at(path: Path) -> Look:
    """What is at a path. A link is not followed."""
    if path.is_symlink():
        return Look(kind=Kind.LINK, leads_to=os.readlink(path))  # noqa: PTH115 -- the text of the link as it is
    if path.is_dir():
        read = read_folder(path)
        is_repository = os.path.lexists(path / ".git")
        return Look(kind=Kind.FOLDER, bundle=read.bundle, findings=read.findings, is_repository=is_repository)
    return Look(kind=Kind.OTHER if path.exists() else Kind.ABSENT)
