"""Patterns of others: globs over addresses, and regular expressions that cannot hold anything up."""

import pytest

from skillyard.releases.replay import patterns
from skillyard.releases.replay.patterns import fill_glob, found, glob_matches

URL = "http://127.0.0.1:80/orders/7/edit?who=Ada+L"


@pytest.mark.parametrize(
    ("glob", "matches"),
    [
        ("/orders", True),
        ("**/orders/*/edit**", True),
        ("**/orders/*", False),
        ("http://127.0.0.1:80/orders/7/edit?who=Ada+L", True),
        ("http://127.0.0.1:80/orders", False),
        ("**who={{who}}", True),
        ("/orders/{{star}}", False),
        ("**", True),
        ("*", False),
    ],
)
def test_a_glob_is_matched_as_a_whole_unless_it_is_only_a_part(glob, matches):
    values = {"who": "Ada+L", "star": "*"}
    assert glob_matches(fill_glob(glob, values.__getitem__), URL) is matches


def test_no_glob_takes_long():
    assert not glob_matches(fill_glob("**a" * 200 + "b", str), "a" * 4_000)


@pytest.mark.anyio
@pytest.mark.parametrize(("pattern", "is_found"), [(r"n=\d+", True), (r"^n=\d$", False), ("日", True)])
async def test_an_expression_is_searched_for(pattern, is_found, anyio_backend):
    assert await found(pattern, "n=12\n日本") is is_found


@pytest.mark.anyio
async def test_an_expression_that_would_take_years_is_not_found(monkeypatch, anyio_backend):
    monkeypatch.setattr(patterns, "_SECONDS", 0.5)
    assert not await found("(a+)+$", "a" * 60 + "b")
