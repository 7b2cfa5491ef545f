"""Which documents answer a question, and in which order.

One score: BM25 over the whole text plus BM25 over name and description, so that what a skill says of itself
counts twice. What the lexicon says in other words is looked for only there, where a skill says what it is for;
it counts less, and mainly the best of its ways to say it.
A hit must have a fair share of what the question is worth; otherwise nothing is found, and nothing is what an
unrelated query should find. Who may see a document and what the search is narrowed to are part of the query.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tantivy import DocAddress, Occur, Query, Schema, Searcher

from skillyard.search.concepts import Concept, Way
from skillyard.search.frequencies import Frequencies
from skillyard.search.question import Question, Term

WHOLE: Final = 1.0
SUMMARY: Final = 1.0
MEANT: Final = 1.5
"""What other words for the same count in the summary, where alone they are looked for: bodies speak of everything."""
BESIDES: Final = 0.1
"""What each further way to say the same adds."""
GUESSED: Final = 0.6
"""What a guess at a misspelt word counts."""
FLOOR: Final = 0.42
"""The score a hit must have, as a share of what the words of the question are worth."""
LENIENCE: Final = 0.75
"""How that share falls with the length of a question: no skill answers all that a long instruction speaks of."""
BREVITY: Final = 0.12
"""How much less a long text counts, beyond what BM25 does: long ones speak of everything."""
_SHORT, _LONG, _TYPICAL = 400, 6_000, 2_500
"""Characters of texts."""
_MIN_GUESSED: Final = 4
_MIN_TWO_MISTAKES: Final = 8
_MIN_IN_SUMMARY: Final = 6
"""Shorter words are too similar to others: bread and read."""
_FIELDS: Final = (("whole", WHOLE), ("summary", SUMMARY))


class Ranked(NamedTuple):
    score: float
    number: int
    namesake: int
    """The same for all documents of one name."""
    address: DocAddress


class Ranking:
    """The engine's queries for one question."""

    def __init__(self, searcher: Searcher, schema: Schema, allowed: Sequence[Query], frequencies: Frequencies) -> None:
        self._searcher = searcher
        self._schema = schema
        self._frequencies = frequencies
        self._allowed = [(Occur.Must, Query.const_score_query(query, 0.0)) for query in allowed]

    def best(self, question: Question, limit: int) -> list[Ranked]:
        """The documents that answer enough of the question, the highest score first."""
        parts = list(self._parts(question))
        needed = FLOOR * question.rarest * (question.demand / question.rarest) ** LENIENCE
        found = self._at_least(needed, parts, limit)
        if found:
            return found
        # The last resort: misspelt words in names and descriptions.
        guesses = [self._guess(term, "summary") for term in filter(_is_long_and_misspelt, question.unknown)]
        return self._at_least(needed * GUESSED, [*parts, *guesses], limit) if guesses else []

    def named(self, name: str, limit: int) -> list[Ranked]:
        """The documents of just that name, all with the same score: how many there are must not show."""
        if not self._searcher.doc_freq("exact", name):
            return []
        found = self._search(Query.term_query(self._schema, "exact", name, "basic"), limit)
        return [each._replace(score=1.0) for each in sorted(found, key=lambda each: each.number)]

    def _at_least(self, needed: float, parts: Sequence[Query], limit: int) -> list[Ranked]:
        ranked = self._search(_any_of(parts), limit) if parts else []
        return [each for each in ranked if each.score >= needed]

    def _search(self, wanted: Query, limit: int) -> list[Ranked]:
        query = Query.boolean_query([*self._allowed, (Occur.Must, wanted)]) if self._allowed else wanted
        hits = self._searcher.search(query, limit, count=False).hits
        addresses = [address for _, address in hits]
        fields = (self._numbers(field, addresses) for field in ("number", "namesake", "length"))
        ranked = [
            Ranked(score * _brevity(length), number, namesake, address)
            for (score, address), number, namesake, length in zip(hits, *fields, strict=True)
        ]
        return sorted(ranked, key=lambda each: (-round(each.score, 4), each.number))

    def _numbers(self, field: str, addresses: list[DocAddress]) -> list[int]:
        return [int(value or 0) for value in self._searcher.fast_field_values(field, addresses)]

    def _parts(self, question: Question) -> Iterator[Query]:
        for term in question.terms:
            yield from self._in_fields(term.token, term.weight)
        yield from map(self._concept, question.concepts)
        yield from (self._guess(term, "name") for term in filter(_may_be_misspelt, question.unknown))

    def _concept(self, concept: Concept) -> Query:
        ways = [self._way(way, concept.weight) for way in concept.ways]
        # The engine is much quicker with what is not nested.
        return ways[0] if len(ways) == 1 else Query.disjunction_max_query(ways, BESIDES)

    def _way(self, way: Way, weight: float) -> Query:
        """All words of an expression in the summary."""
        weight *= MEANT * way.share
        boosts = [self._frequencies.of(token).boosts[1] for token in way.expression]
        words = zip(way.expression, boosts, strict=True)
        return _all_of([_boosted(self._term("summary", token), weight * boost) for token, boost in words])

    def _in_fields(self, token: str, weight: float) -> Iterator[Query]:
        """The word in the whole text and in the summary."""
        for (field, counts), boost in zip(_FIELDS, self._frequencies.of(token).boosts, strict=True):
            yield _boosted(self._term(field, token), counts * weight * boost)

    def _term(self, field: str, token: str) -> Query:
        return Query.term_query(self._schema, field, token, "freq")

    def _guess(self, term: Term, field: str) -> Query:
        mistakes = 2 if len(term.token) >= _MIN_TWO_MISTAKES else 1
        return _boosted(Query.fuzzy_term_query(self._schema, field, term.token, mistakes), GUESSED * term.worth)


def _brevity(length: int) -> float:
    return (_TYPICAL / min(max(length, _SHORT), _LONG)) ** BREVITY


def _may_be_misspelt(term: Term) -> bool:
    return len(term.token) >= _MIN_GUESSED and term.token.isascii() and term.token.isalpha()


def _is_long_and_misspelt(term: Term) -> bool:
    return len(term.token) >= _MIN_IN_SUMMARY and _may_be_misspelt(term)


def _all_of(queries: Sequence[Query]) -> Query:
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Must, query) for query in queries])


def _any_of(queries: Sequence[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _boosted(query: Query, weight: float) -> Query:
    return query if weight == 1 else Query.boost_query(query, weight)
