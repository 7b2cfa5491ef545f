"""What people say and what skills say for the same thing, in several languages, from a hand-written word list.

Each line of `words/*.txt` is a concept. Its expressions are separated by commas and stand for each other;
those left of a `>` also look for those right of it, but not the other way round. A `~` before a line says
that its words only may mean the same. `#` starts a comment.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final, NamedTuple

from skillyard.search.tokens import analyzer, is_unspaced, prepared

_BORDER: Final = "zqborderzq"
"""Stands between two expressions while many are cut into tokens at once, which is much quicker."""
_AT_ONCE: Final = 250
"""Lines that are read together: more would take more memory, of which the process keeps what it once had."""
FEW_WORDS: Final = 24
"""In so short a text all words belong together, wherever they stand."""
ALMOST: Final = 3
"""Of an expression of so many words one may be missing."""

Expression = tuple[str, ...]
"""An expression as its tokens."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line of the list. Each is equal to itself alone, so that they are quickly counted."""

    ways: tuple[Expression, ...]
    """How it may be said."""
    is_loose: bool
    """Whether that is a guess, because the words have other meanings too."""


class Mention(NamedTuple):
    """A concept that a text speaks of."""

    said: Expression
    """How the text says it."""
    line: Line
    is_almost: bool = False
    """Whether a word of the expression is missing."""


class Concepts:
    """Concepts by the expressions that stand for them."""

    def __init__(self) -> None:
        self._said: dict[Expression, tuple[Line, ...]] = {}
        self._longest: dict[str, int] = {}
        """How long expressions are that begin with a token: most tokens begin none."""
        self._with: dict[str, list[Expression]] = {}
        """Expressions of several words, by each of these; pairs of characters are no words."""

    def __len__(self) -> int:
        return len(self._said)

    def add(self, said: Expression, lines: tuple[Line, ...]) -> None:
        self._longest[said[0]] = max(self._longest.get(said[0], 0), len(said))
        if len(said) > 1 and said not in self._said and not any(map(is_unspaced, said)):
            for word in dict.fromkeys(said):
                self._with.setdefault(word, []).append(said)
        self._said[said] = self._said.get(said, ()) + lines

    def mentioned(self, tokens: Sequence[str]) -> Iterator[Mention]:
        """The concepts that a tokenized text speaks of; a short one in any order of words."""
        said = list(self._word_for_word(tokens))
        for expression in said:
            for line in self._said[expression]:
                yield Mention(expression, line)
        if len(tokens) <= FEW_WORDS:
            yield from self._scattered(dict.fromkeys(tokens), set(said))

    def _word_for_word(self, tokens: Sequence[str]) -> Iterator[Expression]:
        """The expressions in a text; of those that overlap, the longest."""
        passed = 0
        for start, token in enumerate(tokens):
            if token in self._longest and start >= passed:
                for length in range(self._longest[token], 0, -1):
                    expression = tuple(tokens[start : start + length])
                    if expression in self._said:
                        yield expression
                        passed = start + length
                        break

    def _scattered(self, words: Collection[str], known: set[Expression]) -> Iterator[Mention]:
        """The concepts of which all words, or almost all, are somewhere."""
        found = Counter([expression for word in words for expression in self._with.get(word, ())])
        for expression, count in found.items():
            missing = len(set(expression)) - count
            if expression in known or missing > (len(expression) >= ALMOST):
                continue
            there = tuple(word for word in expression if word in words)
            for line in self._said[expression]:
                yield Mention(there, line, is_almost=missing > 0)


class Lexicon:
    """Concepts of which expressions stand for each other, and those where they only may."""

    def __init__(self, text: str = "") -> None:
        """Read a text in the form above."""
        self.sure = Concepts()
        self.loose = Concepts()
        known: dict[str, str] = {}
        lines = (_sides(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))
        while some := list(islice(lines, _AT_ONCE)):
            self._add(some, known)

    def _add(self, lines: Sequence["_Sides"], known: dict[str, str]) -> None:
        """Read some lines; a token that is `known` is kept once."""
        cut = _cut((expression for left, right, _ in lines for expression in left + right), known)
        for left, right, is_loose in lines:
            said = [next(cut) for _ in left]
            meant = [next(cut) for _ in right] or said
            line = (Line(tuple(filter(None, meant)), is_loose),)
            concepts = self.loose if is_loose else self.sure
            for written, expression in zip(left, said, strict=True):
                if not _is_worn(written, expression):
                    concepts.add(expression, line)

    def mentions(self, tokens: Sequence[str]) -> Iterator[Mention]:
        """The concepts that a tokenized text speaks of."""
        yield from self.sure.mentioned(tokens)
        yield from self.loose.mentioned(tokens)


@cache
def built_in() -> Lexicon:
    """The word list that comes with Skillyard."""
    words = sorted(files("skillyard.search").joinpath("words").iterdir(), key=lambda file: file.name)
    return Lexicon("\n".join(file.read_text("utf-8") for file in words))


_Sides = tuple[list[str], list[str], bool]


def _sides(line: str) -> _Sides:
    """What is left and right of the arrow, all on the left where there is none; and whether it is loose."""
    left, _, right = line.removeprefix("~").partition(">")
    said = left.split(",")
    # Korean is written with and without a space between nouns.
    said += [
        expression.replace(" ", "") for expression in said if " " in expression.strip() and _has_hangul(expression)
    ]
    return said, right.split(",") if right else [], line.startswith("~")


def _has_hangul(text: str) -> bool:
    return any("\uac00" <= char <= "\ud7a3" for char in text)


def _is_worn(written: str, expression: Expression) -> bool:
    """Whether so little is left of an expression without its stop words that it would mean anything."""
    return not expression or (len(expression) == 1 and " " in written.strip())


def _cut(expressions: Iterable[str], known: dict[str, str]) -> Iterator[Expression]:
    found = analyzer().analyze(prepared(f" {_BORDER} ".join([*expressions, ""])))
    tokens = [known.setdefault(token, token) for token in found]
    start = 0
    for _ in range(tokens.count(_BORDER)):
        end = tokens.index(_BORDER, start)
        yield tuple(tokens[start:end])
        start = end + 1
