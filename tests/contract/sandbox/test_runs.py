"""Commands in a sandbox: what they get, what they say, and how they end."""

import asyncio
import base64
import time

import pytest

from skillyard.errors import (
    FileMissingError,
    InputError,
    InvalidPathError,
    LimitError,
    UnavailableError,
)
from skillyard.sandbox.capabilities import Barrier
from skillyard.sandbox.place import Limits
from skillyard.sandbox.session import Command, Ending

pytestmark = pytest.mark.anyio


async def until(condition, seconds=10.0):
    """Wait for something that others bring about."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 - it is brought about by another process
            await asyncio.sleep(0.01)


async def test_a_command_tells_its_output_and_its_exit_code(sh):
    outcome = await sh("echo said; echo complained >&2; exit 3")
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (b"said\n", b"complained\n", 3)
    assert outcome.ending is Ending.EXITED
    assert not outcome.success
    assert not outcome.truncated


async def test_a_program_that_is_not_there_is_told_as_by_a_shell(session):
    outcome = await session.run(Command(argv=["no-such-program"]))
    assert outcome.exit_code == 127
    assert b"no-such-program" in outcome.stderr


async def test_a_file_that_cannot_be_run_is_told_as_by_a_shell(session):
    await session.write_file("not-executable", b"echo")
    outcome = await session.run(Command(argv=["./not-executable"]))
    assert outcome.exit_code == 126
    assert b"ermission denied" in outcome.stderr


async def test_the_path_of_the_command_itself_decides_what_is_run(session):
    await session.write_file("bin/tool", b"#!/bin/sh\necho own $1\n", executable=True)
    where = (await session.run(Command(argv=["sh", "-c", "pwd"]))).stdout.decode().strip()
    outcome = await session.run(Command(argv=["tool", "x"], environment={"PATH": f"{where}/bin:/usr/bin:/bin"}))
    assert (outcome.stdout, outcome.stderr) == (b"own x\n", b"")


WRITES = """
import os
for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
    if pid != os.getpid():
        try:
            open(f"/proc/{pid}/mem", "r+b")
        except PermissionError:
            print("closed")
        except FileNotFoundError:
            pass  # it has ended
        else:
            print("open", open(f"/proc/{pid}/cmdline").read())
"""


async def test_what_holds_the_stream_cannot_be_written_to_from_inside(start, backend):
    if backend.name in {"unsafe", "mcp"}:
        pytest.skip("nothing is contained there")
    session = await start()
    outcome = await session.run(Command(argv=["python3", "-c", WRITES]))
    assert set(outcome.stdout.splitlines()) == {b"closed"}


async def test_commands_start_again_when_somebody_inside_killed_what_starts_them(start):
    session = await start()
    background = asyncio.create_task(session.run(Command(argv=["sh", "-c", "sleep 0.3; echo on; exit 4"])))
    await asyncio.sleep(0)  # so that it is asked for first
    await session.run(Command(argv=["sh", "-c", "read started; kill -9 $PPID"], stdin=b"yes\n"))
    assert (await session.run(Command(argv=["echo", "again"]))).stdout == b"again\n"
    outcome = await background
    assert (outcome.stdout, outcome.exit_code) == (b"on\n", 4)


async def test_a_command_runs_in_the_folder_that_was_asked_for(session, sh):
    await session.write_file("runs/deep/file", b"")
    assert (await sh("ls", cwd="runs/deep")).stdout == b"file\n"


async def test_a_folder_that_is_not_there_is_told(session, sh):
    await session.write_file("plain", b"")
    with pytest.raises(FileMissingError):
        await sh("pwd", cwd="no/such/folder")
    with pytest.raises(InputError):
        await sh("pwd", cwd="plain")


@pytest.mark.parametrize("cwd", ["/etc", "..", "a/../..", "", "a\0b"])
async def test_a_folder_outside_the_workspace_is_refused(sh, cwd):
    with pytest.raises(InvalidPathError):
        await sh("pwd", cwd=cwd)


async def test_a_command_gets_its_variables_and_none_of_the_server(session, sh, monkeypatch):
    monkeypatch.setenv("SERVER_SECRET", "hidden")
    outcome = await sh('echo "$GREETING"; env', environment={"GREETING": "안녕 'a\nb"})
    assert outcome.stdout.decode().startswith("안녕 'a\nb\n")
    assert b"SERVER_SECRET" not in outcome.stdout


async def test_a_command_reads_what_it_is_given_and_nothing_when_it_is_given_nothing(session):
    sent = bytes(range(256)) * 8192
    outcome = await session.run(Command(argv=["cat"], stdin=sent))
    assert outcome.stdout == sent
    assert (await session.run(Command(argv=["cat"]))).stdout == b""


async def test_a_command_that_does_not_read_ends_all_the_same(session):
    outcome = await session.run(Command(argv=["true"], stdin=b"x" * 2_000_000))
    assert outcome.success


@pytest.mark.parametrize(
    "fields",
    [
        {"argv": []},
        {"argv": [""]},
        {"argv": ["a\0b"]},
        {"argv": ["true"], "environment": {"A=B": "c"}},
        {"argv": ["true"], "environment": {"A": "b\0"}},
        {"argv": ["true"], "timeout": 0},
        {"argv": ["true"], "timeout": float("nan")},
    ],
)
async def test_a_command_that_cannot_be_is_refused(session, fields):
    with pytest.raises(InputError):
        await session.run(Command(**fields))


async def test_an_argument_longer_than_the_system_takes_is_refused_with_the_limit(session):
    with pytest.raises(LimitError) as refused:
        await session.run(Command(argv=["echo", "x" * 200_000]))
    assert refused.value.details["limit"] == 131071


async def test_output_comes_while_the_command_runs(session, sh):
    heard = []

    def listen(stream, data):
        heard.append((stream, data))
        if data == b"first\n":
            writing.append(asyncio.create_task(session.write_file("go", b"")))

    writing = []
    line = "echo first; while ! test -e go; do sleep 0.01; done; echo second >&2; rm go"
    outcome = await session.run(Command(argv=["sh", "-c", line]), on_output=listen)
    assert outcome.success
    assert heard == [("stdout", b"first\n"), ("stderr", b"second\n")]
    await writing[0]


async def test_an_error_of_the_listener_is_told_and_stops_the_command_but_not_the_sandbox(session, sh):
    def listen(_stream, _data):
        raise ZeroDivisionError

    line = "echo go; sleep 1000"
    with pytest.raises(ZeroDivisionError):
        await session.run(Command(argv=["sh", "-c", line]), on_output=listen)
    assert (await sh("echo on")).stdout == b"on\n"


async def test_a_million_lines_are_quick_and_cut_at_the_bound(start):
    session = await start(limits=Limits(output_bytes=100_000))
    outcome = await session.run(Command(argv=["seq", "1000000"], timeout=60))
    assert outcome.success
    assert outcome.truncated
    assert len(outcome.stdout) == 100_000
    assert outcome.stdout.startswith(b"1\n2\n3\n")


async def test_an_endless_flood_ends_at_its_time(start):
    session = await start(limits=Limits(output_bytes=100_000))
    outcome = await session.run(Command(argv=["yes"], timeout=0.5))
    assert outcome.ending is Ending.TIMEOUT
    assert outcome.stdout.startswith(b"y\ny\n")
    assert len(outcome.stdout) <= Limits().output_bytes
    assert outcome.seconds < 10


async def test_at_its_time_everything_of_a_command_is_killed(session, sh):
    line = "echo $$ >> pids; (sleep 1000; echo) & echo $! >> pids; sh -c 'echo $$ >> pids; sleep 1000; echo'"
    outcome = await sh(f"echo start; {line}", timeout=0.5)
    assert (outcome.ending, outcome.exit_code) == (Ending.TIMEOUT, None)
    assert outcome.stdout == b"start\n"
    assert outcome.seconds < 10
    pids = (await session.read_file("pids")).decode().split()
    assert len(pids) == 3
    assert not any([await _runs(session, pid) for pid in pids])


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3):
            os.close(fd)
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(5000)
    os._exit(0)
os.wait()
"""


async def _pid_in(session, path):
    """What a daemon wrote there when it was ready."""

    async def written():
        return any(entry.name == path and entry.size for entry in await session.list_folder())

    await until(written)
    return (await session.read_file(path)).decode()


async def _runs(session, pid):
    return (await session.run(Command(argv=["sh", "-c", f"kill -0 {pid}"]))).success


async def test_a_daemon_of_a_command_is_killed_with_it_at_its_time(session):
    line = 'python3 -c "$CODE" daemon-1; while ! test -s daemon-1; do sleep 0.01; done; echo ready; sleep 1000'
    command = Command(argv=["sh", "-c", line], environment={"CODE": DAEMON}, timeout=3)
    outcome = await session.run(command)
    assert (outcome.ending, outcome.stdout) == (Ending.TIMEOUT, b"ready\n")
    assert not await _runs(session, await _pid_in(session, "daemon-1"))


async def test_a_daemon_of_another_command_stays_when_one_is_killed(session, sh):
    await session.run(Command(argv=["python3", "-c", DAEMON, "daemon-2"]))
    pid = await _pid_in(session, "daemon-2")
    await sh("sleep 1000", timeout=0.2)
    assert await _runs(session, pid)


async def test_what_goes_on_in_the_background_does_not_hold_up_the_end(session, sh):
    began = time.monotonic()
    outcome = await sh("(while :; do echo more; sleep 0.02; done) & echo $! > background; echo done")
    assert outcome.success
    assert b"done\n" in outcome.stdout
    assert time.monotonic() - began < 5
    pid = (await session.read_file("background")).decode()
    assert await _runs(session, pid)  # though nobody reads what it says any more
    await sh(f"kill {pid}")


async def test_the_last_output_is_not_lost_when_the_command_ends_at_once(sh):
    for _ in range(20):
        outcome = await sh("printf '%070000d' 7")
        assert len(outcome.stdout) == 70_000


async def test_a_command_killed_by_a_signal_says_so(sh):
    outcome = await sh("kill -9 $$")
    assert (outcome.ending, outcome.exit_code) == (Ending.KILLED, 137)


async def test_a_cancelled_call_kills_its_command(session, sh):
    started = asyncio.Event()
    command = Command(argv=["sh", "-c", "echo $$; sleep 1000"])
    pids = []

    def listen(_stream, data):
        pids.append(data.decode().strip())
        started.set()

    task = asyncio.create_task(session.run(command, on_output=listen))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async def gone():
        return not await _runs(session, pids[0])

    await until(gone)


async def test_several_commands_run_at_once(session, sh):
    await sh("mkdir at-once")
    line = "touch at-once/{0}; while [ $(ls at-once | wc -l) -lt 10 ]; do sleep 0.02; done; echo {0}"
    commands = [Command(argv=["sh", "-c", line.format(number)]) for number in range(10)]
    outcomes = await asyncio.gather(*map(session.run, commands))
    assert [outcome.stdout for outcome in outcomes] == [b"%d\n" % number for number in range(10)]


async def test_secrets_reach_the_command_and_never_its_output(session):
    secret = "tökén/with+signs=12345"
    line = (
        'printf %s "$TOKEN"; printf %s "$TOKEN" | base64 -w0; test "$TOKEN" = "$1" || exit 1; '
        'printf %s "$TOKEN" | od -An -tx1 | tr -d " \n" >&2'
    )
    outcome = await session.run(Command(argv=["sh", "-c", line, "sh", secret], secrets={"TOKEN": secret}))
    assert outcome.success
    said = outcome.stdout + outcome.stderr
    assert secret.encode() not in said
    assert secret.encode().hex().encode() not in said
    assert base64.b64encode(secret.encode())[:-4] not in said
    assert b"***" in outcome.stdout
    assert b"***" in outcome.stderr


async def test_secrets_are_gone_with_the_call(session, sh):
    await sh("true", secrets={"TOKEN": "very-secret"})
    assert b"very-secret" not in (await sh("env")).stdout


async def test_the_size_of_files_is_bounded(start):
    session = await start(limits=Limits(file_bytes=1_000_000))
    outcome = await session.run(Command(argv=["sh", "-c", "head -c 3000000 /dev/zero > large; ls -l large"]))
    assert b" 1000000 " in outcome.stdout


async def test_no_core_is_dumped(sh):
    assert (await sh("ulimit -c")).stdout == b"0\n"


async def test_the_sandbox_tells_what_it_uses(session, sh):
    await session.write_file("weight", b"x" * 500_000)
    task = asyncio.create_task(sh("sleep 1"))

    async def seen():
        return (await session.stats()).processes >= 1

    await until(seen)
    stats = await session.stats()
    assert stats.disk_bytes >= 500_000
    assert stats.memory_bytes > 0
    assert stats.cpu_seconds >= 0
    await task


@pytest.fixture
async def counted(backend):
    """Only where the number of processes is bounded may they be let loose."""
    if Barrier.PROCESS_COUNT not in (await backend.capabilities()).enforced:
        pytest.skip(f"{backend.name} does not bound the number of processes.")


async def test_a_fork_bomb_ends_at_its_time_and_the_sandbox_goes_on(start, counted):
    session = await start(limits=Limits(processes=48))
    # Made by a child: one that can fork no more ends, and the command is not to end before its time.
    bomb = Command(argv=["sh", "-c", "sh -c 'bomb() { bomb | bomb & }; bomb' & exec sleep 1000"], timeout=2)
    outcome = await session.run(bomb)
    assert outcome.ending is Ending.TIMEOUT
    assert (await session.run(Command(argv=["echo", "on"]))).stdout == b"on\n"
    assert (await session.stats()).processes <= 1


FILL = """
import os, time
while True:
    try:
        child = os.fork()
    except OSError:
        break
    if not child:
        time.sleep(1000)
print("full", flush=True)
time.sleep(1000)
"""


async def test_the_answer_is_clear_when_no_process_can_be_started(start, counted):
    session = await start(limits=Limits(processes=24))
    filling = Command(argv=["python3", "-c", FILL], timeout=600)
    full = asyncio.Event()
    task = asyncio.create_task(session.run(filling, on_output=lambda *_: full.set()))
    await full.wait()
    with pytest.raises(UnavailableError, match="annot start a process"):
        await session.run(Command(argv=["true"]))
    assert await session.list_folder() == []
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async def works():
        try:
            return (await session.run(Command(argv=["true"]))).success
        except UnavailableError:
            return False

    await until(works)
