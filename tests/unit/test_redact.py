import pytest

from skillyard.redact import redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("token sky_abcDEF-123_456 used", "token sky_*** used"),
        ("Authorization: Bearer abcdefghijklmnop.q", "Authorization: Bearer ***"),
        ("postgresql://me:p%40ss@db/yard", "postgresql://me:***@db/yard"),
        ("see https://example.com:8443/a@b", "see https://example.com:8443/a@b"),
        ("the bearer of news, a sky_line", "the bearer of news, a sky_line"),
    ],
)
def test_secrets_are_taken_out_and_the_rest_is_kept(text, expected):
    assert redact(text) == expected
