"""Guessing which word of a name a misspelt or unfinished word means."""

from collections.abc import Iterable
from typing import Final

MIN_LENGTH: Final = 4
LONG: Final = 8
"""Words at least this long may have two mistakes, shorter ones one."""
UNFINISHED: Final = 0.8
MISSPELT: Final = (1.0, 0.7, 0.5)
"""How sure a guess is after so many mistakes."""


def near_words(word: str, vocabulary: Iterable[str]) -> list[tuple[str, float]]:
    """The words of a vocabulary that `word` may have meant, each with how sure that is (below 1)."""
    if len(word) < MIN_LENGTH or not word.isascii() or not word.isalpha():
        return []
    allowed = 2 if len(word) >= LONG else 1
    found: list[tuple[str, float]] = []
    for known in vocabulary:
        if known.startswith(word):
            found.append((known, UNFINISHED))
        elif known[0] == word[0] and abs(len(known) - len(word)) <= allowed:
            mistakes = distance(word, known, at_most=allowed)
            if mistakes <= allowed:
                found.append((known, MISSPELT[mistakes]))
    return found


def near_pairs(char: str, vocabulary: Iterable[str]) -> list[tuple[str, float]]:
    """The character pairs that a single Chinese, Japanese or Korean character is part of."""
    return [(pair, UNFINISHED) for pair in vocabulary if char in pair] if len(char) == 1 else []


def distance(one: str, other: str, *, at_most: int) -> int:
    """How many letters were inserted, dropped, changed or swapped; `at_most + 1` when more than allowed."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        older, before, row = before, row, [i] + [0] * len(other)
        for j, right in enumerate(other, start=1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                row[j] = min(row[j], older[j - 2] + 1)
        if min(row) > at_most:
            return at_most + 1
    return min(row[-1], at_most + 1)
