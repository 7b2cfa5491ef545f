"""A large file in and out, and a lot of output, beside the same without a sandbox."""

import random
import subprocess
from functools import partial
from pathlib import Path

from boxes import Ground, place
from turns import Subject, compared, plainly, take_turns

from skillyard.sandbox.place import MIB, Limits
from skillyard.sandbox.session import Command, Session

_SIZE = 1_000_000
_LINES = 1_000_000
_EXPECTED = sum(len(str(number)) + 1 for number in range(1, _LINES + 1))
_SEQ = ("/usr/bin/seq", str(_LINES))
_PRINT = f"for number in range(1, {_LINES} + 1): print(number)"
_WRITE, _READ, _OUTPUT = "bare: write 1 MB", "bare: read 1 MB", "bare: a million lines of `seq`"
_PYTHON, _FLUSHED = "bare: a million lines of Python", "bare: the same, each line flushed"


class _Bare:
    def __init__(self, file: Path, noise: bytes) -> None:
        self._file = file
        self._noise = noise

    def write(self) -> None:
        self._file.write_bytes(self._noise)

    def read(self) -> None:
        _whole(self._file.read_bytes(), _SIZE)

    def output(self, *argv: str) -> None:
        _whole(subprocess.run(argv, check=True, capture_output=True).stdout, _EXPECTED)


class _Inside:
    def __init__(self, session: Session, noise: bytes) -> None:
        self._session = session
        self._noise = noise

    async def write(self) -> None:
        await self._session.write_file("noise", self._noise)

    async def read(self) -> None:
        _whole(await self._session.read_file("noise"), _SIZE)

    async def output(self) -> None:
        _whole((await self._session.run(Command(argv=_SEQ))).stdout, _EXPECTED)

    async def python(self) -> None:
        _whole((await self._session.python(_PRINT)).output.encode(), _EXPECTED)


def _whole(data: bytes, size: int) -> None:
    if len(data) != size:
        raise SystemExit(f"{len(data)} bytes instead of {size}")


async def compare(ground: Ground, *, rounds: int) -> str:
    noise = random.Random(3).randbytes(_SIZE)
    bare = _Bare(ground.folder / "noise", noise)
    python = ("/usr/bin/python3", "-I", "-S", "-c")
    flushed = f"import sys; sys.stdout.reconfigure(line_buffering=True)\n{_PRINT}"
    inside: dict[str, _Inside] = {}
    sessions: list[Session] = []
    for name, backend in ground.backends.items():
        session = await backend.start(place("transfer", limits=Limits(output_bytes=16 * MIB)))
        sessions.append(session)
        inside[name] = _Inside(session, noise)
    kinds = {
        _WRITE: [Subject(name=f"skillyard {name}: write 1 MB", run=it.write, count=5) for name, it in inside.items()],
        _READ: [Subject(name=f"skillyard {name}: read 1 MB", run=it.read, count=5) for name, it in inside.items()],
        _OUTPUT: [
            Subject(name=f"skillyard {name}: a million lines of `seq`", run=it.output) for name, it in inside.items()
        ],
        _PYTHON: [
            Subject(name=f"skillyard {name}: a million lines of Python", run=it.python) for name, it in inside.items()
        ],
    }
    floors = {
        _WRITE: Subject(name=_WRITE, run=plainly(bare.write), count=5),
        _READ: Subject(name=_READ, run=plainly(bare.read), count=5),
        _OUTPUT: Subject(name=_OUTPUT, run=plainly(partial(bare.output, *_SEQ))),
        _PYTHON: Subject(name=_PYTHON, run=plainly(partial(bare.output, *python, _PRINT))),
    }
    kinds[_PYTHON].insert(0, Subject(name=_FLUSHED, run=plainly(partial(bare.output, *python, flushed))))
    subjects = [subject for kind, ours in kinds.items() for subject in (floors[kind], *ours)]
    try:
        times = await take_turns(subjects, rounds=rounds)
    finally:
        for session in sessions:
            await session.close()
    ratio = {subject.name: kind for kind, ours in kinds.items() for subject in (floors[kind], *ours)}
    return compared("files and output", times, {"of bare": ratio})
