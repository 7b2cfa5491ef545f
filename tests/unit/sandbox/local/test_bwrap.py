import shutil

import pytest
from tests.components import missing

from skillyard.errors import CapabilityError, UnavailableError
from skillyard.sandbox.capabilities import Barrier
from skillyard.sandbox.local import bwrap
from skillyard.sandbox.local.bwrap import BwrapBackend
from skillyard.sandbox.local.bwrap_options import Bind, Contents, bwrap_options
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.place import Limits, Mount, Place
from skillyard.sandbox.session import Command

pytestmark = pytest.mark.anyio


@pytest.fixture
def backend(tmp_path):
    return BwrapBackend(tmp_path, users=Users.of(DEFAULT_UIDS), cgroups=Cgroups(()), proxy=lambda _: None)


def options(**fields):
    contents = Contents(
        **{"workspace": "/host/workspace", "files": {}, "environment": {}, "limits": Limits(), "seccomp": 9, **fields}
    )
    return " ".join(bwrap_options(contents))


def test_everything_is_unshared_and_nothing_of_the_servers_environment_comes_in():
    line = options(environment={"A": "b"})
    for option in ("user", "pid", "ipc", "net", "uts", "cgroup-try"):
        assert f"--unshare-{option}" in line
    for option in ("--disable-userns", "--cap-drop ALL", "--die-with-parent", "--new-session", "--clearenv"):
        assert option in line
    assert "--setenv A b" in line


def test_only_the_workspace_and_what_is_asked_for_can_be_written():
    line = options(binds=[Bind(source="/a", target="/b"), Bind(source="/c", target="/d", writable=True)])
    words = line.split()
    writable = {words[at + 2] for at, word in enumerate(words) if word == "--bind"}
    assert writable == {"/workspace", "/d"}
    assert line.endswith("--remount-ro /dev --remount-ro / --chdir /workspace --seccomp 9")


def test_folders_in_memory_have_a_size_and_settings_of_the_kernel_are_read_only():
    line = options(limits=Limits(tmp_bytes=12345))
    for folder in ("/tmp", "/dev/shm"):
        assert f"--size 12345 --tmpfs {folder}" in line
    assert "--ro-bind /proc/sys /proc/sys" in line


def test_of_the_hosts_etc_only_named_files_are_seen():
    words = options().split()
    seen = {words[at + 1] for at, word in enumerate(words) if word.startswith(("--ro-bind", "--bind"))}
    assert "/etc" not in seen
    assert not {path for path in seen if "shadow" in path or path.endswith(("passwd", "group", "hosts"))}


async def test_a_command_finds_the_python_of_the_context_by_either_name(backend):
    offered = await backend.capabilities()
    if not offered.available:
        missing(offered.reason)
    session = await backend.start(Place(sandbox_id="s", cargo_id="c"))
    try:
        told = await session.python("import sys; sys.version")
        for name in ("python", "python3"):
            done = await session.run(Command(argv=[name, "-c", "import sys; print(repr(sys.version))"]))
            assert done.stdout.decode() == f"{told.output.strip()}\n"
    finally:
        await session.close()


@pytest.mark.parametrize(
    "target",
    ["relative", "/", "/workspace", "/workspace/x", "/proc/x", "/usr/bin", "/etc/passwd", "/a/../etc", "/tmp/x"],
)
async def test_nothing_is_mounted_over_what_makes_the_sandbox(backend, tmp_path, target):
    mount = Mount(source=tmp_path, target=target)
    with pytest.raises(CapabilityError):
        await backend.start(Place(sandbox_id="s", cargo_id="c", mounts=(mount,)))
    assert not list((tmp_path / "runtime").iterdir())


async def test_without_the_program_it_says_how_to_get_it(backend, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    offered = await backend.capabilities()
    assert not offered.available
    assert offered.fix == "apt-get install bubblewrap"
    with pytest.raises(UnavailableError) as refused:
        await backend.start(Place(sandbox_id="s", cargo_id="c"))
    assert refused.value.hint == offered.fix


async def test_a_program_that_is_too_old_is_not_used(backend, tmp_path, monkeypatch):
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho bubblewrap 0.6.1\n")
    old.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(old))
    offered = await backend.capabilities()
    assert not offered.available
    assert "0.6" in offered.reason


@pytest.mark.parametrize(
    ("setting", "value", "fix"),
    [
        ("_RESTRICTED", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("_SWITCHED_OFF", "0", "kernel.unprivileged_userns_clone=1"),
        ("_MOST", "0", "user.max_user_namespaces"),
    ],
)
async def test_where_namespaces_are_denied_the_fix_is_named(backend, tmp_path, monkeypatch, setting, value, fix):
    denied = tmp_path / "bwrap"
    denied.write_text("#!/bin/sh\n[ $1 = --version ] && echo bubblewrap 0.9.0 && exit\necho denied >&2\nexit 1\n")
    denied.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(denied))
    (tmp_path / "setting").write_text(f"{value}\n")
    for name in ("_RESTRICTED", "_SWITCHED_OFF", "_MOST"):
        monkeypatch.setattr(bwrap, name, tmp_path / ("setting" if name == setting else "absent"))
    offered = await backend.capabilities()
    assert not offered.available
    assert fix in offered.fix


async def test_on_other_systems_it_points_to_docker(backend, monkeypatch):
    monkeypatch.setattr(bwrap.sys, "platform", "darwin")
    offered = await backend.capabilities()
    assert not offered.available
    assert "DOCKER" in offered.fix


async def test_what_only_control_groups_can_bound_is_not_promised_without_them(backend):
    offered = await backend.capabilities()
    if not offered.available:
        pytest.skip(offered.reason)
    assert Barrier.MEMORY_TOTAL not in offered.enforced
    assert Barrier.MEMORY in offered.enforced
    assert "Memory" in offered.reason
    assert offered.trusted
