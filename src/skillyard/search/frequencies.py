"""How common words are among the documents that somebody may see.

How telling a word is must not depend on documents that are hidden from who asks: its score would tell of them.
For common words one document more or less does not show; for rare ones only those are counted that may be seen.
"""

from collections.abc import Collection
from math import log
from typing import Final, NamedTuple, Protocol

from tantivy import Occur, Query, Schema, Searcher

from skillyard.search.engine import AUDIENCE, SEVERAL, finds_all, number_of, reckoned

MAX_KNOWN: Final = 20_000
"""So many words are remembered between queries."""
FEW: Final = 50
"""A word in no more documents than this is rare enough to tell of a single one."""


class Frequency(NamedTuple):
    whole: int
    """In how many documents a word is."""
    summary: int
    """In how many names and descriptions."""
    rarity: float
    """How telling it is; a word that no document has counts like one that a single document has."""
    boosts: tuple[float, float] = (1.0, 1.0)
    """What makes the engine, which counts all documents, weigh it right, in the whole text and in the summary."""

    @property
    def work(self) -> int:
        """How many entries of the index are read to find all documents with it."""
        return self.whole + self.summary


class Frequencies(Protocol):
    """How common words are among some documents."""

    @property
    def documents(self) -> int:
        """How many documents there are."""
        ...

    def of(self, token: str) -> Frequency: ...


class AllFrequencies:
    """The frequencies of words in one state of an index, each looked up once."""

    def __init__(self, searcher: Searcher, schema: Schema) -> None:
        self.documents = reckoned(searcher, schema)
        self._searcher = searcher
        self._schema = schema
        self._known: dict[str, Frequency] = {}
        self._holders: dict[tuple[str, str], list[int]] = {}

    def of(self, token: str) -> Frequency:
        """How common a word is among all documents."""
        found = self._known.get(token)
        if found is None:
            whole = self._searcher.doc_freq("whole", token)
            summary = self._searcher.doc_freq("summary", token) if whole else 0
            found = Frequency(whole, summary, self.rarity(whole))
            if len(self._known) < MAX_KNOWN:
                self._known[token] = found
        return found

    def rarity(self, documents: int) -> float:
        some = max(documents, 1)
        return log(1 + (self.documents - some + 0.5) / (some + 0.5))

    def holders(self, field: str, token: str) -> list[int]:
        """Who may see each of the few documents with a word, as numbers of audiences."""
        place = (field, token)
        found = self._holders.get(place)
        if found is None:
            query = Query.term_query(self._schema, field, token, "freq")
            hits = self._searcher.search(query, FEW, count=False).hits
            numbers = self._searcher.fast_field_values(AUDIENCE, [address for _, address in hits])
            found = [int(number or SEVERAL) for number in numbers]
            if len(self._holders) < MAX_KNOWN:
                self._holders[place] = found
        return found

    def count(self, field: str, token: str, allowed: Query) -> int:
        """In how many documents a rare word is of those that a query finds."""
        both = [(Occur.Must, allowed), (Occur.Must, Query.term_query(self._schema, field, token, "freq"))]
        return len(self._searcher.search(Query.boolean_query(both), FEW, count=False).hits)

    def are_all(self, allowed: Query) -> bool:
        """Whether a query finds all documents."""
        return finds_all(self._searcher, self._schema, allowed)


class SeenFrequencies:
    """The frequencies of words for somebody who may not see everything."""

    def __init__(self, everything: AllFrequencies, audiences: Collection[str], allowed: Query) -> None:
        self.documents = everything.documents
        self._everything = everything
        self._audiences = frozenset(map(number_of, audiences))
        self.allowed = allowed
        self.hides = not everything.are_all(allowed)
        """Whether there are documents that may not be seen. If not, no search needs the filter, which costs a lot."""
        self._known: dict[str, Frequency] = {}

    def of(self, token: str) -> Frequency:
        found = self._known.get(token)
        if found is None:
            found = self._among_seen(token)
            if len(self._known) < MAX_KNOWN:
                self._known[token] = found
        return found

    def _among_seen(self, token: str) -> Frequency:
        found = self._everything.of(token)
        if not 0 < found.whole <= FEW:
            return found
        whole = self._seen("whole", token)
        summary = self._seen("summary", token) if found.summary else 0
        if (whole, summary) == (found.whole, found.summary):
            return found
        rarity = self._everything.rarity
        boosts = (rarity(whole) / rarity(found.whole), rarity(summary) / rarity(found.summary))
        return Frequency(whole, summary, rarity(whole), boosts)

    def _seen(self, field: str, token: str) -> int:
        holders = self._everything.holders(field, token)
        if SEVERAL in holders:
            return self._everything.count(field, token, self.allowed)
        return sum(holder in self._audiences for holder in holders)
