"""The names of learned skills: valid, and nobody else's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.releases.rendering.names import settled_name
from skillyard.skill.names import is_valid_name


@pytest.mark.parametrize(
    ("key", "taken", "name"),
    [
        ("order-form", (), "order-form"),
        ("Order Form!", (), "order-form"),
        ("python-sandbox", {"python-sandbox"}, "learned-python-sandbox"),
        ("python-sandbox", {"python-sandbox", "learned-python-sandbox"}, "learned-python-sandbox-2"),
        ("注文 を 作る", (), "注文-を-作る"),
        ("x" * 80, {"x" * 64}, "learned-" + "x" * 56),
        ("nul", (), "nul-skill"),
    ],
)
def test_a_name_is_the_key_or_says_that_it_was_learned(key, taken, name):
    assert settled_name(key, taken) == name
    assert settled_name(key, lambda wanted: wanted in taken) == name


@given(st.text(max_size=90), st.integers(0, 12))
def test_whatever_the_key_the_name_is_valid_and_free(key, taken_so_far):
    taken = set()
    for _ in range(taken_so_far + 1):
        name = settled_name(key, taken)
        assert is_valid_name(name)
        assert name not in taken
        taken.add(name)
