"""What is taken out of an archive, entry by entry, within the limits."""

from typing import Final

from skillyard.skill.bundle import (
    BundleFile,
    bundle_too_large,
    file_too_large,
    left_out_part,
    too_many_files,
)
from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.limits import (
    MAX_ARCHIVE_RATIO,
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_FILE_BYTES,
    MIB,
)
from skillyard.skill.models import Finding
from skillyard.skill.paths import printable

MAX_ENTRIES: Final = 10 * MAX_BUNDLE_FILES
"""Entries of any kind, folders and what is left out included, before an archive is given up."""

_MAX_REPORTS: Final = 100
"""So many bad entries are no accident: the rest is not looked at."""

_RATIO_FREE_BYTES: Final = 1 * MIB
"""So little is harmless however well it was packed."""


class ArchiveRefusedError(Exception):
    """The archive cannot or must not be read further."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def refused(code: str, message: str) -> ArchiveRefusedError:
    return ArchiveRefusedError(bundle_finding(code, message))


def ratio_limit(packed: int) -> int:
    """How many bytes may come out of an archive of that many bytes."""
    return max(_RATIO_FREE_BYTES, MAX_ARCHIVE_RATIO * packed)


class Intake:
    """Collects files and findings; raises `ArchiveRefusedError` at the first limit passed."""

    def __init__(self) -> None:
        self.files: list[BundleFile] = []
        self.folders: list[str] = []
        self.left_out: list[str] = []
        self.findings: list[Finding] = []
        self._entries = 0
        self._bytes = 0
        self._admitted = 0

    def count_entry(self) -> None:
        self._entries += 1
        if self._entries > MAX_ENTRIES:
            raise refused("archive-entries", f"The archive has more than {MAX_ENTRIES} entries.")

    def add_folder(self, path: str, size: int) -> None:
        if len(self.folders) == MAX_BUNDLE_FILES:
            raise refused("archive-entries", f"The archive has more than {MAX_BUNDLE_FILES} folders.")
        if path:
            self.folders.append(path)
        if size:
            self.report("archive-forged", path, "is a folder but has content")

    def leaves_out(self, path: str) -> bool:
        part = left_out_part(path)
        if part:
            self.left_out.append(part)
        return bool(part)

    def admit(self, path: str, size: int) -> None:
        """Says yes to a file before any of its bytes is unpacked."""
        if size > MAX_FILE_BYTES:
            raise ArchiveRefusedError(file_too_large(path))
        self._bytes += size
        if self._bytes > MAX_BUNDLE_BYTES:
            raise ArchiveRefusedError(bundle_too_large())
        self._admitted += 1
        if self._admitted > MAX_BUNDLE_FILES:
            raise ArchiveRefusedError(too_many_files())

    def report(self, code: str, path: str, problem: str) -> None:
        """Notes an entry that must not be unpacked, and goes on to the next."""
        name = printable(path)
        finding = bundle_finding(code, f"The entry '{name}' {problem}.", file=name)
        if len(self.findings) == _MAX_REPORTS:
            raise ArchiveRefusedError(finding)
        self.findings.append(finding)


def entry_path(name: str) -> str:
    """An entry's path: its name without the `./` many packers start with and a folder's last `/`."""
    return name.removeprefix("./").removesuffix("/")
