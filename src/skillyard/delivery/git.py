"""A commit of a git repository, fetched shallowly and read from git's own objects.

Nothing is checked out, so no filter, line-ending setting, link or letter-case rule of this machine can
change the bytes, and nothing in the repository can run.
"""

import re
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from skillyard.delivery.git_process import run_git
from skillyard.delivery.source import Source
from skillyard.errors import LimitError, NotFoundError, UnavailableError

MAX_REPOSITORY_FILES: Final = 200_000

_PROTOCOLS: Final = {"https": "https:ssh", "http": "http", "ssh": "ssh", "file": "file"}
"""What each kind of address may speak; people set git to rewrite https into ssh."""
_SHORT_COMMIT: Final = re.compile(r"[0-9a-f]{4,40}")
_TREE_LINE: Final = re.compile(rb"(\d+) blob ([0-9a-f]+) +(\d+)\t(.+)", re.DOTALL)
_NO_SUCH_REF: Final = re.compile(r"couldn't find remote ref|not our ref|no such remote ref", re.IGNORECASE)
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeFile:
    """One file or link of a commit."""

    path: str
    mode: str
    object_id: str
    size: int

    @property
    def is_link(self) -> bool:
        return self.mode == "120000"

    @property
    def is_executable(self) -> bool:
        return self.mode == "100755"


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A fetched commit."""

    folder: Path
    commit: str
    deadline: float

    def files(self) -> list[TreeFile]:
        """Every file and link of the commit; submodules are no part of it."""
        listing = ("ls-tree", "-r", "-z", "-l", "--full-tree", self.commit)
        files: list[TreeFile] = []
        for line in self._read(*listing).split(b"\0"):
            match = _TREE_LINE.fullmatch(line)
            if match:
                mode, object_id, size = (group.decode("ascii") for group in match.group(1, 2, 3))
                path = match[4].decode("utf-8", "surrogateescape")
                files.append(TreeFile(path=path, mode=mode, object_id=object_id, size=int(size)))
        if len(files) > MAX_REPOSITORY_FILES:
            raise LimitError(
                f"The repository has {len(files)} files; at most {MAX_REPOSITORY_FILES} are read.",
                hint="Ask its authors for an archive of the skill.",
                details={"limit": MAX_REPOSITORY_FILES},
            )
        return files

    def contents(self, files: Sequence[TreeFile]) -> list[bytes]:
        """What is in each of these files."""
        wanted = "".join(f"{file.object_id}\n" for file in files).encode("ascii")
        output = self._read("cat-file", "--batch", given=wanted)
        contents: list[bytes] = []
        position = 0
        for file in files:
            start = output.index(b"\n", position) + 1
            contents.append(output[start : start + file.size])
            position = start + file.size + 1
        return contents

    def _read(self, *arguments: str, given: bytes = b"") -> bytes:
        finished = run_git(arguments, folder=self.folder, deadline=self.deadline, given=given)
        if finished.status != 0:
            raise UnavailableError(f"git {arguments[0]} failed: {finished.errors}.", hint="Try again.")
        return finished.output


@contextmanager
def fetched_repository(source: Source, *, max_seconds: float) -> Generator[Repository]:
    """The commit that a git source names, in a temporary folder that is gone afterwards."""
    deadline = time.monotonic() + max_seconds
    with tempfile.TemporaryDirectory(prefix="skillyard-git-") as name:
        folder = Path(name)
        run_git(["init", "--quiet", "--bare", "."], folder=folder, deadline=deadline)
        found = _fetch(source, folder, deadline)
        revision = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{found}^{{commit}}")
        commit = run_git(revision, folder=folder, deadline=deadline)
        if commit.status != 0:
            raise _no_such_ref(source)
        yield Repository(folder=folder, commit=commit.output.decode("ascii").strip(), deadline=deadline)


def _fetch(source: Source, folder: Path, deadline: float) -> str:
    """Fetch what the source asks for; the name under which it is then found."""
    scheme = urlsplit(source.location).scheme if "://" in source.location else "ssh"

    def fetch(*arguments: str) -> str:
        command = (*_FETCH, *arguments)
        finished = run_git(command, folder=folder, deadline=deadline, protocols=_PROTOCOLS[scheme])
        return finished.errors if finished.status != 0 else ""

    problem = fetch("--depth=1", "--", source.location, source.ref or "HEAD")
    if not problem:
        return "FETCH_HEAD"
    if _NO_SUCH_REF.search(problem) and _SHORT_COMMIT.fullmatch(source.ref):
        # Servers know whole commit ids at most: a shortened one is looked up in all branches and tags.
        problem = fetch("--", source.location, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        if not problem:
            return source.ref
    if _NO_SUCH_REF.search(problem):
        raise _no_such_ref(source)
    raise UnavailableError(
        f"{source.location} could not be fetched: {problem}.",
        hint="Check the address. Nothing asks for a password here: a private repository needs a git credential "
        "helper or an ssh key.",
        details={"field": "source", "value": source.location},
    )


def _no_such_ref(source: Source) -> NotFoundError:
    return NotFoundError(
        f"{source.location} has no branch, tag or commit {source.ref or 'HEAD'!r}.",
        hint="Check the part after # or @; one skill of several is chosen with --skill NAME.",
        details={"field": "ref", "value": source.ref},
    )
