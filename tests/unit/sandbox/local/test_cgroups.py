"""Control groups, on a folder that looks like the kernel's, and on the kernel's own where they can be made."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillyard.sandbox.local.cgroups import CPU, MEMORY, PIDS, Cgroups
from skillyard.sandbox.place import Limits

pytestmark = pytest.mark.anyio
LIMITS = Limits(memory_bytes=64 * 1024 * 1024, processes=10)


@pytest.fixture
def here():
    cgroups = Cgroups.here()
    if not cgroups.controllers:
        pytest.skip("control groups cannot be made by whoever runs this")
    yield cgroups
    cgroups.close()


class Tree:
    """What `/sys/fs/cgroup` would look like; making a folder there gives it the kernel's files."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.root = folder / "cgroup"
        self.membership = folder / "membership"
        self.root.mkdir()
        make, remove = Path.mkdir, Path.rmdir

        def mkdir(path, *arguments, **options):
            make(path, *arguments, **options)
            if path.is_relative_to(self.root):
                (path / "cgroup.procs").write_text("")

        def rmdir(path):
            if path.is_relative_to(self.root):
                for file in path.glob("*.*"):
                    file.unlink()
            remove(path)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        monkeypatch.setattr(Path, "rmdir", rmdir)

    def unified(self, path: str, controllers: str, members: str) -> Path:
        folder = self.root / path
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {
            "cgroup.controllers": controllers,
            "cgroup.subtree_control": "",
            "cgroup.procs": members,
        }.items():
            (folder / name).write_text(content)
        (self.root / "cgroup.controllers").touch()
        self.membership.write_text(f"0::/{path}\n")
        return folder

    def groups(self) -> Cgroups:
        return Cgroups.here(self.membership, self.root)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    return Tree(tmp_path, monkeypatch)


def test_where_there_are_none_nothing_is_offered(tmp_path):
    assert not Cgroups.here(tmp_path / "nothing", tmp_path).available


def test_a_delegated_group_hands_its_controllers_down(tree, monkeypatch):
    folder = tree.unified("user/skillyard", "cpu memory pids", str(os.getpid()))
    write, handed = Path.write_text, []

    def write_text(path, text, **options):
        if path == folder / "cgroup.subtree_control":
            handed.append(text)
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    cgroups = tree.groups()
    assert cgroups.controllers == {CPU, MEMORY, PIDS}
    assert handed == ["+memory +pids", "+cpu"]
    group = cgroups.make("one", LIMITS)
    cgroups.close()
    assert [Path(entrance).name for entrance in group.entrances] == ["cgroup.procs"]
    made = group.folders[0]
    assert made.parent == folder
    assert (made / "memory.max").read_text() == str(LIMITS.memory_bytes)
    assert int((made / "pids.max").read_text()) >= LIMITS.processes
    assert int((made / "cpu.weight").read_text()) < 100


def test_a_server_alone_in_its_group_moves_down_when_the_kernel_wants_it(tree, monkeypatch):
    folder = tree.unified("service", "memory pids", f"{os.getpid()}\n")
    write = Path.write_text
    refused = []

    def write_text(path, *arguments, **options):
        if path == folder / "cgroup.subtree_control" and not refused:
            refused.append(path)
            raise OSError(errno.EBUSY, "busy")
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    assert tree.groups().controllers == {MEMORY, PIDS}
    assert (folder / "skillyard-server" / "cgroup.procs").read_text() == "0"


def test_others_in_the_group_are_left_where_they_are(tree, monkeypatch):
    folder = tree.unified("session", "memory pids", f"{os.getpid()}\n1\n")
    write = Path.write_text

    def write_text(path, *arguments, **options):
        if path == folder / "cgroup.subtree_control":
            raise OSError(errno.EBUSY, "busy")
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    cgroups = tree.groups()
    assert cgroups.available
    assert not cgroups.controllers
    assert not (folder / "skillyard-server").exists()


def test_a_group_that_cannot_be_written_offers_nothing(tree, monkeypatch):
    tree.unified("closed", "memory pids", str(os.getpid()))

    def mkdir(*_, **__):
        raise PermissionError(errno.EACCES, "closed")

    monkeypatch.setattr(Path, "mkdir", mkdir)
    assert not tree.groups().available


def start(*command, **pipes):
    return subprocess.Popen(command, text=True, **pipes)


async def test_all_processes_of_a_group_end_and_it_is_given_back(here):
    group = here.make("test", LIMITS)
    script = "".join(f"echo 0 > {entrance}\n" for entrance in group.entrances) + "setsid sleep 1000 &\necho\nsleep 1000"
    process = start("sh", "-c", script, stdout=subprocess.PIPE)
    process.stdout.readline()
    await group.remove()
    assert process.wait(10) == -9
    process.stdout.close()
    assert not any(folder.exists() for folder in group.folders)


async def test_the_processes_of_a_group_are_bounded_together(here):
    if PIDS not in here.controllers:
        pytest.skip("processes cannot be bounded here")
    group = here.make("test", LIMITS)
    joining = "".join(f"echo 0 > {entrance}\n" for entrance in group.entrances)
    script = joining + "for i in $(seq 100); do sleep 1000 & done; echo started"
    process = start("bash", "-c", script, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert "fork" in process.stderr.readline()
    await group.remove()
    process.stderr.close()
    process.wait(10)


def test_a_server_that_dies_leaves_no_group(here, tmp_path):
    code = """
import os, signal, sys
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.place import Limits
group = Cgroups.here().make("dies", Limits())
print(*group.folders, sep="\\n", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    folders = [Path(line) for line in done.stdout.splitlines()]
    assert folders
    deadline = time.monotonic() + 10
    while any(folder.exists() for folder in folders):
        assert time.monotonic() < deadline
        os.sched_yield()
