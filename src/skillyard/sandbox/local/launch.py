"""Starting a confined program on the other end of a stream, and ending it with all that came of it."""

import asyncio
import contextlib
import marshal
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Self

from skillyard.sandbox.local.processes import end_process

STAGE: Final = "/run/skillyard"
"""Where a server run by root brings what a sandbox needs, each in its own view of the mounts."""

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_DIAGNOSTICS_BYTES: Final = 4096
_END_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A view of the machine for one sandbox, which only root can make."""

    binds: tuple[tuple[str, str, bool], ...]
    """Source, name below the root, whether it may be written."""
    tmpfs: tuple[tuple[str, int], ...] = ()
    """Folders that are covered by empty ones of some size."""
    alone: bool = False
    """Whether it also gets its own network and shared memory, and sees only its own processes."""
    root: str = STAGE


@dataclass(frozen=True, kw_only=True)
class LandlockRules:
    """What a process may still reach by its path; everything else of the kinds handled is closed."""

    handled: tuple[int, ...]
    """Rights to files, to the network, and across the boundary: as many as the kernel knows."""
    paths: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One program to start, and what to give up before."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str = "/"
    uid: int | None = None
    """The user to become, and the group of the same number."""
    cgroups: tuple[str, ...] = ()
    """The files by which a process joins its control groups."""
    rlimits: Mapping[str, int] = field(default_factory=dict[str, int])
    stage: Stage | None = None
    landlock: LandlockRules | None = None
    seccomp: str | None = None
    """The program of a filter, in hexadecimal digits."""
    supervised: bool = False
    """Whether a process stays outside to end what the program leaves behind."""

    brokered: tuple[str, ...] = ()
    """Folders in which modes and times are set for the program, by the process outside."""

    def as_bytes(self) -> bytes:
        """For the launcher, which is the same Python."""
        return marshal.dumps(asdict(self) | {"parent": os.getpid()})


class Descriptors:
    """Contents for a program to read from descriptors; closed here when it has started."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def add(self, content: bytes) -> int:
        number = os.memfd_create("skillyard")
        self.numbers.append(number)
        with os.fdopen(os.dup(number), "wb") as file:
            file.write(content)
        os.lseek(number, 0, os.SEEK_SET)
        return number

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for number in self.numbers:
            os.close(number)


@dataclass(frozen=True, kw_only=True)
class _Complaints:
    """The reading end of a pipe, which can be let go of whoever has the other."""

    stream: asyncio.StreamReader
    transport: asyncio.ReadTransport

    @classmethod
    async def of(cls, descriptor: int) -> Self:
        stream = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", buffering=0)
        )
        return cls(stream=stream, transport=transport)

    def close(self) -> None:
        self.transport.close()


class Launched:
    """A program that was started: the stream to it, what it complained of, and its end."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: _Complaints, *, supervised: bool) -> None:
        self._process = process
        self._pipe = complaints
        self._first = signal.SIGTERM if supervised else signal.SIGKILL
        self._complaints = b""
        self._listening = asyncio.create_task(self._listen())

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    async def complaints(self) -> str:
        """What it wrote about itself before it ended, cut to the last few lines; asked when it did not start."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await asyncio.shield(self._listening)
        return self._complaints.decode(errors="replace").strip()

    async def wait(self) -> int:
        return await self._process.wait()

    async def end(self) -> None:
        """End it; returns when nothing that came of it runs any more."""
        if not self.ended:
            await end_process(self.pid, seconds=_END_SECONDS, first=self._first)
        await self._process.wait()
        try:  # its complaints have ended with it, unless a stranger holds the other end
            await asyncio.wait([self._listening], timeout=_END_SECONDS)
        finally:
            self._pipe.close()
        await self._listening

    async def _listen(self) -> None:
        """Take what it writes, however much that is, and keep the end."""
        while piece := await self._pipe.stream.read(_DIAGNOSTICS_BYTES):
            self._complaints = (self._complaints + piece)[-_DIAGNOSTICS_BYTES:]


async def launch(what: Launch, stream: socket.socket | None, descriptors: Sequence[int] = ()) -> Launched:
    """Start a program with one end of a stream as its standard input and output."""
    end = asyncio.subprocess.DEVNULL if stream is None else stream.fileno()
    reading, writing = os.pipe()
    try:
        complaints = await _Complaints.of(reading)
        try:
            with Descriptors() as own:
                instructions = own.add(what.as_bytes())
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-I",
                    "-S",
                    str(_LAUNCHER),
                    str(instructions),
                    stdin=end,
                    stdout=end,
                    stderr=writing,
                    pass_fds=(instructions, *descriptors),
                    start_new_session=True,
                    env={},
                    cwd="/",
                )
        except BaseException:
            complaints.close()
            raise
    finally:
        os.close(writing)
    return Launched(process, complaints, supervised=what.supervised)
