"""How alike two skills are: a small fixed-size signature of a text, made without a model."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from operator import eq
from struct import Struct
from typing import Final
from zlib import crc32

from skillyard.skill.normal_form import normalized

NEAR: Final = 0.8
"""From this similarity on, two texts are one text with small edits."""

_BINS: Final = 128
_LAYOUT: Final = Struct(f"<{_BINS}I")
_BAND: Final = 16
"""Two texts are compared when these bytes, four bins, agree somewhere; near ones practically always do."""
_CROWD: Final = 16
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_]+")
"""A word, or one character of the scripts that do not part words."""
_MASK: Final = 2**64 - 1
_BIN_MASK: Final = 2**32 - 1
_FACTORS: Final = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)


class Likeness(StrEnum):
    SAME = "same"
    NEAR = "near"
    OTHER = "other"


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


def likeness(one: Signature, other: Signature) -> Likeness:
    if one.key == other.key:
        return Likeness.SAME
    return Likeness.NEAR if similarity(one, other) >= NEAR else Likeness.OTHER


def alike(signatures: Mapping[str, Signature]) -> Iterator[tuple[str, str, float]]:
    """The pairs of names whose texts are the same or near, without comparing each with each.

    Of many that are the same or made from one template, each is paired with the first, which stands for them all.
    """
    first: dict[str, str] = {}
    for name, one in signatures.items():
        leader = first.setdefault(one.key, name)
        if leader != name:
            yield leader, name, 1.0
    for left, right in sorted(_candidates({name: signatures[name] for name in first.values()})):
        score = similarity(signatures[left], signatures[right])
        if score >= NEAR:
            yield left, right, score


def _candidates(signatures: Mapping[str, Signature]) -> set[tuple[str, str]]:
    bands: dict[tuple[int, bytes], list[str]] = defaultdict(list)
    for name, one in signatures.items():
        for start in range(0, len(one.sample), _BAND):
            bands[start, one.sample[start : start + _BAND]].append(name)
    return {pair for names in bands.values() for pair in _paired(names)}


def _paired(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each with each in a small group; in a crowd made from one template each with the first, to stay linear."""
    if len(names) <= _CROWD:
        yield from combinations(names, 2)
    else:
        yield from ((names[0], name) for name in names[1:])


def _sampled(text: str) -> bytes:
    """One pass of hashing, the hashes dealt into bins, the smallest of each kept."""
    bins: dict[int, int] = {}
    for phrase in _phrases(text):
        place, rest = phrase % _BINS, phrase // _BINS
        if rest < bins.get(place, _MASK):
            bins[place] = rest
    return _LAYOUT.pack(*_filled(bins)) if bins else b""


def _phrases(text: str) -> Iterator[int]:
    """A number for every three words in a row; for a shorter text, for all of it."""
    words = [crc32(word.encode(errors="surrogatepass")) for word in _TOKEN.findall(text.casefold())]
    if not words:
        return
    words += [0] * (len(_FACTORS) - len(words))
    one, two, three = _FACTORS
    for first, second, third in zip(words, words[1:], words[2:], strict=False):
        mixed = (first * one + second * two + third * three) & _MASK
        yield ((mixed ^ mixed >> 32) * one & _MASK) >> 8


def _filled(bins: Mapping[int, int]) -> Iterator[int]:
    """Every bin; an empty one takes what the next full one has, marked by the distance so that luck stays rare."""
    for place in range(_BINS):
        steps = next(steps for steps in range(_BINS) if (place + steps) % _BINS in bins)
        yield (bins[(place + steps) % _BINS] + steps * _FACTORS[0]) & _BIN_MASK
