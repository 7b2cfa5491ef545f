"""Ranking a library of skills by relevance to a query, in memory.

BM25 over the whole text, plus BM25 over name and description alone: what a skill says of itself counts
twice, and a query that is a skill's very name puts that skill first. A hit must cover enough of what the
query is about; otherwise nothing is found, and nothing is what an unrelated query should find.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final, NamedTuple

from skillyard.search.spelling import near_pairs, near_words
from skillyard.search.tokens import count_tokens, is_paired, tokenize

K1: Final = 1.2
B: Final = 0.75
SUMMARY_WEIGHT: Final = 1.0
"""How much name and description alone count beside the whole text."""
MAX_TERMS: Final = 32
"""A long instruction is reduced to its most telling terms, known words first."""
FLOOR: Final = 0.3
"""The share of a query, weighed by how telling its terms are, that a hit must cover."""
ENOUGH: Final = 1.5
"""A long instruction is covered by this many words that no other document has, however much more it says."""
GUESSED: Final = 0.6
"""What a guess, however sure, adds to the coverage beside a word that is really there."""
MAX_SUMMARY: Final = 4_096
MAX_BODY: Final = 65_536
"""So many characters of a text are searched; hardly any that a person wrote has more."""
MAX_SUMMARY_WORK: Final = 500_000
MAX_WORK: Final = 1_200_000
"""What all documents may cost, in entries of the index: a second or so and 100 MiB. Thousands of honest skills
stay below; of those that come after, the names are still found."""
NEW_WORD: Final = 4
"""What a word that no document before had costs, beside its entry."""


class Document(NamedTuple):
    """What is known of a skill when it is searched for."""

    id: str
    name: str
    description: str
    body: str = ""


class Hit(NamedTuple):
    id: str
    score: float


class _Term(NamedTuple):
    """A word of the query and the words of the library to look for in its place."""

    demand: float
    """How much of the query it makes up."""
    covers: float
    """How much of the query a document with one of the words answers."""
    words: tuple[tuple[str, float], ...]
    """Each with its weight: the word itself, or guesses when it is not known."""


@dataclass(frozen=True, slots=True)
class _Field:
    """One field of all documents, inverted: for each token the documents it is in, and how often."""

    postings: Mapping[str, Sequence[tuple[int, int]]]
    lengths: Sequence[int]
    average: float

    def scores(self, token: str, weight: float) -> Iterable[tuple[int, float]]:
        for document, count in self.postings.get(token, ()):
            long = 1 - B + B * self.lengths[document] / self.average
            yield document, weight * count * (K1 + 1) / (count + K1 * long)


class _Inverting:
    """A field while documents are added to it in turn."""

    def __init__(self, room: int) -> None:
        self.room = room
        """How much work is left."""
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []

    def add(self, counts: Mapping[str, int]) -> None:
        document, before = len(self._lengths), len(self._postings)
        # One tuple for all words that stand there as often: an index has very many of these.
        posting = {count: (document, count) for count in set(counts.values())}
        for token, count in counts.items():
            self._postings.setdefault(token, []).append(posting[count])
        self._lengths.append(sum(counts.values()))
        self.room -= len(counts) + NEW_WORD * (len(self._postings) - before)

    def field(self) -> _Field:
        return _Field(self._postings, self._lengths, max(sum(self._lengths) / max(len(self._lengths), 1), 1.0))


class Index:
    """Documents made searchable. Build it once for several queries."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._named: dict[str, list[int]] = {}
        named: set[str] = set()
        summaries, wholes = _Inverting(MAX_SUMMARY_WORK), _Inverting(MAX_WORK)
        for number, document in enumerate(self._documents):
            self._named.setdefault(document.name.casefold(), []).append(number)
            counts: dict[str, int] = {}
            count_tokens(document.name[:MAX_SUMMARY], counts)
            named.update(counts)
            if summaries.room > 0:
                count_tokens(document.description[:MAX_SUMMARY], counts)
            summaries.add(counts)
            if document.body and wholes.room > 0:
                count_tokens(document.body[:MAX_BODY], counts)
            wholes.add(counts)
        self._summary, self._whole = summaries.field(), wholes.field()
        self._names = tuple(sorted(token for token in named if not is_paired(token)))
        self._pairs = tuple(sorted(filter(is_paired, self._summary.postings)))

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """The most relevant documents, best first, ties by id; none when nothing is relevant."""
        terms = self._terms(query)
        needed = min(FLOOR * sum(term.demand for term in terms), ENOUGH * self._rarity(""))
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        for term in terms:
            for document, score in self._matches(term).items():
                scores[document] = scores.get(document, 0.0) + score
                covered[document] = covered.get(document, 0.0) + term.covers
        best = max(scores.values(), default=1.0)
        for document in self._named.get(query.strip().casefold(), ()):
            scores[document] = scores.get(document, 0.0) + best
            covered[document] = needed
        hits = [
            Hit(self._documents[document].id, round(score, 4))
            for document, score in scores.items()
            if covered[document] >= needed
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[: max(limit, 0)]

    def _terms(self, query: str) -> list[_Term]:
        counts = Counter(tokenize(query))
        telling = sorted(counts, key=lambda token: (token not in self._whole.postings, -self._rarity(token), token))
        return [self._term(token, counts[token]) for token in telling[:MAX_TERMS]]

    def _term(self, token: str, count: int) -> _Term:
        rarity = self._rarity(token) * (1 + log(count))
        if token in self._whole.postings:
            return _Term(rarity, rarity, ((token, rarity),))
        near = near_pairs(token, self._pairs) if is_paired(token) else near_words(token, self._names)
        covers = GUESSED * rarity * max((sure for _, sure in near), default=0.0)
        return _Term(rarity, covers, tuple((word, sure * self._rarity(word)) for word, sure in near))

    def _rarity(self, token: str) -> float:
        # A word that no document has weighs as much as one that a single document has; otherwise, in a small
        # library, one unknown word would outweigh all that match.
        found = max(len(self._whole.postings.get(token, ())), 1)
        return log(1 + (len(self._documents) - found + 0.5) / (found + 0.5))

    def _matches(self, term: _Term) -> dict[int, float]:
        best: dict[int, float] = {}
        for word, weight in term.words:
            found = dict(self._whole.scores(word, weight))
            for document, score in self._summary.scores(word, weight):
                found[document] += SUMMARY_WEIGHT * score
            for document, score in found.items():
                best[document] = max(best.get(document, 0.0), score)
        return best


def rank(query: str, documents: Iterable[Document], *, limit: int = 10) -> list[Hit]:
    """The documents most relevant to a query, best first; none when nothing is relevant."""
    return Index(documents).search(query, limit=limit)
