import asyncio
import os
import sys

import pytest

from skillyard.sandbox.local.disk import DiskWatch, Usage, measure

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024
KEEPS = f"""
import os, sys
file = open(sys.argv[1], "wb")
os.unlink(file.name)
file.write(bytes({4 * MIB}))
file.flush()
print(flush=True)
sys.stdin.read()
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


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


async def test_removed_files_that_a_process_keeps_are_counted(tmp_path):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KEEPS, tmp_path / "x", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    await process.stdout.readline()
    try:
        assert (await measure([tmp_path])).bytes_used < MIB
        assert (await measure([tmp_path], process.pid)).bytes_used >= 4 * MIB
    finally:
        process.stdin.close()
        await process.wait()


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
        async with asyncio.timeout(20):
            assert (await noticed.get()).bytes_used >= 2 * MIB
    finally:
        await watch.stop()
