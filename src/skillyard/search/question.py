"""What a query asks for: its telling words, and what it may mean by them."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

from skillyard.search.concepts import Concept, concepts, said_again
from skillyard.search.frequencies import Frequencies
from skillyard.search.lexicon import Lexicon
from skillyard.search.stopwords import COMMON_WORDS
from skillyard.search.tokens import analyzer, is_unspaced, tokenize

MAX_QUERY: Final = 20_000
"""So many characters of a query are read."""
MAX_TERMS: Final = 64
"""A long instruction is reduced to its most telling words."""
FEW_TERMS: Final = 12
"""So many are looked for in any case."""
MAX_UNKNOWN: Final = 8
"""So many words that no skill has are looked at: they may be misspelt."""
MAX_TELLING: Final = 8
"""So many words, and as many others for them, are looked for in a hit to show why it was found."""
MAX_WORK: Final = 50_000
"""How many entries of the index one question may cost: some milliseconds."""
WORK_FOR_TERMS: Final = 33_000
OFF_TOPIC: Final = 0.5
"""How telling a word is that no skill uses of itself, only somewhere in its body."""
COMMON: Final = 0.6
"""How telling a word of everyday language is, however rare it is among skills."""
PAIR: Final = 0.65
"""How telling a pair of characters is beside a word: every other pair spans two words."""
PAIR_ANSWERED: Final = 0.5
"""How much of a pair must be answered, for the same reason."""


class Term(NamedTuple):
    """A word of the query."""

    token: str
    weight: float
    rarity: float

    @property
    def worth(self) -> float:
        """How much of the question it makes up."""
        return self.weight * self.rarity


@dataclass(frozen=True, slots=True)
class Question:
    """A query as search understands it."""

    terms: tuple[Term, ...]
    concepts: tuple[Concept, ...]
    unknown: tuple[Term, ...]
    """Words that no document has: they may be misspelt."""
    rarest: float
    """How telling a word is that only one document has."""

    @property
    def demand(self) -> float:
        """How much there is to be answered."""
        return sum(
            term.worth * (PAIR_ANSWERED if is_unspaced(term.token) else 1) for term in (*self.terms, *self.unknown)
        )

    def telling(self) -> tuple[str, ...]:
        """What best shows in a document why it answers: the most telling words, and what may be said for them."""
        words = [term.token for term in self.terms]
        others = [token for concept in self.concepts for way in concept.ways for token in way.expression]
        return tuple(dict.fromkeys(words[:MAX_TELLING] + others[:MAX_TELLING]))


def understand(query: str, frequencies: Frequencies, lexicon: Lexicon) -> Question:
    """What a query asks of these documents, as far as it can be answered in time."""
    tokens = tokenize(query[:MAX_QUERY])
    terms = [
        Term(token, said_again(count) * _specific(token), frequencies.of(token).rarity)
        for token, count in Counter(tokens).items()
    ]
    chosen, work = _most_telling(terms, frequencies)
    return Question(
        terms=tuple(chosen),
        concepts=tuple(concepts(tokens, lexicon, frequencies, room=MAX_WORK - work)),
        unknown=tuple([term for term in terms if not frequencies.of(term.token).whole][:MAX_UNKNOWN]),
        rarest=frequencies.of("").rarity,
    )


def _most_telling(terms: list[Term], frequencies: Frequencies) -> tuple[list[Term], int]:
    """The words to look for, and the work that this is."""
    known = [(term, found) for term in terms if (found := frequencies.of(term.token)).whole]
    known.sort(key=lambda each: (-each[0].worth * (1 if each[1].summary else OFF_TOPIC), each[0].token))
    chosen: list[Term] = []
    work = 0
    for term, found in known[:MAX_TERMS]:
        if work + found.work <= WORK_FOR_TERMS or len(chosen) < FEW_TERMS:
            chosen.append(term)
            work += found.work
    return chosen, work


def _specific(token: str) -> float:
    if is_unspaced(token):
        return PAIR
    return COMMON if token in _COMMON_TOKENS else 1.0


_COMMON_TOKENS: Final = frozenset(analyzer().analyze(COMMON_WORDS))
