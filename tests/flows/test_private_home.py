"""What a home holds is for its owner only, whatever was there before."""

import os
import shutil
import stat
import subprocess
import sys

import pytest

from skillyard.app.private_home import make_home_private
from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.sandbox.sandboxes import SandboxSpec

pytestmark = pytest.mark.anyio

STRANGER = 65534


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(home):
    """All below a folder that somebody else may read."""
    if mode(home) & 0o077 == 0:
        return []
    entries = (entry for entry in home.iterdir())
    return [entry.name for entry in entries if mode(entry) & 0o077]


def run(command, **more):
    return subprocess.run(command, capture_output=True, check=False, **more)


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path, umask):
    for folder in (tmp_path.parent, tmp_path):
        folder.chmod(0o755)
    made = tmp_path / "srv" / "yard"
    made.mkdir(parents=True)
    return made


def settings_of(home):
    return Settings(home=home, roots=(), sandbox_backend="unsafe")


async def use(home):
    """Open a yard, and have it write all that it keeps."""
    async with open_yard(settings_of(home)) as yard:
        person = await yard.access.operator("ada")
        await yard.search.index.close()
        await yard.sandboxes.sandboxes.create(person, SandboxSpec())
        seen = {entry.name for entry in home.iterdir()}
        return {name: mode(home / name) for name in seen if name.startswith("registry.sqlite")}


async def test_a_folder_that_an_administrator_made_is_closed(home):
    database = await use(home)
    assert set(database.values()) == {0o600}
    assert {"registry.sqlite", "registry.sqlite-wal", "registry.sqlite-shm"} <= database.keys()
    assert mode(home) == 0o700


async def test_a_home_that_was_open_is_closed_with_all_that_is_in_it(home):
    await use(home)
    home.chmod(0o755)
    for entry in home.iterdir():
        entry.chmod(0o755 if entry.is_dir() else 0o644)
    async with open_yard(settings_of(home)):
        assert mode(home) == 0o700
        assert not [entry.name for entry in home.iterdir() if mode(entry) & 0o077]


async def test_in_a_folder_with_files_of_others_only_our_own_are_closed(home):
    (home / "letter.txt").write_text("mine")
    (home / "pictures").mkdir()
    await use(home)
    async with open_yard(settings_of(home)):
        assert mode(home) == 0o755
        assert sorted(open_to_others(home)) == ["letter.txt", "pictures"]


async def test_a_persons_home_folder_stays_as_it_is(home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    await use(home)
    make_home_private(home)
    assert mode(home) == 0o755
    assert open_to_others(home) == []


async def test_links_are_not_followed(home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home / "blobs").symlink_to(elsewhere)
    make_home_private(home)
    assert mode(elsewhere) == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_another_user_reads_nothing_of_a_home(home):
    (home / "letter.txt").write_text("mine")  # so that the folder itself stays open
    await use(home)
    async with open_yard(settings_of(home)):
        for name in ("registry.sqlite", "registry.sqlite-wal", "registry.sqlite-shm"):
            assert (home / name).exists()
        line = "ls; cat registry.sqlite*; find . -readable -not -name letter.txt -not -path ."
        command = ["setpriv", "--reuid", str(STRANGER), "--clear-groups", "sh", "-c", line]
        done = run(command, cwd=home)
    assert b"letter.txt" in done.stdout
    assert b"SQLite" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith(b"./")]


async def test_a_home_that_a_command_makes_is_closed(tmp_path, umask):
    skill = tmp_path / "skills" / "parcels"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: parcels\ndescription: Finds parcels.\n---\nLook.\n")
    home = tmp_path / "state" / "yard"
    environment = {"HOME": str(tmp_path), "SKILLYARD_HOME": str(home), "PATH": os.environ["PATH"]}
    root = ["--root", str(tmp_path / "agent")]
    for words, made in (
        (["list", "--root", str(skill.parent)], "index"),
        (["add", str(skill), *root, "-y"], "bundles"),
        (["find", "parcels", "--root", str(skill.parent)], "search"),
    ):
        assert run([sys.executable, "-m", "skillyard", *words], env=environment).returncode == 0
        assert mode(home) == 0o700
        assert mode(home / made) == 0o700
        shutil.rmtree(home)
