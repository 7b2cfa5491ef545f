import base64
import itertools
import os
import random
import string
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.secret_layouts import LAYOUTS, printed

from skillyard.redact import Secrets

SECRET = "Vermilion-77!secretXQ"
LEAST = 4
"""So many bytes of a secret in a row are never shown, at whatever place output is cut."""
SIGNS = string.ascii_letters + string.digits + "!#$%&()*+-./:;<=>?@[]^_{}~"
secrets = st.text(SIGNS, min_size=12, max_size=44).filter(lambda text: len(set(text)) > 4 and not text.isdigit())
layouts = st.sampled_from(sorted(LAYOUTS))
BEFORE = b"~ the value:\n"


def told(secret: str, data: bytes, sizes: list[int], *, cut: bool) -> bytes:
    """What is shown of output that comes in pieces."""
    stream = Secrets([secret]).stream()
    seen, at = b"", 0
    for size in itertools.cycle(sizes):
        if at >= len(data):
            break
        seen += stream.feed(data[at : at + size])
        at += size
    return seen + stream.finish(cut=cut)


def room(secret: str, form: bytes) -> int:
    """Characters of a form for fewer bytes than are never shown."""
    return -(-(LEAST - 1) * len(form) // len(secret)) + 2


sizes = st.lists(st.integers(1, 40), min_size=1, max_size=5)


@given(secrets, layouts, sizes)
def test_a_secret_is_hidden_in_every_layout_however_it_comes(secret, layout, sizes):
    form = printed(layout, secret)
    seen = told(secret, BEFORE + form + b"\n~~\n", sizes, cut=False)
    assert b"***" in seen
    assert len(seen) <= len(BEFORE) + len(b"***") + len(b"\n~~\n") + 2 * room(secret, form)


@given(secrets, layouts, sizes, st.floats(0, 1))
def test_what_may_be_the_start_of_a_secret_is_not_shown_where_output_is_cut(secret, layout, sizes, share):
    form = printed(layout, secret)
    size = round(share * len(form))
    seen = told(secret, BEFORE + form[:size], sizes, cut=True)
    rest = seen.removeprefix(BEFORE[: len(seen)]).replace(b"***", b"")
    assert len(rest) <= room(secret, form)
    assert not any(secret[at : at + LEAST].encode() in rest for at in range(len(secret) - LEAST + 1))


@given(secrets, st.integers(1, 3000), st.integers(0, 60))
def test_no_part_of_a_repeated_secret_is_left_where_output_is_cut(secret, limit, gap):
    data = (b"." * gap + secret.encode()) * 100
    seen = told(secret, data[:limit], [limit], cut=True)
    assert not any(secret[at : at + LEAST].encode() in seen for at in range(len(secret) - LEAST + 1))


@given(st.text(min_size=1, max_size=12), st.integers(0, 40))
def test_of_a_short_secret_nothing_is_left_where_output_is_cut(secret, size):
    assume(not set(secret) & set("text "))
    data = ("text " + secret).encode(errors="surrogatepass")[: 5 + size]
    stream = Secrets([secret]).stream()
    seen = stream.feed(data) + stream.finish(cut=True)
    assert b"text ".startswith(seen.removesuffix(b"***"))


TOOLS = (
    ["od", "-An", "-tx1"],
    ["od", "-tx1"],
    ["od", "-x"],
    ["od"],
    ["od", "-c"],
    ["od", "-b"],
    ["od", "-An", "-tu1"],
    ["od", "-tx1z"],
    ["od", "-tx4"],
    ["hexdump"],
    ["hexdump", "-C"],
    ["hexdump", "-c"],
    ["xxd"],
    ["xxd", "-p"],
    ["xxd", "-i"],
    ["xxd", "-e"],
    ["xxd", "-c", "8"],
    ["base32"],
    ["base64", "-w", "10"],
    ["rev"],
    ["fold", "-w1"],
    ["sed", "s/./& /g"],
    ["iconv", "-t", "UTF-16LE"],
    ["iconv", "-t", "UTF-16BE"],
)


@pytest.mark.parametrize("tool", TOOLS, ids=" ".join)
@pytest.mark.parametrize("before", ["", "abc", "seventeen letters "])
def test_what_tools_make_of_a_secret_is_hidden(tool, before):
    try:
        made = subprocess.run(tool, input=f"{before}{SECRET}\n".encode(), capture_output=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip(f"{tool[0]} is not here")
    for size in (1, 7, 64, len(made)):
        seen = told(SECRET, made, [size], cut=False)
        assert b"***" in seen
        assert len(seen) <= len(made) * (len(before) + 6) / len(SECRET) + 60
        for at in range(len(SECRET) - 3):
            part = SECRET[at : at + 4].encode()
            for form in (
                part,
                part[::-1],
                part.hex().encode(),
                part.hex(" ").encode(),
                b" ".join(bytes([b]) for b in part),
            ):
                assert form not in seen


@pytest.mark.parametrize("encode", [base64.b64encode, base64.b32encode, base64.b85encode, base64.a85encode])
@pytest.mark.parametrize("before", range(6))
def test_a_secret_is_hidden_within_something_that_is_encoded(encode, before):
    whole = encode(b"u" * before + SECRET.encode() + b" and more")
    seen = Secrets([SECRET]).data(whole)
    assert b"***" in seen
    assert len(seen) <= len(encode(b"u" * before)) + len(encode(b" and more")) + 16


def test_half_on_each_stream_and_what_is_computed_from_it_are_not_found():
    secrets = Secrets([SECRET])
    half = SECRET[: len(SECRET) // 2]
    assert secrets.text(half) == half
    assert secrets.text(SECRET.swapcase()) == SECRET.swapcase()


REAL = [*Path("src").rglob("*.py"), *Path("docs").rglob("*.md")]


@pytest.mark.parametrize("seed", range(3))
def test_ordinary_text_stays_as_it_is(seed):
    chance = random.Random(seed)
    values = ["".join(chance.choices(SIGNS, k=chance.randint(8, 40))) for _ in range(20)]
    secrets = Secrets([*values, "12345678", "77777777", "20241119", "83920174", "abcdefgh"])
    numbers = "\n".join(map(str, range(3000))) + " ".join(map(str, range(256)))
    table = "\n".join(f"{at:08x}  {os.urandom(16).hex(' ')}  |{'.' * 16}|" for at in range(0, 4096, 16))
    dates = "2024 11 19\n2024, 11, 19\n8392 0174\na b c d e f g h\n1, 2, 3, 4, 5, 6, 7, 8\n"
    for text in (numbers, table, dates):
        assert secrets.text(text) == text
    for path in chance.sample(REAL, 60):
        data = path.read_bytes().replace(b"12345678", b"").replace(b"77777777", b"").replace(b"abcdefgh", b"")
        assert secrets.data(data) == data


def test_a_value_of_the_same_size_stays_in_its_place():
    stream = Secrets([SECRET]).stream(same_size=True)
    data = b"\0\1head" + SECRET.encode() + b"tail\0" + SECRET.encode()[:9]
    seen = stream.feed(data[:20]) + stream.feed(data[20:]) + stream.finish()
    assert seen == b"\0\1head" + b"*" * len(SECRET) + b"tail\0" + SECRET.encode()[:9]


def test_a_secret_learned_later_is_hidden_in_a_stream_that_runs():
    secrets = Secrets(["another-secret"])
    stream = secrets.stream()
    assert stream.feed(b"~~\n") == b"~~\n"
    secrets.add(SECRET)
    assert stream.feed(SECRET.encode() + b"\n") + stream.finish() == b"***\n"
