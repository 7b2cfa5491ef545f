"""What it takes to start a sandbox, and to run a program in one that runs, beside lines written by hand."""

import subprocess

from boxes import BareLines, Ground, place
from turns import Subject, compared, plainly, take_turns

from skillyard.sandbox.backend import Backend
from skillyard.sandbox.session import Command, Session

_TRUE = Command(argv=("/usr/bin/true",))
_PYTHON = ("/usr/bin/python3", "-I", "-S", "-c", "pass")
_PROCESS, _SHORT, _HARDENED = "a bare process", "a bare line of bwrap", "bwrap, hardened by hand"
_FLOORS = {"of bare bwrap": _SHORT, "of hardened": _HARDENED}


class _Starting:
    """One sandbox, started again and again on the same cargo."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._session: Session | None = None

    async def start(self) -> None:
        self._session = await self._backend.start(place("start"))

    async def end(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def live(self) -> None:
        """From nothing to nothing, as a bare line does it."""
        await self.start()
        await _true(self._session)
        await self.end()


async def _true(session: Session | None) -> None:
    outcome = await session.run(_TRUE) if session else None
    if outcome is None or not outcome.success:
        raise SystemExit(f"true failed: {outcome}")


async def starting(ground: Ground, *, rounds: int) -> str:
    bare = BareLines(ground.folder / "starting")
    subjects = [
        Subject(name=f"{_PROCESS}: `true`", run=plainly(lambda: bare.process("true")), count=5),
        Subject(name=f"{_SHORT}: `true`", run=plainly(lambda: bare.short("true")), count=5),
        Subject(name=f"{_HARDENED}: `true`", run=plainly(lambda: bare.hardened("/usr/bin/true")), count=5),
        Subject(name=f"{_HARDENED}: an empty Python", run=plainly(lambda: bare.hardened(*_PYTHON)), count=5),
    ]
    for name, backend in ground.backends.items():
        one = _Starting(backend)
        count = 1 if name == "docker" else 3
        subjects.append(Subject(name=f"skillyard {name}: start", run=one.start, after=one.end, count=count))
        subjects.append(Subject(name=f"skillyard {name}: start, `true`, end", run=one.live, count=count))
    if ground.podman is not None:
        bounds = ("--network", "none", "--ulimit", "nofile=1024", "--ulimit", "nproc=136")
        line = [*ground.cli, "run", "--rm", *bounds, ground.podman.image, "/usr/bin/true"]
        subjects.append(
            Subject(name="`podman run`: `true`", run=plainly(lambda: subprocess.run(line, check=True)), count=1)
        )
    try:
        times = await take_turns(subjects, rounds=rounds)
    finally:
        bare.close()
    return compared("start", times, {column: f"{floor}: `true`" for column, floor in _FLOORS.items()})


async def running(ground: Ground, *, rounds: int) -> str:
    bare = BareLines(ground.folder / "running")
    subjects = [
        Subject(name=_PROCESS, run=plainly(lambda: bare.process("true")), count=20),
        Subject(name=_SHORT, run=plainly(lambda: bare.short("true")), count=20),
        Subject(name=_HARDENED, run=plainly(lambda: bare.hardened("/usr/bin/true")), count=20),
    ]
    sessions: list[Session] = []
    try:
        for name, backend in ground.backends.items():
            session = await backend.start(place("run"))
            sessions.append(session)
            subjects.append(Subject(name=f"skillyard {name}", run=lambda s=session: _true(s), count=20))
        if ground.podman is not None:
            line = [*ground.cli, "exec", "skillyard-bench-sandbox-run", "/usr/bin/true"]
            subjects.append(
                Subject(name="`podman exec`", run=plainly(lambda: subprocess.run(line, check=True)), count=2)
            )
        times = await take_turns(subjects, rounds=rounds)
    finally:
        bare.close()
        for session in sessions:
            await session.close()
    return compared("`true` in what runs", times, {"of bare bwrap": _SHORT, "of hardened": _HARDENED})
