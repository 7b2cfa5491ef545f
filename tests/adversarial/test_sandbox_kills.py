"""Servers that are killed while they make, run and delete sandboxes: what is left is true, and the next call works."""

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.components import missing

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.sandbox.models import CargoRow, ExecutionRow, SandboxHostRow, SandboxRow
from skillyard.sandbox.sandboxes import Status

WORKER = Path(__file__).with_name("sandbox_worker.py")
KILLS = 60 if os.environ.get("SKILLYARD_SOAK") else 5
PATIENCE = 60.0


@pytest.fixture(params=["unsafe", "bwrap"])
def backend(request):
    if request.param == "bwrap" and shutil.which("bwrap") is None:
        missing("bubblewrap is not installed: apt install bubblewrap")
    return request.param


@contextmanager
def worker(home, backend, mode):
    command = [sys.executable, str(WORKER), str(home), backend, mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def kill(process):
    process.send_signal(signal.SIGKILL)
    return [json.loads(line) for line in process.stdout.read().splitlines() if line.endswith("}")]


def running(mark):
    """The processes on this machine whose command line has a text."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def until(true):
    """Whether something comes true in time."""
    deadline = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


@asynccontextmanager
async def look(home, backend):
    """The yard that the killed process left."""
    async with open_yard(Settings(home=home, sandbox_backend=backend)) as yard:
        yield yard, await yard.access.operator("worker")


def test_what_ran_in_a_killed_server_is_gone_and_its_sandbox_goes_on(tmp_path, backend):
    with worker(tmp_path, backend, "run") as process:
        made = json.loads(process.stdout.readline())["made"]
        assert json.loads(process.stdout.readline()) == {"begun": made}
        mark = f"sleep\x003{made[-4:].translate(str.maketrans('abcdef', '123456'))}"
        assert until(lambda: running(mark))  # it has begun, and may be about to become that program
        kill(process)

    async def after():
        async with look(tmp_path, backend) as (yard, caller):
            rooms = yard.sandboxes
            assert (await rooms.sandboxes.get(caller, made)).status is Status.IDLE
            assert await rooms.workspace.read(caller, made, "kept.txt") == b"here"
            assert (await rooms.runs.shell(caller, made, "echo on")).output == "on\n"

    asyncio.run(after())
    assert until(lambda: not running(mark))


def test_whatever_a_server_was_killed_in_its_word_holds_and_nothing_is_left(tmp_path, backend):
    dice = random.Random(7)
    told = []
    for _ in range(KILLS):
        with worker(tmp_path, backend, "churn") as process:
            first = json.loads(process.stdout.readline())
            time.sleep(dice.uniform(0, 0.4))
            told += [first, *kill(process)]

    async def after():
        async with look(tmp_path, backend) as (yard, caller):
            rooms = yard.sandboxes
            async with yard.database.read() as session:
                known = {row.id: row for row in await session.scalars(select(SandboxRow))}
                executions = set(await session.scalars(select(ExecutionRow.id)))
                cargos = {row.id: row for row in await session.scalars(select(CargoRow))}
            assert {fact["made"] for fact in told if "made" in fact} <= known.keys()
            assert {fact["ran"] for fact in told if "ran" in fact} <= executions
            for fact in told:
                if "deleted" in fact:
                    assert known[fact["deleted"]].deleted_at is not None
            alive = [row for row in known.values() if row.deleted_at is None]
            assert all(row.cargo_id in cargos for row in alive)
            for row in alive:
                assert (await rooms.sandboxes.get(caller, row.id)).status is Status.IDLE
                await rooms.sandboxes.delete(caller, row.id)
            swept = await rooms.sweep.run()
            assert [task.errors for task in swept.tasks] == [(), (), (), ()]
            async with yard.database.read() as session:
                assert list(await session.scalars(select(CargoRow))) == []
                assert list(await session.scalars(select(SandboxHostRow))) == []
            assert [path.name for path in (tmp_path / "cargos").iterdir() if path.name.startswith("cargo-")] == []

    asyncio.run(after())
