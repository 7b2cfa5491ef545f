"""The forms in which programs print a value, each with the view in which it is searched for."""

import base64
import html
import json
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from urllib.parse import quote, quote_plus

from skillyard.redact.views import DIGITS, EXACT, HEX, SQUEEZED, View

_ENCODED_FROM: Final = 4
"""Bytes; shorter values are found unchanged only, because their other forms would match where no secret is."""
_SPREAD_FROM: Final = 8
"""Shorter values are not found with other things between their characters, backwards, or in the rarer forms."""
_NUMBER_FROM: Final = 12
"""Digits; tables of numbers often contain the digits of a shorter one."""
_GROUPED_FROM: Final = 16
"""Of base85 in the middle of something, where only whole groups of four bytes are written alike."""
_FOUND_FROM: Final = 7
"""The least bytes of a form in a view that skips characters."""
_LINE_FROM: Final = 8
"""Each line of this length in a secret of several lines is a secret of its own."""
_SEPARATED: Final = (
    *(("", between) for between in (":", " ", "-", ",")),
    *(("0x", between) for between in (",", ", ", " ")),
    *((before, "") for before in ("\\x", "%")),
)
"""What tools write before each byte in hexadecimal digits, and between two of them."""
_WORDS: Final = (2, 4)
"""Bytes that tools turn around to print them as one number."""
_BITS_OF: Final = {64: 6, 32: 5}


def forms_of(value: str) -> Iterator[tuple[View, bytes]]:
    """What to search for in which view, to find a value or one of its longer lines."""
    lines = [line.strip() for line in value.splitlines()]
    whole = {value, value.strip()}
    for text in whole:
        yield from _forms(text, rare=True)
    if len(lines) > 1:
        for line in {line for line in lines if len(line) >= _LINE_FROM} - whole:
            yield from _forms(line, rare=False)


def _forms(text: str, *, rare: bool) -> Iterator[tuple[View, bytes]]:
    raw = _bytes(text)
    if not raw:
        return
    if not _can_be_spread(raw):
        yield EXACT, raw
        if len(raw) >= _ENCODED_FROM:
            yield from ((EXACT, form) for form in (*_escaped(text, raw), *_base64(raw), *_hexadecimal(raw)))
        return
    if SQUEEZED.read(raw[:1] + raw[-1:]) != raw[:1] + raw[-1:]:
        yield EXACT, raw
    found = [raw, *_escaped(text, raw), *_base64(raw)]
    if rare:
        found += _rare(text, raw)
    for form in found:
        squeezed = SQUEEZED.read(form)
        yield (SQUEEZED, squeezed) if len(squeezed) >= _FOUND_FROM else (EXACT, form)
    yield from _numbers(text, raw, rare=rare)


def _can_be_spread(raw: bytes) -> bool:
    """Whether only the value is likely to have its bytes in this order, with other characters in between."""
    return len(raw) >= (_NUMBER_FROM if raw.isdigit() else _SPREAD_FROM) and not _counts(raw)


def _counts(raw: bytes) -> bool:
    """Whether its characters are in sequence or repeat, like 1234 or aaaa."""
    return len({second - first for first, second in pairwise(raw)}) <= 1


def _escaped(text: str, raw: bytes) -> Iterator[bytes]:
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted).encode()
    for escaped in (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)):
        yield _bytes(escaped[1:-1])
    yield _bytes(html.escape(text))


def _base64(raw: bytes) -> Iterator[bytes]:
    for before in range(3):  # where it starts within a group of bytes decides how it is written
        inner = _inner(base64.b64encode(bytes(before) + raw), before, raw, 64)
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


def _inner(encoded: bytes, before: int, raw: bytes, base: int) -> bytes:
    """The characters that depend on nothing but the value."""
    bits = _BITS_OF[base]
    return encoded[-(-before * 8 // bits) : (len(raw) + before) * 8 // bits]


def _hexadecimal(raw: bytes) -> Iterator[bytes]:
    for digits in (raw.hex(), raw.hex().upper()):
        yield digits.encode()
        if _counts(raw):
            continue
        pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
        for before, between in _SEPARATED:
            yield between.join(before + pair for pair in pairs).encode()


def _rare(text: str, raw: bytes) -> Iterator[bytes]:
    yield raw[::-1]
    backwards = _bytes(text[::-1])
    yield backwards
    yield from _escaped(text[::-1], backwards)
    for wide in _wide(text):
        yield wide
        yield from _base64(wide)
    for before in range(5):
        inner = _inner(base64.b32encode(bytes(before) + raw), before, raw, 32)
        yield inner
        yield inner.lower()
    for encode in (base64.b85encode, base64.a85encode):
        yield from (encode(raw), encode(raw + b"\n"))
        for skipped in range(4 if len(raw) >= _GROUPED_FROM else 0):  # whole groups of four bytes
            yield encode(raw[skipped : skipped + (len(raw) - skipped) // 4 * 4])


def _numbers(text: str, raw: bytes, *, rare: bool) -> Iterator[tuple[View, bytes]]:
    yield HEX, raw.hex().encode()
    if not rare:
        return
    for size in _WORDS:
        for skipped in range(size):
            words = [raw[at : at + size] for at in range(skipped, len(raw), size)]
            if skipped:
                words = [word for word in words if len(word) == size]  # what else is in the last one is not known
            yield HEX, b"".join(word.ljust(size, b"\0")[::-1] for word in words).hex().encode()
            yield HEX, b"".join(word[::-1] for word in words if len(word) == size).hex().encode()
    for wide in _wide(text):
        yield HEX, wide.hex().encode()
    for written in ("{}", "{:03}", "{:o}", "{:03o}"):
        yield DIGITS, "".join(map(written.format, raw)).encode()
    for skipped in range(2):
        words = [*struct.iter_unpack("<H", raw[skipped : skipped + (len(raw) - skipped) // 2 * 2])]
        for written in ("{:06o}", "{:05}", "{}"):
            yield DIGITS, "".join(written.format(*word) for word in words).encode()


def _wide(text: str) -> Iterator[bytes]:
    for encoding in ("utf-16-le", "utf-16-be"):
        yield text.encode(encoding, errors="surrogatepass")


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
