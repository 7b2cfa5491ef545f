"""The immutable set of a skill's files, named by its tree digest."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from skillyard.errors import InputError
from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.limits import (
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_FILE_BYTES,
    MAX_PATH_DEPTH,
    MIB,
    SKILL_FILE_NAMES,
)
from skillyard.skill.models import Finding, Severity, has_errors
from skillyard.skill.paths import collision_findings, path_findings, printable

SKILL_FILE: Final = "SKILL.md"

_LEFT_OUT_NAMES: Final = frozenset({"__pycache__", "node_modules", ".git", "__macosx", ".ds_store"})
_APPLE_DOUBLE: Final = "._"
_BYTECODE: Final = ".pyc"
_SHOWN_PATHS: Final = 5


class BundleFile(NamedTuple):
    path: str
    """Relative, `/`-separated, safe: never absolute, never `..`."""
    data: bytes
    executable: bool = False


class Bundle:
    """A skill's files, sorted by path. Build one with `bundle_of`, `read_folder` or `read_archive`."""

    def __init__(self, files: Iterable[BundleFile]) -> None:
        self.files: tuple[BundleFile, ...] = tuple(sorted(files, key=lambda file: file.path.encode()))

    @cached_property
    def hashes(self) -> tuple[str, ...]:
        """The SHA-256 of each file, in their order."""
        return tuple(_sha256(file.data) for file in self.files)

    @cached_property
    def digest(self) -> str:
        """`sha256:` over the sorted lines `path NUL x|- NUL sha256(content) LF`."""
        lines = sorted(
            b"%s\0%s\0%s\n" % (file.path.encode(), b"x" if file.executable else b"-", sha256.encode())
            for file, sha256 in zip(self.files, self.hashes, strict=True)
        )
        return f"sha256:{_sha256(b''.join(lines))}"

    @property
    def size(self) -> int:
        return sum(len(file.data) for file in self.files)

    def get(self, path: str) -> BundleFile | None:
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> dict[str, BundleFile]:
        return {file.path: file for file in self.files}

    def __iter__(self) -> Iterator[BundleFile]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bundle) and self.files == other.files

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Bundle {len(self.files)} files {self.digest[:19]}>"


@dataclass(frozen=True, kw_only=True, slots=True)
class BundleRead:
    """What reading a skill from anywhere yields: the bundle unless something is wrong, and all findings."""

    bundle: Bundle | None
    folder: str = ""
    """The name of the folder the files came in; empty when they came in none."""
    findings: tuple[Finding, ...] = ()

    def require(self) -> Bundle:
        """The bundle, or an error that carries every finding."""
        if self.bundle is not None:
            return self.bundle
        errors = [finding for finding in self.findings if finding.severity is Severity.ERROR]
        more = f" ({len(errors) - 1} more errors.)" if len(errors) > 1 else ""
        raise InputError(
            f"{errors[0].message}{more}",
            hint=errors[0].fix,
            details={"findings": [finding.as_dict() for finding in self.findings]},
        )


def bundle_of(
    files: Iterable[BundleFile],
    *,
    folder: str = "",
    folders: Iterable[str] = (),
    left_out: Iterable[str] = (),
    findings: Iterable[Finding] = (),
) -> BundleRead:
    """The one way from files to a bundle: safe and distinct paths, within the limits, with a `SKILL.md`.

    `folders` (named on their own), `left_out` and `findings` are what a reader met beside the files; none of
    them is in the bundle, but an error means that there is no bundle.
    """
    found = list(findings)
    kept, litter = _sort_out(files)
    litter.update(left_out)
    if litter:
        found.append(_left_out_finding(litter))
    kept = _with_skill_file(kept, found)
    paths = [file.path for file in kept]
    folders = set(folders)
    for path in [*paths, *sorted(folders | litter)]:
        found.extend(path_findings(path))
    found.extend(collision_findings(paths, folders))
    found.extend(_limit_findings(kept))
    bundle = None if has_errors(found) else Bundle(kept)
    return BundleRead(bundle=bundle, folder=folder, findings=tuple(found))


def require_safe(bundle: Bundle) -> None:
    """Refuses a bundle that `bundle_of` would refuse or change: nothing else is packed or written."""
    if bundle_of(bundle).require() != bundle:
        raise InputError(
            "The bundle holds files that are no part of a skill.", hint="Build the bundle with `bundle_of`."
        )


def left_out_part(path: str) -> str:
    """The beginning of a path that is no part of a skill: caches, histories, system litter; else empty.

    The same for folders and archives, read or written, so that what is scanned, digested and shipped is one
    thing. Names are compared without case, for a `.GIT` is a `.git` on many disks.
    """
    parts = path.split("/", MAX_PATH_DEPTH)
    for depth, part in enumerate(parts, start=1):
        name = part.casefold()
        if name in _LEFT_OUT_NAMES or name.startswith(_APPLE_DOUBLE) or name.endswith(_BYTECODE):
            return "/".join(parts[:depth])
    return ""


def _sort_out(files: Iterable[BundleFile]) -> tuple[list[BundleFile], set[str]]:
    kept: list[BundleFile] = []
    litter: set[str] = set()
    for file in files:
        part = left_out_part(file.path)
        if part:
            litter.add(part)
        else:
            kept.append(file)
    return kept, litter


def _left_out_finding(paths: set[str]) -> Finding:
    listed = ", ".join(map(printable, sorted(paths)[:_SHOWN_PATHS]))
    more = f" and {len(paths) - _SHOWN_PATHS} more" if len(paths) > _SHOWN_PATHS else ""
    return bundle_finding("left-out", f"Left out as no part of a skill: {listed}{more}.")


def _with_skill_file(files: list[BundleFile], findings: list[Finding]) -> list[BundleFile]:
    """The files with `SKILL.md` under its one name; what is missing or was renamed is said."""
    paths = {file.path for file in files}
    if SKILL_FILE in paths:
        return files
    written = next((path for path in SKILL_FILE_NAMES if path in paths), None)
    if written is None:
        near = next((path for path in sorted(paths) if path.lower() == SKILL_FILE.lower()), None)
        seen = f"; it has a '{near}', which is not the same name" if near else ""
        findings.append(bundle_finding("skill-file-missing", f"The skill has no {SKILL_FILE}{seen}."))
        return files
    findings.append(bundle_finding("skill-file-renamed", f"The file {written} is read as {SKILL_FILE}.", file=written))
    return [file._replace(path=SKILL_FILE) if file.path == written else file for file in files]


def _limit_findings(files: Sequence[BundleFile]) -> Iterator[Finding]:
    if len(files) > MAX_BUNDLE_FILES:
        yield too_many_files()
    for file in files:
        if len(file.data) > MAX_FILE_BYTES:
            yield file_too_large(file.path)
    if sum(len(file.data) for file in files) > MAX_BUNDLE_BYTES:
        yield bundle_too_large()


def too_many_files() -> Finding:
    return bundle_finding("bundle-files", f"The skill has more than {MAX_BUNDLE_FILES} files.")


def file_too_large(path: str) -> Finding:
    name = printable(path)
    message = f"The file '{name}' is larger than {MAX_FILE_BYTES // MIB} MiB."
    return bundle_finding("bundle-file-size", message, file=name)


def bundle_too_large() -> Finding:
    return bundle_finding("bundle-size", f"The skill is larger than {MAX_BUNDLE_BYTES // MIB} MiB in all.")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
