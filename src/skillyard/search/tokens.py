"""Turning text of any language into the tokens that search compares.

Latin words are lower-cased, freed of accents and lightly stemmed; code-like names are split at `-`, `_`
and camelCase; Chinese, Japanese and Korean become pairs of characters, because they have no word borders
that a machine could see.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from skillyard.search.stopwords import STOP_WORDS
from skillyard.skill.normal_form import normalized

_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HAN_KANA: Final = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL: Final = "\u1100-\u11ff\uac00-\ud7a3"
_SEGMENT: Final = re.compile(f"[{_HAN_KANA}]+|[{_HANGUL}]+|[^{_HAN_KANA}{_HANGUL}]+")
_PAIRED: Final = re.compile(f"[{_HAN_KANA}{_HANGUL}]")
_MIN_STEM: Final = 3
_UNCHANGED: Final = 4
"""Words this short are left as they are, apart from a plural `s`."""
_LONG_WORD: Final = 64
"""Longer words are cut anew each time: to remember them would take more memory than it saves time."""


def tokenize(text: str) -> list[str]:
    """The tokens of a text in their order, stop words left out."""
    return [token for word in _words(text) for token in _cut(word) if token not in STOP_WORDS]


def count_tokens(text: str, counts: dict[str, int]) -> None:
    """Add how often each token stands in a text, stop words left out. A word that comes again is not cut again."""
    for word, count in Counter(_words(text)).items():
        for token in _cut(word):
            if token not in STOP_WORDS:
                counts[token] = counts.get(token, 0) + count


def is_paired(token: str) -> bool:
    """Whether a token is a pair of Chinese, Japanese or Korean characters and not a word."""
    return bool(_PAIRED.match(token))


def _words(text: str) -> list[str]:
    return _WORD.findall(normalized("NFKC", text))


def _cut(word: str) -> Iterable[str]:
    return _tokens_of(word) if len(word) <= _LONG_WORD else _tokens(word)


@lru_cache(maxsize=65_536)
def _tokens_of(word: str) -> tuple[str, ...]:
    return tuple(_tokens(word))


def _tokens(word: str) -> Iterator[str]:
    if word.isascii():
        yield from _latin(word)
        return
    for segment in _SEGMENT.findall(word):
        yield from _pairs(segment) if _PAIRED.match(segment) else _latin(_without_accents(segment))


def _latin(word: str) -> Iterator[str]:
    lowered = word.lower()
    yield stem(lowered)
    if lowered in {word, word[:1].lower() + word[1:]}:
        return
    parts = _CAMEL.findall(word)
    if len(parts) > 1:
        # `GitHub` is asked for as "github" and as "git hub": both must find it.
        yield from (stem(part.lower()) for part in parts if len(part) > 1)


def _pairs(segment: str) -> Iterator[str]:
    if len(segment) == 1:
        yield segment
    for start in range(len(segment) - 1):
        yield segment[start : start + 2]


def _without_accents(word: str) -> str:
    return "".join(char for char in normalized("NFKD", word) if not unicodedata.combining(char))


def stem(word: str) -> str:
    """A word without its English ending, so that `reviews`, `reviewed` and `reviewing` are one."""
    if not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    if len(word) <= _UNCHANGED:
        return word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
            word = _single_end(word[: -len(ending)])
            break
    else:
        if word.endswith(("tion", "sion", "ator")) and len(word) > len("nation"):
            word = word[: -len("or" if word.endswith("or") else "ion")]
    return word[:-1] if word.endswith("e") and len(word) > _UNCHANGED else word


def _singular(word: str) -> str:
    if len(word) <= _MIN_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _UNCHANGED:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def _has_vowel(start: str) -> bool:
    return len(start) >= _MIN_STEM and any(char in "aeiouy" for char in start)


def _single_end(start: str) -> str:
    doubled = len(start) > _MIN_STEM and start[-1] == start[-2] and start[-1] not in "lsz"
    return start[:-1] if doubled else start
