"""Breaking out of sandboxes, run by root and by an ordinary user: whatever a backend claims to hold must hold."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.components import missing

from skillyard.sandbox.backends import Backends, BackendSettings
from skillyard.sandbox.capabilities import BOUNDARY, Barrier
from skillyard.sandbox.escapes.probe_table import PROBES, Reach
from skillyard.sandbox.place import MIB, Limits, Place
from skillyard.sandbox.session import Command

pytestmark = pytest.mark.anyio
WORKER = Path(__file__).with_name("escape_worker.py")
SOURCES = Path(__file__).parents[2] / "src"
ORDINARY = 12345
ROOT = os.geteuid() == 0


def python_for(uid: int) -> str:
    """A Python that this user can run: that of root may be in root's home."""
    for python in (sys.executable, "/usr/bin/python3"):
        check = "import sys; sys.exit(sys.version_info < (3, 11))"
        # By a shell: setpriv itself still has the rights of root when it starts a program.
        starting = ["sh", "-c", 'exec "$0" -I -S -c "$1"', python, check]
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *starting]
        if subprocess.run(command, capture_output=True, check=False, cwd="/").returncode == 0:
            return python
    missing("there is no Python since 3.11 that an ordinary user can run")
    raise AssertionError


@pytest.fixture(params=["root", "ordinary"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Starts a server with sandboxes as root or as an ordinary user, with a folder of its own."""
    started: list[subprocess.Popen[str]] = []
    as_root = request.param == "root"
    if as_root and not ROOT:
        pytest.skip("only root can be root")
    folder = Path("/var/tmp") / f"skillyard-test-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir(mode=0o700)
    command = [sys.executable]
    if ROOT and not as_root:
        os.chown(folder, ORDINARY, ORDINARY)
        identity = [f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups"]
        command = ["setpriv", *identity, python_for(ORDINARY)]
    paths = os.pathsep.join([str(SOURCES), *(path for path in sys.path if path.endswith("site-packages"))])
    environment = {"PATH": os.defpath, "PYTHONPATH": paths, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}

    def start(task: str, backend: str) -> "subprocess.Popen[str]":
        arguments = [*command, str(WORKER), task, backend, str(folder / "home")]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd="/", env=environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def answer(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    if "unavailable" in said:
        missing(said["unavailable"])
    return said


@pytest.mark.parametrize("backend", ["bwrap", "landlock"])
def test_every_way_out_that_is_said_to_be_closed_is_closed(
    server: Callable[..., "subprocess.Popen[str]"], backend: str, request: pytest.FixtureRequest
) -> None:
    said = answer(server("prove", backend))
    results = {result["name"]: result for result in said["results"]}
    assert set(said["enforced"]) >= BOUNDARY
    assert results.keys() == {probe.name for probe in PROBES}
    open_ways = {name for name, each in results.items() if each["barrier"] in said["enforced"] and not each["blocked"]}
    assert open_ways == set()
    as_root = request.node.callspec.params["server"] == "root"
    telling = {Reach.ANYONE, Reach.ROOT, Reach.NAMESPACES} if as_root else {Reach.ANYONE}
    expected = {probe.name for probe in PROBES if probe.reach in telling}
    assert {name for name in expected if not results[name]["twin_succeeded"]} == set()


@pytest.mark.parametrize("backend", ["bwrap", "landlock"])
def test_a_killed_server_leaves_no_process_behind(server: Callable[..., "subprocess.Popen[str]"], backend: str) -> None:
    process = server("hold", backend)
    pids = answer(process)["pids"]
    assert len(pids) >= 7
    handles = [os.pidfd_open(pid) for pid in pids]
    process.send_signal(signal.SIGKILL)
    waiting = select.poll()
    for handle in handles:
        waiting.register(handle, select.POLLIN)
    alive = set(handles)
    deadline = time.monotonic() + 10
    while alive and time.monotonic() < deadline:
        for handle, _ in waiting.poll(1000):
            waiting.unregister(handle)
            alive.discard(handle)
    for handle in handles:
        os.close(handle)
    assert not alive


@pytest.fixture(params=["bwrap", "landlock"])
async def backend(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> Any:
    backends = Backends(BackendSettings(folder=tmp_path))
    backend = backends.get(request.param)
    offered = await backend.capabilities()
    if not offered.available:
        missing(f"{offered.reason} {offered.fix}")
    yield backend
    await backends.close()


def place(name: str, **limits: int) -> Place:
    return Place(sandbox_id=name, cargo_id=name, limits=Limits(**limits))


async def test_one_sandbox_cannot_read_what_another_keeps(backend: Any, tmp_path: Path) -> None:
    one, two = await backend.start(place("one")), await backend.start(place("two"))
    await two.write_file("secret", b"of the other")
    there = tmp_path / "cargos" / "two" / "workspace"
    owners = {name: (tmp_path / "cargos" / name / "workspace").stat().st_uid for name in ("one", "two")}
    if ROOT:
        assert owners["one"] != owners["two"]
        assert 0 not in owners.values()
        assert not _readable_by(owners["one"], there / "secret")
    for path in (f"{there}/secret", "../../two/workspace/secret", "/run/skillyard/../../workspace/secret"):
        outcome = await one.run(Command(argv=["cat", path]))
        assert not outcome.success
        assert b"of the other" not in outcome.stdout


async def test_a_fork_bomb_is_bounded_and_the_next_call_works(backend: Any) -> None:
    session = await backend.start(place("bomb", processes=64))
    bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    await session.run(Command(argv=["python3", "-c", bomb], timeout=1.0))
    if not session.alive:
        session = await backend.start(place("bomb", processes=64))
    assert (await session.run(Command(argv=["true"], timeout=20))).success
    await session.close()


async def test_nothing_outlives_the_end_of_a_sandbox(backend: Any) -> None:
    session = await backend.start(place("ended"))
    mark = f"7{time.monotonic_ns()}"
    await session.run(Command(argv=["sh", "-c", f"setsid sleep {mark} > /dev/null 2>&1 & setsid sleep {mark}1 &"]))
    assert _running(mark)
    await session.close()
    assert not _running(mark)


def _readable_by(uid: int, path: Path) -> bool:
    identity = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    # By a shell: setpriv itself still has the rights of root when it starts a program.
    read = subprocess.run([*identity, "sh", "-c", 'cat "$0"', str(path)], capture_output=True, check=False)
    return read.returncode == 0


def _found(pattern: str) -> Path | None:
    """What there is about a process whose command line is like this."""
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False).stdout.split()
    return Path("/proc", found[0]) if found else None


def _running(mark: str) -> bool:
    return _found(f"sleep {mark}") is not None


async def test_a_full_workspace_ends_the_sandbox_and_can_be_emptied_but_not_filled(backend: Any) -> None:
    limits = {"disk_bytes": 8 * MIB, "file_bytes": 8 * MIB}
    session = await backend.start(place("full", **limits))
    fill = "for i in 1 2 3 4; do head -c 6M /dev/zero > $i; done; sleep 30"
    with pytest.raises(Exception, match="ended"):
        await session.run(Command(argv=["sh", "-c", fill]))
    session = await backend.start(place("full", **limits))
    assert not (await session.run(Command(argv=["sh", "-c", "echo more > more"]))).success
    for entry in await session.list_folder():
        await session.delete(entry.path)
    await session.close()
    session = await backend.start(place("full", **limits))
    assert (await session.run(Command(argv=["sh", "-c", "echo more > more"]))).success


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


async def test_a_workspace_with_too_many_files_can_be_emptied(backend: Any) -> None:
    limits = {"disk_bytes": MIB}
    session = await backend.start(place("many", **limits))
    many = "i=0; while [ $i -lt 2000 ]; do : > $i; i=$((i+1)); done; sleep 30"
    with pytest.raises(Exception, match="ended"):
        await session.run(Command(argv=["sh", "-c", many]))
    session = await backend.start(place("many", **limits))
    assert (await session.run(Command(argv=["sh", "-c", "rm -f *"]))).success
    assert await session.list_folder() == []


async def test_no_process_of_a_sandbox_is_root_or_has_the_servers_rights(backend: Any) -> None:
    session = await backend.start(place("who"))
    started = asyncio.Event()
    command = Command(argv=["sh", "-c", "echo; exec sleep 314.15"], timeout=20)
    running = asyncio.create_task(session.run(command, on_output=lambda *_: started.set()))
    await started.wait()
    found = _found("sleep 314.15")
    assert found is not None
    fields = _status(found)
    assert "0" not in fields["Uid"].split()
    assert "0" not in fields["Gid"].split()
    assert fields["NoNewPrivs"].strip() == "1"
    assert fields["Seccomp"].strip() == "2"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(fields[kind], 16) == 0
    await session.close()
    with pytest.raises(Exception, match="ended"):
        await running


async def test_what_the_server_has_in_its_environment_is_not_inside(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_MODEL_API_KEY", "very-secret")
    session = await backend.start(place("environment"))
    look = "env; cat /proc/*/environ 2> /dev/null | tr '\\0' '\\n'; true"
    assert b"very-secret" not in (await session.run(Command(argv=["sh", "-c", look]))).stdout


async def test_a_variable_of_a_sandbox_does_not_reach_what_starts_it(backend: Any, tmp_path: Path) -> None:
    session = await backend.start(
        Place(sandbox_id="preload", cargo_id="preload", environment={"LD_PRELOAD": "/nowhere/evil.so"})
    )
    outcome = await session.run(Command(argv=["sh", "-c", "echo $LD_PRELOAD"]))
    assert b"evil.so" in outcome.stdout
    assert Barrier.KERNEL in (await backend.capabilities()).enforced
