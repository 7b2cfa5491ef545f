import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest

from skillyard.sandbox.local import launch as launching
from skillyard.sandbox.local.launch import Launch, launch
from skillyard.sandbox.local.processes import marked

pytestmark = pytest.mark.anyio


def open_files():
    return sorted(Path("/proc/self/fd").iterdir())


@pytest.fixture
def stray():
    """The environment of a program whose strays are killed after the test."""
    name, value = "STRAY_OF", f"test-{os.getpid()}"
    yield {"PATH": os.defpath, name: value}
    for pid in marked(f"{name}={value}"):
        os.kill(pid, signal.SIGKILL)


async def test_a_stray_that_holds_on_to_what_a_program_complained_through_is_not_waited_for_forever(stray, monkeypatch):
    monkeypatch.setattr(launching, "_END_SECONDS", 0.1)
    script = "echo I am off >&2; setsid sleep 1000 & exit 3"
    launched = await launch(Launch(argv=("/bin/sh", "-c", script), environment=stray), None)
    assert await launched.wait() == 3
    await launched.end()
    assert await launched.complaints() == "I am off"
    del launched
    await asyncio.sleep(0)
    gc.collect()  # a pipe that was left open would be told of here


async def test_a_program_that_cannot_be_started_leaves_no_pipe(monkeypatch):
    monkeypatch.setattr(launching.sys, "executable", "/nowhere/python3")
    before = open_files()
    with pytest.raises(FileNotFoundError):
        await launch(Launch(argv=("/bin/true",), environment={}), None)
    await asyncio.sleep(0)
    assert open_files() == before
