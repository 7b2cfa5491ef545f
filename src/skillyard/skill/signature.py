"""How alike two texts are: a small fixed-size signature of each, made without a model."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import eq
from struct import Struct
from typing import Final
from zlib import crc32

from skillyard.skill.normal_form import normalized

BAND: Final = 16
"""Two texts are worth comparing when so many bytes of their samples, four bins, agree somewhere."""
_BINS: Final = 128
_LAYOUT: Final = Struct(f"<{_BINS}I")
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_]+")
"""A word, or one character of the scripts that do not part words."""
_PHRASE: Final = 3
_MASK: Final = 2**32 - 1
_FACTOR: Final = 0x9E3779B1
_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    """What is kept of a text to compare it: a key for equality, and a sample of its three-word phrases."""

    key: str
    """Equal for texts that differ in line ends and trailing space at most."""
    sample: bytes
    """The smallest hash in each bin, four bytes each; empty for a text without words."""


def signature(text: str) -> Signature:
    """The signature of a text, the same on every machine and run."""
    text = normalized("NFC", text.removeprefix("\ufeff"))
    plain = _TRAILING.sub("", text.replace("\r\n", "\n")).strip()
    key = hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest()
    return Signature(key=key, sample=_sampled(plain))


def similarity(one: Signature, other: Signature) -> float:
    """The share of phrases two texts have in common, estimated to a few hundredths; 1.0 only for the same text."""
    if one.key == other.key:
        return 1.0
    if not one.sample or not other.sample:
        return 0.0
    equal = sum(map(eq, _LAYOUT.unpack(one.sample), _LAYOUT.unpack(other.sample)))
    return min(equal, _BINS - 1) / _BINS


def words_of(text: str) -> set[str]:
    """The words of a text as signatures see them, without case."""
    return set(_words(text))


def _words(text: str) -> list[str]:
    return _TOKEN.findall(text.casefold())


def _sampled(text: str) -> bytes:
    """One pass of hashing, the hashes dealt into bins, the smallest of each kept."""
    words = _words(text)
    if not words:
        return b""
    words += [""] * (_PHRASE - len(words))
    phrases = {
        crc32(f"{one} {two} {three}".encode(errors="surrogatepass"))
        for one, two, three in zip(words, words[1:], words[2:], strict=False)
    }
    mixed = sorted([phrase * _FACTOR & _MASK for phrase in phrases], reverse=True)
    # The last one to come into a bin is its smallest.
    return _LAYOUT.pack(*_filled({number % _BINS: number // _BINS for number in mixed}))


def _filled(bins: Mapping[int, int]) -> list[int]:
    """Every bin; an empty one takes what the next full one has, marked by the distance so that luck stays rare."""
    filled = [0] * _BINS
    full = min(bins) + _BINS
    for place in reversed(range(_BINS)):
        if place in bins:
            full = place
        filled[place] = (bins[full % _BINS] + (full - place) * _FACTOR) & _MASK
    return filled
