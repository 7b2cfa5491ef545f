"""A running sandbox: what can be asked of it, and what it answers."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from skillyard.sandbox.browser_steps import BrowserStep

OutputStream: TypeAlias = Literal["stdout", "stderr"]
OnOutput: TypeAlias = Callable[[OutputStream, bytes], None]
"""Called with each piece of output as it comes, already redacted."""


class Ending(StrEnum):
    """How a run came to its end."""

    EXITED = "exited"
    KILLED = "killed"
    """By a signal or a limit, not by us."""
    TIMEOUT = "timeout"
    DIED = "died"
    """The sandbox itself went away under it."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program to run in a sandbox."""

    argv: Sequence[str]
    cwd: str = "."
    """Relative to the workspace."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further variables, whose values are redacted from all output."""
    stdin: bytes = b""
    timeout: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of running a program."""

    ending: Ending
    exit_code: int | None
    """As a shell tells it: 128 and the number of the signal when one killed it, 127 when there is no such program.
    None when it did not come to its own end."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Whether output was dropped because there was too much."""
    seconds: float

    @property
    def success(self) -> bool:
        return self.ending is Ending.EXITED and self.exit_code == 0


@dataclass(frozen=True, kw_only=True)
class PythonOutcome:
    """What came of running code in the sandbox's lasting Python context."""

    success: bool
    output: str
    """What it printed, to stdout and stderr in one, then the value of a last expression as its `repr`."""
    error: str | None
    """The traceback, or why there is none."""
    ending: Ending
    truncated: bool
    execution_count: int
    images: tuple[Mapping[str, str], ...]
    """Figures that were shown, each `{"image/png": base64}`."""
    seconds: float


@dataclass(frozen=True, kw_only=True)
class BrowserOutcome:
    """What came of one browser step."""

    success: bool
    output: str
    error: str | None
    ending: Ending
    target: Mapping[str, Any] | None
    """Of the element acted on: ref, role, name, tag, type, whether it is a password field, url before and after."""
    screenshot: bytes | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class FileEntry:
    """A file or folder of the workspace."""

    name: str
    path: str
    kind: Literal["file", "folder", "link", "other"]
    size: int
    modified_at: datetime
    executable: bool


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What a sandbox uses right now."""

    processes: int
    memory_bytes: int
    disk_bytes: int
    cpu_seconds: float


class Session(Protocol):
    """A running sandbox. Several things may be asked at once; each is bounded in time and by the limits.

    Paths are relative to the workspace; `InvalidPathError` refuses others. A sandbox that died answers every question
    with `SandboxDiedError`, at once.
    """

    @property
    def alive(self) -> bool: ...

    async def run(self, command: Command, *, on_output: OnOutput | None = None) -> Outcome: ...

    async def python(
        self,
        code: str,
        *,
        seconds: float = 30.0,
        secrets: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> PythonOutcome: ...

    async def browse(
        self, step: BrowserStep, *, seconds: float = 30.0, secrets: Mapping[str, str] | None = None
    ) -> BrowserOutcome: ...

    async def read_file(self, path: str, *, max_bytes: int | None = None) -> bytes: ...

    async def write_file(self, path: str, data: bytes, *, executable: bool = False) -> None: ...

    def get_file(self, path: str) -> AsyncIterator[bytes]:
        """A file of any size, in pieces."""
        ...

    async def put_file(self, path: str, pieces: AsyncIterable[bytes], *, executable: bool = False) -> None:
        """Write a file that comes in pieces; it is there when all of them are."""
        ...

    async def list_folder(self, path: str = ".") -> Sequence[FileEntry]: ...

    async def delete(self, path: str) -> None: ...

    async def put_tar(self, data: bytes, path: str = ".", *, remove: Sequence[str] = ()) -> None:
        """First remove paths, then unpack; one round trip. Links and devices in the archive are refused."""
        ...

    def get_tar(self, path: str = ".") -> AsyncIterator[bytes]:
        """A folder or file as a tar, in pieces; links and special files are left out."""
        ...

    async def digests(self, paths: Sequence[str]) -> Mapping[str, str | None]:
        """For each path, the tree digest of what is there (see `skill.bundle`), or None for nothing; one round trip."""
        ...

    async def stats(self) -> Stats: ...

    async def close(self) -> None:
        """Stop everything in it. The files of the cargo stay."""
        ...
