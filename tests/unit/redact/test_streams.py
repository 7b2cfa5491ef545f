import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.redact import Secrets, SecretStream, redact


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


SECRET = "p@ss/wörd+12 \"x\" <&> '%'"
FORMS = {
    "raw": SECRET,
    "hex": SECRET.encode().hex(),
    "upper hex": SECRET.encode().hex().upper(),
    "hex with colons": SECRET.encode().hex(":"),
    "hex with spaces": SECRET.encode().hex(" "),
    "upper hex with dashes": SECRET.encode().hex("-").upper(),
    "bytes of C": ", ".join(f"0x{byte:02x}" for byte in SECRET.encode()),
    "bytes without spaces": ",".join(f"0x{byte:02X}" for byte in SECRET.encode()),
    "bytes of printf": "".join(f"\\x{byte:02x}" for byte in SECRET.encode()),
    "url in which all is quoted": "".join(f"%{byte:02X}" for byte in SECRET.encode()),
    "url": quote(SECRET, safe=""),
    "url with slashes": quote(SECRET),
    "form": quote_plus(SECRET),
    "lower url": re.sub("%..", lambda found: found[0].lower(), quote(SECRET, safe="")),
    "json": json.dumps(SECRET)[1:-1],
    "json in utf-8": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "python": repr(SECRET)[1:-1],
    "html": html.escape(SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 for urls": base64.urlsafe_b64encode(SECRET.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_secret_is_taken_out_in_every_form(form):
    seen = Secrets([SECRET]).text(f"before {form} after")
    assert seen.startswith("before ***")
    assert seen.endswith(" after")
    assert len(seen) < len("before *** after") + 4  # the last characters of base64 also depend on what follows


@pytest.mark.parametrize("before", [b"", b"u", b"us", b"user:", b"\xff" * 7])
@pytest.mark.parametrize("after", [b"", b":x", b"\0" * 5])
def test_a_secret_within_something_in_base64_is_taken_out(before, after):
    encoded = base64.b64encode(before + SECRET.encode() + after)
    seen = Secrets([SECRET]).data(encoded)
    assert b"***" in seen
    assert len(seen) <= len(base64.b64encode(before)) + len(base64.b64encode(after)) + 3 + 4


LONG = "0123456789abcdef" * 8
WRAPPED = {
    "base64": base64.encodebytes(LONG.encode()),
    "base64 of openssl": re.sub(b"(.{64})", rb"\1\n", base64.b64encode(LONG.encode())),
    "hex of xxd": re.sub(b"(.{60})", rb"\1\n", LONG.encode().hex().encode()),
}


@pytest.mark.parametrize("form", WRAPPED.values(), ids=WRAPPED.keys())
def test_a_long_secret_is_taken_out_over_the_ends_of_lines(form):
    seen = Secrets([LONG]).data(b"before " + form)
    assert seen.startswith(b"before ***")
    assert len(seen) < len(b"before ***") + 6


def test_each_line_of_a_long_secret_is_one():
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n"
    seen = Secrets([key]).text("  MIIEvQIBADANBgkq\n  hkiG9w0BAQEFAASC\n" + key)
    assert "MIIE" not in seen
    assert "hkiG" not in seen


def test_a_value_is_found_without_the_end_of_line_that_came_with_it():
    assert Secrets(["token-12345\n"]).text("<token-12345>") == "<***>"


def test_short_values_are_hidden_as_they_are_and_empty_ones_nowhere():
    assert Secrets(["", "ab"]).text("cab 6162 YWI=") == "c*** 6162 YWI="


def test_secrets_that_overlap_are_hidden_together():
    assert Secrets(["abcd", "cdef"]).text("xabcdefx") == "x***x"
    assert Secrets(["abab"]).text("xabababx") == "x***x"
    assert Secrets(["secret", "secret-longer"]).text("a secret-longer b") == "a *** b"


def test_without_secrets_nothing_changes():
    stream = Secrets([]).stream()
    assert stream.feed(b"any \xff") + stream.finish() == b"any \xff"
    assert Secrets([""]).text("text \ud800") == "text \ud800"


def test_secrets_do_not_show_themselves():
    assert "hidden" not in repr(Secrets(["hidden"]))


def test_what_cannot_become_a_secret_is_not_held_back():
    stream = Secrets(["secret"]).stream()
    assert stream.feed(b"line\n") == b"line\n"
    assert stream.feed(b"is it sec") == b"is it "
    assert stream.feed(b"ond") == b"second"
    assert stream.feed(b" sec") == b" "
    assert stream.feed(b"ret") == b"***"
    assert stream.feed(b"secre") == b""
    assert stream.finish() == b"secre"


pieces = st.lists(st.sampled_from([b"a", b"b", b"ab", b"aba", b"abab", b"ba", b"x", b"abcab", b"c"]), max_size=40)


@given(pieces, st.sampled_from([["abab"], ["aa"], ["ab", "bab"], ["abcab", "cabx"], ["a"], ["aba", "b"]]))
def test_a_stream_in_pieces_hides_what_the_whole_hides(said, values):
    stream = Secrets(values).stream()
    seen = b"".join([*(stream.feed(piece) for piece in said), stream.finish()])
    assert seen == Secrets(values).data(b"".join(said))
    for value in values:
        assert value.encode() not in seen


@given(st.text(min_size=1, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_no_secret_is_ever_left(secret, before, after):
    seen = Secrets([secret]).text(before + secret + after)
    assert secret not in seen or secret in "***"


HOSTILE = {
    "the start of a secret again and again": b"p@ss/w",
    "nearly a secret": SECRET.encode()[:-1],
    "the first letter, far apart": b"p" + b" " * 5000,
    "numbers that are nearly one": SECRET.encode().hex(" ").encode()[:-2],
    "rows without an end": b"\n00000000 70 40 73 73",
    "controls without an end": b"\x1b[",
    "offsets": b"\n0000 ",
    "secrets": SECRET.encode() + b"\n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize(("size", "most"), [(64 * 1024, 2), (100, 12)])
def test_hostile_output_is_looked_through_a_few_times_at_most(unit, size, most, monkeypatch):
    looked = 0
    spans = SecretStream._spans

    def counted(self, data, *, last):
        nonlocal looked
        looked += len(data)
        return spans(self, data, last=last)

    monkeypatch.setattr(SecretStream, "_spans", counted)
    data = (unit * (200_000 // len(unit) + 1))[:200_000]
    stream = Secrets([SECRET]).stream()
    held = fed = 0
    for at in range(0, len(data), size):
        piece = data[at : at + size]
        fed += len(piece)
        stream.feed(piece)
        held = max(held, len(stream._held) + len(stream._coming))
    stream.finish()
    assert looked <= most * fed + 100_000
    assert held <= 32 * 1024
