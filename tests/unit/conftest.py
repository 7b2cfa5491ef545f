"""What the tests of several rooms share."""

import shutil

import pytest

from skillyard.client import Skillyard
from skillyard.remote import in_process


@pytest.fixture(scope="session")
def fresh_registry(tmp_path_factory):
    """The file of an empty registry: making one takes longer than most tests."""
    home = tmp_path_factory.mktemp("fresh-registry")
    with Skillyard(home=home) as yard:
        yard.connection.get("/changes", since=0)
    return home / "registry.sqlite"


@pytest.fixture
def yard_home(fresh_registry, tmp_path, monkeypatch):
    """A home with an empty yard, which belongs to the person `ann`."""
    for name in ("SERVER", "TOKEN", "DATABASE_URL", "BLOBS_URL", "AUTH", "ADMIN_TOKEN"):
        monkeypatch.delenv(f"SKILLYARD_{name}", raising=False)
    monkeypatch.setenv("LOGNAME", "ann")
    home = tmp_path / "yard"
    home.mkdir(mode=0o700)
    shutil.copy(fresh_registry, home)
    monkeypatch.setenv("SKILLYARD_HOME", str(home))
    return home


@pytest.fixture
def open_yard(yard_home, monkeypatch):
    """The yard in that home, kept open from command to command: opening it again for each takes most of their time."""
    kept: list[_Kept] = []

    def transport(application):
        if not kept:
            kept.append(_Kept(application))
        return kept[0]

    monkeypatch.setattr(in_process, "InProcess", transport)
    yield yard_home
    for one in kept:
        one.end()


class _Kept(in_process.InProcess):
    def close(self):
        """Not yet: other commands follow."""

    def end(self):
        super().close()
