import os

import pytest

from skillyard.sandbox.local import hidden_files
from skillyard.sandbox.local.hidden_files import hidden

DEVICE = os.makedev(8, 1)


@pytest.fixture
def maps(tmp_path, monkeypatch):
    """Makes one process, of which only its maps can be looked at."""
    monkeypatch.setattr(hidden_files, "_PROC", tmp_path)
    (tmp_path / "7").mkdir()

    def write(*lines):
        (tmp_path / "7" / "maps").write_text("".join(f"{line}\n" for line in lines))

    return write


def test_of_what_only_root_may_look_at_counts_how_far_it_is_mapped(maps):
    maps(
        "7f0000000000-7f0000001000 r--s 00000000 08:01 11                         /a (deleted)",
        "7f0000001000-7f0000002000 r--s 00010000 08:01 11                         /a (deleted)",
        "7f0000002000-7f0000004000 r--s 00000000 08:01 12                         /b (deleted)",
    )
    assert hidden([7], DEVICE).bytes_used == 0x11000 + 0x2000


def test_what_has_a_name_or_is_elsewhere_does_not_count(maps):
    maps(
        "7f0000000000-7f0000001000 r--s 00000000 08:01 11                         /a",
        "7f0000001000-7f0000002000 r--s 00000000 00:01 12                         /memfd:b (deleted)",
        "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 ",
    )
    assert hidden([7], DEVICE).bytes_used == 0


def test_a_process_that_is_gone_keeps_nothing(maps):
    assert hidden([8], DEVICE).bytes_used == 0
