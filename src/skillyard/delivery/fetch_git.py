"""Reading the skills of a git repository."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Final

from skillyard.delivery.discover import skill_folders
from skillyard.delivery.download import DownloadLimits
from skillyard.delivery.fetched import (
    FetchedItem,
    FetchedSkill,
    OtherSkill,
    RefusedSkill,
    check_source_size,
    is_wanted,
    take_in,
)
from skillyard.delivery.git import Repository, TreeFile, fetched_repository
from skillyard.delivery.source import Source, check_reachable
from skillyard.errors import NotFoundError
from skillyard.skill.bundle import (
    BundleFile,
    bundle_of,
    bundle_too_large,
    file_too_large,
    left_out_part,
    too_many_files,
)
from skillyard.skill.bundle_rules import bundle_finding
from skillyard.skill.document import summarize
from skillyard.skill.folder_names import id_in_folder
from skillyard.skill.limits import (
    MAX_BUNDLE_BYTES,
    MAX_BUNDLE_FILES,
    MAX_FILE_BYTES,
    MAX_SKILL_MD_BYTES,
    SKILL_FILE_NAMES,
)
from skillyard.skill.models import Finding, Severity
from skillyard.skill.paths import printable

_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"


def fetch_git(source: Source, limits: DownloadLimits, *, only: Collection[str]) -> Iterator[FetchedItem]:
    """The skills of a commit, or of one folder of it; only those asked for are read whole."""
    with _opened(source, limits) as repository:
        files = repository.files()
        if source.subpath and not any(file.path.startswith(f"{source.subpath}/") for file in files):
            raise NotFoundError(
                f"{source.location} has no folder {source.subpath!r} in {source.ref or 'its default branch'}.",
                hint="Check the folder; without one, every skill of the repository is offered.",
                details={"field": "source", "value": source.subpath},
            )
        candidates = _candidates(source, files, source.subpath)
        if only:
            candidates, others = _sorted_out(candidates, repository, only)
            yield from others
        yield from _read(source, repository, candidates)


def fetch_git_folders(
    source: Source, folders: Collection[str], limits: DownloadLimits
) -> Iterator[FetchedSkill | RefusedSkill]:
    """The skills that are in exactly these folders of a commit; a folder that is no skill yields nothing."""
    with _opened(source, limits) as repository:
        files = repository.files()
        found = [item for folder in folders for item in _candidates(source, files, folder) if item.folder == folder]
        yield from _read(source, repository, found)


def _opened(source: Source, limits: DownloadLimits) -> AbstractContextManager[Repository]:
    if "://" in source.location:
        check_reachable(source.location, allow_http=limits.allow_http)
    return fetched_repository(source, max_seconds=limits.max_seconds)


def _read(
    source: Source, repository: Repository, candidates: Sequence["_Candidate"]
) -> Iterator[FetchedSkill | RefusedSkill]:
    loaded = [file for candidate in candidates for file in candidate.loaded]
    check_source_size(sum(file.size for file in loaded))
    contents = iter(repository.contents(loaded))
    for candidate in candidates:
        files = [BundleFile(candidate.inside(file), next(contents), file.is_executable) for file in candidate.loaded]
        read = bundle_of(
            files,
            folder=candidate.name,
            left_out=candidate.left_out,
            findings=[*candidate.findings, *_pointer_findings(files)],
        )
        whence = replace(source, subpath=candidate.folder)
        yield take_in(read, folder=candidate.name, source=whence, resolved=repository.commit)


@dataclass(kw_only=True, slots=True)
class _Candidate:
    """The files of one skill's folder, sorted into what is read and what is only spoken of."""

    folder: str
    name: str
    loaded: list[TreeFile] = field(default_factory=list[TreeFile])
    left_out: set[str] = field(default_factory=set[str])
    findings: list[Finding] = field(default_factory=list[Finding])

    def inside(self, file: TreeFile) -> str:
        return file.path.removeprefix(f"{self.folder}/") if self.folder else file.path

    @property
    def skill_file(self) -> TreeFile | None:
        found = (file for file in self.loaded if self.inside(file) in SKILL_FILE_NAMES)
        return next((file for file in found if file.size <= MAX_SKILL_MD_BYTES), None)

    def add(self, file: TreeFile) -> None:
        path = self.inside(file)
        litter = left_out_part(path)
        if litter:
            self.left_out.add(litter)
        elif file.is_link:
            name = printable(path)
            self.findings.append(bundle_finding("link", f"'{name}' is a link.", file=name))
        elif file.size > MAX_FILE_BYTES:
            self.findings.append(file_too_large(path))
        else:
            self.loaded.append(file)

    def close(self) -> None:
        """Read nothing of a skill that is too large as a whole."""
        if len(self.loaded) > MAX_BUNDLE_FILES:
            self.findings.append(too_many_files())
        elif sum(file.size for file in self.loaded) > MAX_BUNDLE_BYTES:
            self.findings.append(bundle_too_large())
        else:
            return
        self.loaded = [file for file in self.loaded if self.inside(file) in SKILL_FILE_NAMES]


def _candidates(source: Source, files: Sequence[TreeFile], within: str) -> list[_Candidate]:
    """The skills in one folder of the repository, `""` being the whole."""
    prefix = f"{within}/" if within else ""
    inside = [file for file in files if file.path.startswith(prefix)]
    top = source.location.rstrip("/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")
    by_folder: dict[str, _Candidate] = {}
    for relative in skill_folders(file.path.removeprefix(prefix) for file in inside):
        folder = "/".join(filter(None, [within, relative]))
        by_folder[folder] = _Candidate(folder=folder, name=folder.rpartition("/")[2] or top)
    for file in inside:
        folder = file.path
        while folder:
            folder = folder.rpartition("/")[0]
            if folder in by_folder:
                by_folder[folder].add(file)
                break
    for candidate in by_folder.values():
        candidate.close()
    return list(by_folder.values())


def _sorted_out(
    candidates: Sequence[_Candidate], repository: Repository, only: Collection[str]
) -> tuple[list[_Candidate], list[OtherSkill]]:
    """Those asked for by folder or by the name in their skill file, which alone is read to tell; and the others."""
    named = [candidate for candidate in candidates if candidate.skill_file is not None]
    texts = repository.contents([candidate.skill_file for candidate in named if candidate.skill_file])
    names = {
        candidate.folder: summarize(text, folder=candidate.name).name
        for candidate, text in zip(named, texts, strict=True)
    }
    wanted: list[_Candidate] = []
    others: list[OtherSkill] = []
    for candidate in candidates:
        name = names.get(candidate.folder, "")
        if is_wanted(only, candidate.folder, candidate.name, name or candidate.name):
            wanted.append(candidate)
        else:
            others.append(OtherSkill(id=id_in_folder(name, candidate.name)))
    return wanted, others


def _pointer_findings(files: Sequence[BundleFile]) -> Iterator[Finding]:
    for file in files:
        if file.data.startswith(_LFS_POINTER):
            yield Finding(
                code="git-lfs-pointer",
                severity=Severity.WARNING,
                message=f"The repository holds only a Git LFS pointer for '{printable(file.path)}'.",
                fix="Ask its authors to commit the file itself.",
                file=printable(file.path),
            )
