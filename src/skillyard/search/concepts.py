"""What a query says in one way and skills may say in another."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log
from typing import Final, NamedTuple

from skillyard.search.frequencies import Frequencies
from skillyard.search.lexicon import Expression, Lexicon, Mention

MAX_CONCEPTS: Final = 16
MAX_WAYS: Final = 80
"""So many ways to say them are looked for in all."""
REPEATED: Final = 0.5
"""How much a word gains when a query says it again and again."""
SEVERAL_WORDS: Final = 1.3
"""How much more than one word an expression of several words can tell."""
IN_OTHER_WORDS: Final = 0.6
"""How much a concept said in other words counts beside the words of the query."""
LOOSELY: Final = 0.4
"""The same where the other words only may mean the same, or where not all of the expression was said."""
RARE: Final = 0.05
"""Ways to say it that are in more than this share of the summaries are looked for last."""


class Way(NamedTuple):
    """One way to say it."""

    expression: Expression
    share: float
    """How much it counts: a rare expression tells no more than what was said did."""
    work: int


@dataclass(frozen=True, slots=True, eq=False)
class Concept:
    """Something that a query speaks of, and how else it may be said. Each is equal to itself alone."""

    ways: tuple[Way, ...]
    weight: float


def said_again(count: int) -> float:
    return 1 + REPEATED * log(count)


def concepts(tokens: Sequence[str], lexicon: Lexicon, frequencies: Frequencies, *, room: int) -> list[Concept]:
    """The most telling concepts of a text, in as many ways as there is room for work."""
    spoken_of = islice(_spoken_of(tokens, lexicon, frequencies), MAX_CONCEPTS)
    ways = _rare_first(spoken_of, RARE * frequencies.documents)
    taken: defaultdict[Concept, list[Way]] = defaultdict(list)
    for concept, way in islice(ways, MAX_WAYS):
        if room <= 0:
            break
        taken[concept].append(way)
        room -= way.work
    return [replace(concept, ways=tuple(ways)) for concept, ways in taken.items()]


def _rare_first(chosen: Iterable[Concept], most: float) -> Iterator[tuple[Concept, Way]]:
    """All ways to say the concepts, one after another; those that cost more than the most come at the end."""
    common: list[tuple[Concept, Way]] = []
    for concept in chosen:
        for way in concept.ways:
            if way.work > most:
                common.append((concept, way))
            else:
                yield concept, way
    yield from common


def _spoken_of(tokens: Sequence[str], lexicon: Lexicon, frequencies: Frequencies) -> Iterator[Concept]:
    """The concepts of a text, the most telling first."""
    weighed = [
        (
            said_again(count) * (LOOSELY if mention.line.is_loose or mention.is_almost else IN_OTHER_WORDS),
            max([frequencies.of(token).rarity for token in mention.said]),
            mention,
        )
        for mention, count in Counter(lexicon.mentions(tokens)).items()
    ]
    weighed.sort(key=lambda each: -each[0] * each[1])
    for weight, rarity, mention in weighed:
        ways = _ways(mention, rarity, frequencies)
        if ways:
            yield Concept(ways, weight)


def _ways(mention: Mention, rarity: float, frequencies: Frequencies) -> tuple[Way, ...]:
    """The ways to say it that a skill has used of itself at all and that add to what was said."""
    ways: list[Way] = []
    said = set(mention.said)
    for expression in mention.line.ways:
        known = [frequencies.of(token) for token in expression]
        rarest = min([each.summary for each in known])
        if rarest and not said.issuperset(expression):
            worth = rarity * (SEVERAL_WORDS if len(expression) > 1 else 1.0)
            share = min(1.0, worth / sum([each.rarity for each in known]))
            ways.append(Way(expression, share, rarest * len(known)))
    return tuple(ways)
