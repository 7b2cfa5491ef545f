"""Keeps secrets out of what is written down for people."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

# Each pattern is tried only where its mark is: text without secrets, which is nearly all, costs next to nothing.
_PATTERNS: Final = (
    ("sky_", re.compile(r"sky_[A-Za-z0-9_-]{6,}"), "sky_***"),
    ("earer ", re.compile(r"([Bb]earer +)[A-Za-z0-9._~+/=-]{16,}"), r"\1***"),
    ("://", re.compile(r"(://[^\s/:@\"]*:)(?!\{\{secret)[^\s/@\"]+(?=@)"), r"\1***"),
)


def redact(text: str) -> str:
    """The text without tokens of ours, credentials of a Bearer header and passwords in URLs."""
    for mark, pattern, instead in _PATTERNS:
        if mark in text:
            text = pattern.sub(instead, text)
    return text


def storable(text: str) -> str:
    """Text that every database and every client can read: without zero bytes and halves of characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


_MARK: Final = b"***"
_ENCODED_FROM: Final = 4
"""Shorter values are redacted as they are, but not in other forms: those would be found where no secret is."""
_LINE_FROM: Final = 8
"""Of a secret of several lines, each line this long is a secret by itself."""
_SEPARATED: Final = (
    *(("", between) for between in (":", " ", "-", ",")),
    *(("0x", between) for between in (",", ", ", " ")),
    *((before, "") for before in ("\\x", "%")),
)
"""What tools write before each byte in hexadecimal digits, and between two of them."""
_BASE64_WIDTHS: Final = (64, 76)
_HEX_WIDTH: Final = 60
"""Characters after which tools begin a new line."""


class Secrets:
    """Values that must not be seen, in whatever form they are printed: raw, base64, URL, JSON, HTML, hexadecimal."""

    def __init__(self, values: Iterable[str]) -> None:
        forms = {form for value in values for form in forms_of(value) if form}
        self._forms: Final = tuple(sorted(forms, key=len, reverse=True))

    def __repr__(self) -> str:
        return "Secrets(***)"

    def text(self, text: str) -> str:
        """The text without them."""
        if not self._forms:
            return text
        return self.data(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def data(self, data: bytes) -> bytes:
        """The bytes without them."""
        stream = self.stream()
        return stream.feed(data) + stream.finish()

    def stream(self) -> "SecretStream":
        """For output that comes in pieces, at whose borders a secret may be cut in two."""
        return SecretStream(self._forms)


class SecretStream:
    """Takes pieces, and gives them back without secrets; what may be the start of one is held until more is known."""

    def __init__(self, forms: tuple[bytes, ...]) -> None:
        self._forms = forms
        self._longest = max(map(len, forms), default=0)
        self._by_first: dict[int, list[bytes]] = {}
        for form in forms:
            self._by_first.setdefault(form[0], []).append(form)
        self._held = b""
        self._hidden = 0
        """So much of the start of what is held belongs to a secret that was already replaced."""

    def feed(self, data: bytes) -> bytes:
        if not self._forms:
            return data
        held = self._held + data
        return self._release(held, self._open_end(held))

    def finish(self) -> bytes:
        return self._release(self._held, len(self._held))

    def _release(self, data: bytes, until: int) -> bytes:
        kept: list[bytes] = []
        at = hidden = 0
        for start, end in self._spans(data):
            goes_on = start == 0 and self._hidden > 0
            if start >= until and not goes_on:
                break
            kept.append(data[at:start])
            if not goes_on:
                kept.append(_MARK)
            at = min(end, until)
            hidden = max(0, end - until)
        kept.append(data[at:until])
        self._held = data[until:]
        self._hidden = hidden
        return b"".join(kept)

    def _open_end(self, data: bytes) -> int:
        """Where the first thing starts that could become a secret when more comes."""
        for at in range(max(0, len(data) - self._longest + 1), len(data)):
            forms = self._by_first.get(data[at])
            if forms is not None and any(len(form) > len(data) - at and form.startswith(data[at:]) for form in forms):
                return at
        return len(data)

    def _spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Where secrets are, those that overlap as one."""
        found = [(0, self._hidden)] if self._hidden else []
        for form in self._forms:
            at = data.find(form)
            while at >= 0:
                end = at + len(form)
                found.append((at, end))
                at = data.find(form, at + 1)
        found.sort()
        start = end = -1
        for first, last in found:
            if first >= end:
                if end > start:
                    yield start, end
                start, end = first, last
            else:
                end = max(end, last)
        if end > start:
            yield start, end


def forms_of(value: str) -> Iterator[bytes]:
    """A value in each of the ways in which it may be printed."""
    lines = [line.strip() for line in value.splitlines()]
    for text in {value, value.strip(), *(line for line in lines if len(line) >= _LINE_FROM and len(lines) > 1)}:
        raw = text.encode(errors="surrogatepass")
        yield raw
        if len(raw) >= _ENCODED_FROM:
            yield from _encoded(text, raw)
    whole = value.strip().encode(errors="surrogatepass")
    if len(whole) >= _ENCODED_FROM:
        yield from _spread(whole)


def _encoded(text: str, raw: bytes) -> Iterator[bytes]:
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield quoted.encode()
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted).encode()
    for escaped in (json.dumps(text), json.dumps(text, ensure_ascii=False), repr(text)):
        yield escaped[1:-1].encode(errors="surrogatepass")
    yield html.escape(text).encode(errors="surrogatepass")
    for before in range(3):  # where it starts within a group of three bytes decides how it is written
        whole = base64.b64encode(b"\0" * before + raw)
        first = (before * 4 + 2) // 3  # characters that also depend on what stands before
        last = (len(raw) + before) * 8 // 6  # characters that do not depend on what follows
        yield whole[first:last]
        yield whole[first:last].translate(bytes.maketrans(b"+/", b"-_"))


def _spread(raw: bytes) -> Iterator[bytes]:
    """A whole value with signs between its bytes, or over several lines."""
    for digits in (raw.hex(), raw.hex().upper()):
        yield _wrapped(digits.encode(), _HEX_WIDTH)
        pairs = [digits[at : at + 2] for at in range(0, len(digits), 2)]
        for before, between in _SEPARATED:
            yield between.join(before + pair for pair in pairs).encode()
    for width in _BASE64_WIDTHS:
        yield _wrapped(base64.b64encode(raw)[: len(raw) * 8 // 6], width)


def _wrapped(encoded: bytes, width: int) -> bytes:
    return b"\n".join(encoded[at : at + width] for at in range(0, len(encoded), width))
