"""Answers within bounds: what is left out is said."""

import json

from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.toolsets.bounds import MAX_ROWS, cut, listed, picked, window, within


@given(st.text(max_size=500), st.integers(10, 200))
def test_a_cut_text_keeps_its_beginning_and_its_end_and_says_what_is_missing(text, limit):
    short = cut(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        assert short.startswith(text[: limit - limit // 4])
        assert short.endswith(text[len(text) - limit // 4 :])
        assert f"{len(text) - limit:,} of {len(text):,} characters are left out" in short


@given(st.text(alphabet="abc\n", max_size=300), st.integers(1, 50))
def test_a_text_can_be_read_window_by_window(text, limit):
    whole, offset = "", 0
    while True:
        part = window(text, offset, limit)
        if "read on with offset=" not in part:
            whole += part
            break
        kept, _, _ = part.rpartition("\n[…")
        whole += kept
        offset = len(whole)
    assert whole == text


def test_a_window_behind_the_end_says_where_the_end_is():
    assert window("abc", 3) == ""
    assert window("abc", 4_000) == "[… there is nothing at 4,000: it has 3 characters]"


def test_lists_are_as_long_as_fits_and_tell_how_many_there_are():
    many = listed(({"n": n} for n in range(500)), more="; use offset")
    assert len(many["items"]) == MAX_ROWS
    assert many["shown"] == f"{MAX_ROWS} of 500; use offset"
    large = listed({"text": "x" * 2_000} for _ in range(90))
    assert len(json.dumps(large)) < 70_000
    assert large["shown"].endswith("of 90")
    assert "shown" not in listed([{"n": 1}])
    assert listed([{"text": "x" * 500_000}])["items"]  # one is always shown, cut


def test_texts_are_cut_however_deep_they_are():
    deep = within({"a": [{"b": "x" * 5_000}], "n": 1, "c": {"d": "y" * 5_000}}, 100)
    assert len(json.dumps(deep)) < 500
    assert deep["n"] == 1


def test_fields_that_say_nothing_are_left_out():
    row = {"a": 0, "b": False, "c": None, "d": "", "e": [], "f": {}, "g": "x"}
    assert picked(row, "a", "b", "c", "d", "e", "f", "g", "h") == {"a": 0, "b": False, "g": "x"}
