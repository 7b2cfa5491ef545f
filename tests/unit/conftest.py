"""What the tests of several rooms share."""

import pytest

from skillyard.remote import in_process


@pytest.fixture
def yard_home(new_home, tmp_path, monkeypatch):
    """A home with an empty yard, which belongs to the person `ann`."""
    for name in ("SERVER", "TOKEN", "DATABASE_URL", "BLOBS_URL", "AUTH", "ADMIN_TOKEN"):
        monkeypatch.delenv(f"SKILLYARD_{name}", raising=False)
    monkeypatch.setenv("LOGNAME", "ann")
    home = new_home(tmp_path / "yard")
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
