"""What the pages of sandboxes work out for themselves."""

import pytest

from skillyard.server.web.sandbox_files import _folders, _text
from skillyard.server.web.sandbox_runs import _saved_by
from skillyard.server.web.skill_files import MAX_SHOWN


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("screenshot shots/page.png", "shots/page.png"),
        ("screenshot ./page.png --full", "page.png"),
        ("screenshot", ""),
        ("click @e2", ""),
        ("<img src=x>", ""),
        ("", ""),
    ],
)
def test_where_a_step_saved_a_picture_is_known(command, path):
    assert _saved_by(command) == path


def test_a_text_that_is_cut_in_the_middle_of_a_character_is_a_text():
    whole = "é" * MAX_SHOWN
    assert _text(b"x" + whole.encode()[:MAX_SHOWN]) == "x" + "é" * ((MAX_SHOWN - 1) // 2)
    assert _text("é".encode()[:1]) is None
    assert _text(b"a\0b") is None


def test_the_folders_above_a_path_lead_back():
    assert _folders(".") == []
    assert _folders("a/b") == [{"name": "a", "path": "a"}, {"name": "b", "path": "a/b"}]
