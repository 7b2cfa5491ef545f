import os
import threading
from pathlib import Path

import pytest

from skillyard.errors import ConflictError, InputError, NotFoundError, UnavailableError
from skillyard.sandbox.local.cargos import Cargos
from skillyard.sandbox.local.uids import Users

ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="only root can give folders to others")


@pytest.fixture
def users():
    return Users(uids=range(700_000, 700_010) if ROOT else None)


@pytest.fixture
def cargos(tmp_path, users):
    return Cargos(tmp_path / "cargos", users)


def test_a_workspace_is_made_once_and_for_its_owner_only(cargos):
    first, second = cargos.ensure("one"), cargos.ensure("one")
    assert first == second
    assert first.path.stat().st_mode & 0o777 == 0o700
    assert first.path.parent.stat().st_mode & 0o777 == 0o700


@needs_root
def test_each_cargo_belongs_to_a_user_of_its_own_and_keeps_him(cargos, tmp_path, users):
    one, two = cargos.ensure("one"), cargos.ensure("two")
    assert one.uid != two.uid
    assert {one.uid, two.uid} <= set(users.uids)
    assert one.path.stat().st_uid == one.path.stat().st_gid == one.uid
    assert Cargos(tmp_path / "cargos", users).ensure("one").uid == one.uid


@needs_root
def test_many_at_once_get_different_users(cargos):
    made = []
    threads = [threading.Thread(target=lambda n=n: made.append(cargos.ensure(f"c{n}").uid)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8


@needs_root
def test_a_workspace_of_somebody_else_is_refused(cargos):
    os.chown(cargos.ensure("one").path, 4711, 4711)
    with pytest.raises(UnavailableError):
        cargos.ensure("one")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", ".hidden", "a\n", "x" * 200])
def test_a_name_that_is_no_id_is_refused(cargos, name):
    for ask in (cargos.ensure, cargos.remove, lambda name: cargos.copy("one", name)):
        with pytest.raises((InputError, NotFoundError)):
            ask(name)


def test_a_workspace_that_was_closed_from_within_is_opened_again(cargos):
    workspace = cargos.ensure("one").path
    workspace.chmod(0)
    assert cargos.ensure("one").path == workspace
    assert workspace.stat().st_mode & 0o777 == 0o700


def test_a_deep_closed_and_linked_workspace_is_removed_and_nothing_outside(cargos, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    workspace = cargos.ensure("one").path
    (workspace / "link").symlink_to(outside)
    place = os.open(workspace, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.fchmod(place, 0)
    os.close(place)
    cargos.remove("one")
    cargos.remove("one")
    assert not workspace.exists()
    assert (outside / "kept").read_text() == "kept"


def test_a_copy_has_the_same_files_links_and_modes_for_its_own_user(cargos):
    origin = cargos.ensure("one")
    (origin.path / "folder").mkdir()
    (origin.path / "folder" / "script").write_text("x")
    (origin.path / "folder" / "script").chmod(0o750)
    (origin.path / "link").symlink_to("/etc/shadow")
    cargos.copy("one", "two")
    copy = cargos.ensure("two")
    assert (copy.path / "folder" / "script").read_text() == "x"
    assert (copy.path / "folder" / "script").stat().st_mode & 0o777 == 0o750
    assert (copy.path / "link").readlink() == Path("/etc/shadow")
    if ROOT:
        assert (copy.path / "folder" / "script").stat().st_uid == copy.uid != origin.uid


def test_a_copy_of_nothing_or_onto_something_changes_nothing(cargos):
    cargos.ensure("one")
    cargos.ensure("two")
    with pytest.raises(NotFoundError):
        cargos.copy("none", "new")
    with pytest.raises(ConflictError):
        cargos.copy("one", "two")


def test_a_copy_that_fails_leaves_nothing(cargos, monkeypatch):
    cargos.ensure("one")

    def fail(*_, **__):
        raise OSError("no tar")

    monkeypatch.setattr("skillyard.sandbox.local.cargos._copy", fail)
    with pytest.raises(OSError, match="no tar"):
        cargos.copy("one", "two")
    monkeypatch.undo()
    cargos.copy("one", "two")
