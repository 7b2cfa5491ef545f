"""A call of Python that remembers: by the session, with a durable record, and over HTTP, beside a bare worker."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from boxes import Ground, place
from load import Connection, get, post_json
from servers import bare, skillyard
from turns import Act, Subject, compared, plainly, take_turns

from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.sandbox.sandboxes import SandboxSpec
from skillyard.sandbox.session import Session

_FIRST, _NEXT = "x = 0", "x += 1\nx"
_CALLS = 100
_BARE, _BARE_KEPT, _BARE_HTTP = "a bare worker", "a bare worker, one row synced", "a bare route of FastAPI"

_WORKER = """
import json, sys
world = {}
for line in sys.stdin:
    code = json.loads(line)["code"].split("\\n")
    exec(code[0], world)
    answer = {"success": True, "output": repr(eval(code[1], world)) if len(code) > 1 else ""}
    sys.stdout.write(json.dumps(answer) + "\\n")
    sys.stdout.flush()
"""


class BareWorker:
    """Python at the other end of two pipes, with nothing around it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.call(_FIRST)

    def call(self, code: str = _NEXT) -> str:
        pipes = self._process
        if pipes.stdin is None or pipes.stdout is None:
            raise SystemExit("the bare worker has no pipes")
        pipes.stdin.write(json.dumps({"code": code}) + "\n")
        pipes.stdin.flush()
        return json.loads(pipes.stdout.readline())["output"]

    def close(self) -> None:
        self._process.communicate()


class _Rows:
    """The least that is a durable record: one row in SQLite, synced."""

    def __init__(self, file: Path) -> None:
        self._database = sqlite3.connect(file, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute("CREATE TABLE runs (number INTEGER PRIMARY KEY, code TEXT, output TEXT)")

    def add(self, output: str) -> None:
        self._database.execute("INSERT INTO runs (code, output) VALUES (?, ?)", (_NEXT, output))

    def close(self) -> None:
        self._database.close()


async def _by_session(session: Session) -> None:
    outcome = await session.python(_NEXT)
    if not outcome.success:
        raise SystemExit(f"Python failed: {outcome}")


async def _recorded(yard: Yard) -> Act:
    """Calls by the service, on a sandbox of their own."""
    caller = await yard.access.operator()
    sandbox = await yard.sandboxes.sandboxes.create(caller, SandboxSpec(isolation="bwrap"))
    await yard.sandboxes.runs.python(caller, sandbox.id, _FIRST)

    async def call() -> None:
        done = await yard.sandboxes.runs.python(caller, sandbox.id, _NEXT)
        if not done.execution.success:
            raise SystemExit(f"Python failed: {done}")

    return call


async def _over_http(connection: Connection) -> Act:
    """Calls of a server, on a connection that is kept."""
    made = await connection.ask(post_json("/v1/sandboxes", {"isolation": "bwrap"}))
    path = f"/v1/sandboxes/{made.data['id']}/python/exec"
    await connection.ask(post_json(path, {"code": _FIRST}))
    request = post_json(path, {"code": _NEXT})

    async def call() -> None:
        answer = await connection.ask(request)
        if not answer.data.get("success"):
            raise SystemExit(f"Python failed: {answer}")

    return call


async def compare(ground: Ground, *, rounds: int) -> str:
    worker, rows = BareWorker(), _Rows(ground.disk / "rows.sqlite")
    home = ground.disk / "home"
    home.mkdir()
    (ground.disk / "route").mkdir()
    for name in ("skill.json", "list.json"):
        (ground.disk / "route" / name).write_text('{"success": true}')
    sessions: dict[str, Session] = {}
    with skillyard(home) as server, bare(ground.disk / "route") as route:
        async with open_yard(Settings(home=ground.disk / "yard")) as yard:
            for name, backend in ground.backends.items():
                sessions[name] = await backend.start(place("python"))
                await sessions[name].python(_FIRST)
            asked, plain = await Connection.open(server.port), await Connection.open(route.port)
            subjects = [
                Subject(name=_BARE, run=plainly(worker.call), count=_CALLS),
                Subject(name=_BARE_KEPT, run=plainly(lambda: rows.add(worker.call())), count=_CALLS),
                Subject(name=_BARE_HTTP, run=lambda: plain.ask(get("/api/v1/skills/any")), count=_CALLS),
                *(
                    Subject(name=f"skillyard {name}: session", run=lambda s=session: _by_session(s), count=_CALLS)
                    for name, session in sessions.items()
                ),
                Subject(name="skillyard bwrap: service, with a record", run=await _recorded(yard), count=_CALLS),
                Subject(name="skillyard bwrap: over HTTP, with a record", run=await _over_http(asked), count=_CALLS),
            ]
            try:
                times = await take_turns(subjects, rounds=rounds)
            finally:
                for session in sessions.values():
                    await session.close()
                for connection in (asked, plain):
                    await connection.close()
                worker.close()
                rows.close()
    return compared("a call", times, {"of the bare worker": _BARE, "of one row synced": _BARE_KEPT})
