import asyncio
import os
import signal
import sys

import pytest

from skillyard.sandbox.local.processes import all_processes, descendants, end_process, marked, threads_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def start():
    started = []

    async def start(script, **environment):
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", script, stdout=asyncio.subprocess.PIPE, env={"PATH": os.defpath, **environment}
        )
        started.append(process)
        await process.stdout.readline()
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_descendants_are_found_at_every_depth(start):
    process = await start("(sleep 1000 & echo; sleep 1000) & wait")
    found = descendants(process.pid)
    assert len(found) >= 2
    assert os.getpid() not in found
    await end_process(process.pid, seconds=0.2)
    assert not {each.pid for each in all_processes()} & set(found)


async def test_ending_waits_until_all_below_is_gone(start):
    process = await start("trap '' TERM; sleep 1000 & echo; wait; wait")
    below = descendants(process.pid)
    await end_process(process.pid, seconds=0.2, first=signal.SIGTERM)
    running = {each.pid for each in all_processes()}
    assert process.pid not in running
    assert not running & set(below)


async def test_ending_what_is_gone_is_no_error(start):
    process = await start("echo")
    await process.wait()
    await end_process(process.pid, seconds=1)


async def test_processes_are_found_by_the_mark_in_their_environment(start):
    process = await start("echo; exec sleep 1000", MARKED="by-this")
    await start("echo; exec sleep 1000", MARKED="by-this-not")
    assert marked("MARKED=by-this") == [process.pid]


async def test_the_threads_of_a_user_are_counted():
    before = threads_of(os.geteuid())
    code = "import threading; [threading.Thread(target=input).start() for _ in range(20)]; print(flush=True)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    await process.stdout.readline()
    assert threads_of(os.geteuid()) > before or before > 1000
    process.kill()
    await process.wait()
