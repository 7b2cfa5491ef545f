import asyncio
import contextlib
import os
import sys

import pytest

from skillyard.sandbox.local import disk
from skillyard.sandbox.local.disk import DiskWatch, Usage, measure

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024
KEEPS = f"""
import ctypes, os, socket, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(file, bytes({4 * MIB}))
os.unlink(sys.argv[1])
how = sys.argv[2]
if how == "mapped":
    mmap = ctypes.CDLL(None).mmap
    mmap.restype = ctypes.c_void_p
    mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    mmap(None, {4 * MIB}, 1, 1, file, 0)
if how == "sent":
    ends = socket.socketpair()
    socket.send_fds(ends[0], [b"x"], [file])
if how != "open":
    os.close(file)
print(flush=True)
sys.stdin.read()
"""


async def test_what_takes_space_is_counted_once_and_links_are_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "large").write_bytes(bytes(4 * MIB))
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").write_bytes(bytes(MIB))
    (inside / "again").hardlink_to(inside / "file")
    (inside / "link").symlink_to(tmp_path / "outside")
    with (inside / "sparse").open("wb") as file:
        file.truncate(100 * MIB)
    usage = await measure([inside])
    assert MIB <= usage.bytes_used < 2 * MIB
    assert usage.files >= 4


@contextlib.asynccontextmanager
async def keeping(file, how):
    """A process that keeps a removed file."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KEEPS, file, how, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    await process.stdout.readline()
    try:
        yield process.pid
    finally:
        process.stdin.close()
        await process.wait()


@pytest.mark.parametrize("how", ["open", "mapped"])
async def test_removed_files_that_a_process_keeps_are_counted(tmp_path, how):
    async with keeping(tmp_path / "x", how) as pid:
        assert (await measure([tmp_path])).bytes_used < MIB
        usage = await measure([tmp_path], pid)
        assert usage.bytes_used >= 4 * MIB
        assert not usage.unseen


async def test_removed_files_that_wait_in_a_socket_are_counted_by_what_the_disk_has_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_UNSEEN_SECONDS", 0.2)
    monkeypatch.setattr(disk, "_MEASURE_SECONDS", 0.1)
    free = iter([100 * MIB, 100 * MIB])  # the look, and the first measurement
    monkeypatch.setattr(DiskWatch, "_free", lambda _: (next(free, 90 * MIB), 1000))
    noticed: asyncio.Queue[Usage] = asyncio.Queue()
    async with keeping(tmp_path / "x", "sent") as pid:
        assert (await measure([tmp_path], pid)).unseen
        watch = DiskWatch([tmp_path], Usage.at_most(8 * MIB), pid=pid, on_excess=noticed.put)
        try:
            async with asyncio.timeout(60):
                assert (await noticed.get()).bytes_used >= 10 * MIB
        finally:
            await watch.stop()


async def test_what_cannot_be_counted_is_too_much(tmp_path, monkeypatch):
    async def aborted(*_):
        return b"", b"du: process_file: Assertion `level == prev_level - 1' failed.\n"

    monkeypatch.setattr(disk, "_output", aborted)
    assert (await measure([tmp_path])).over(Usage.at_most(1 << 60))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes what belongs to others")
async def test_no_name_of_a_file_makes_root_change_modes(tmp_path, monkeypatch):
    commands = []

    async def complaining(*command):
        commands.append(command[0])
        return b"0\ttotal\n", b"du: cannot access 'x: Permission denied\ndu: x: Permission denied\n"

    monkeypatch.setattr(disk, "_output", complaining)
    await measure([tmp_path])
    assert set(commands) == {"du"}


async def test_what_was_measured_just_before_is_measured_again_only_when_space_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_LOOK_SECONDS", 0)
    free, measured = [100 * MIB], asyncio.Event()

    async def measure(*_):
        measured.set()
        return Usage(bytes_used=0, files=0)

    monkeypatch.setattr(disk, "measure", measure)
    monkeypatch.setattr(DiskWatch, "_free", lambda _: (free[0], 1000))
    used = Usage(bytes_used=MIB, files=1)
    watch = DiskWatch([tmp_path], Usage.at_most(2 * MIB), pid=os.getpid(), on_excess=asyncio.Queue().put, used=used)
    try:
        for _ in range(20):
            await asyncio.sleep(0)
        assert not measured.is_set()
        free[0] -= MIB  # all that was left
        async with asyncio.timeout(60):
            await measured.wait()
    finally:
        await watch.stop()


async def test_a_failed_measurement_does_not_end_the_watch(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_MEASURE_SECONDS", 0.05)
    answers = iter([OSError("no process can be started"), Usage(bytes_used=2 * MIB, files=1)])

    async def measured(*_):
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(disk, "measure", measured)
    noticed: asyncio.Queue[Usage] = asyncio.Queue()
    watch = DiskWatch([tmp_path], Usage.at_most(MIB), pid=os.getpid(), on_excess=noticed.put)
    try:
        async with asyncio.timeout(60):
            assert (await noticed.get()).bytes_used == 2 * MIB
    finally:
        await watch.stop()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
async def test_a_closed_folder_hides_nothing(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "file").write_bytes(bytes(MIB))
    (tmp_path / "closed").chmod(0)
    assert (await measure([tmp_path])).bytes_used >= MIB


def test_many_files_are_too_much_as_many_bytes_are():
    bound = Usage.at_most(MIB)
    assert not Usage(bytes_used=MIB, files=10).over(bound)
    assert Usage(bytes_used=MIB + 1, files=10).over(bound)
    assert Usage(bytes_used=0, files=1000).over(bound)


async def test_growing_beyond_the_bound_is_noticed_and_staying_below_is_not(tmp_path):
    noticed: asyncio.Queue[Usage] = asyncio.Queue()
    watch = DiskWatch([tmp_path], Usage.at_most(MIB), pid=os.getpid(), on_excess=noticed.put)
    try:
        (tmp_path / "small").write_bytes(bytes(MIB // 2))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.4):
                await noticed.get()
        (tmp_path / "large").write_bytes(bytes(2 * MIB))
        async with asyncio.timeout(60):
            assert (await noticed.get()).bytes_used >= 2 * MIB
    finally:
        await watch.stop()
