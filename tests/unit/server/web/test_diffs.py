"""Diffs as rows: every line in its place on its side, and the words that differ marked."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from skillyard.server.web.diffs import side_rows, unified_rows


def hunks(old, new):
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return "\n".join(lines)


def text(line):
    return "".join(piece.text for piece in line.pieces)


LINES = st.lists(
    st.sampled_from(["", "a", "b c", "- x", "+ y", "@@ -1 +1 @@", "the same words here", "the other words here"])
)


@given(old=LINES, new=LINES)
def test_both_views_show_each_line_where_it_is(old, new):
    rows = unified_rows(hunks(old, new))
    for line in rows:
        if line.kind in {"removed", "same"}:
            assert text(line) == old[line.old - 1]
        if line.kind in {"added", "same"}:
            assert text(line) == new[line.new - 1]
    pairs = side_rows(hunks(old, new))
    removed = [line for line in rows if line.kind == "removed"]
    assert [pair.left for pair in pairs if pair.left and pair.left.kind == "removed"] == removed
    added = [line for line in rows if line.kind == "added"]
    assert [pair.right for pair in pairs if pair.right and pair.right.kind == "added"] == added


def test_only_the_words_that_differ_are_marked():
    removed, added = unified_rows(hunks(["Use when numbers are late."], ["Use when numbers are wrong."]))[1:]
    assert [piece.text for piece in removed.pieces if piece.marked] == ["late"]
    assert [piece.text for piece in added.pieces if piece.marked] == ["wrong"]


def test_lines_that_have_nothing_in_common_are_not_compared():
    removed, added = unified_rows(hunks(["one two three"], ["4 5 6 7 8 9"]))[1:]
    assert not any(piece.marked for line in (removed, added) for piece in line.pieces)
