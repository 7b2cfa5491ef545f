"""Skills made searchable: documents in, ranked hits out."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final

from tantivy import Index, IndexWriter, Query

from skillyard.search import engine
from skillyard.search.documents import Document, Found, Hit
from skillyard.search.frequencies import AllFrequencies, Frequencies, SeenFrequencies
from skillyard.search.lexicon import built_in
from skillyard.search.question import understand
from skillyard.search.ranking import Ranked, Ranking
from skillyard.search.snippets import snippet
from skillyard.search.tokens import encodable

MAX_HITS: Final = 100
"""So many hits are given at most: who wants more should ask more precisely."""
LOOKED_AT: Final = 40
"""So many documents are looked at beyond the hits that are asked for."""
SAME_NAME: Final = 0.7
"""How much less another skill of the same name counts than the one before it: most are copies."""
MAX_AUDIENCES: Final = 64
"""For so many circles of people it is remembered how common words are."""
_LONGEST_NAME: Final = 200


class SkillIndex:
    """What can be searched at one moment. Any number of threads may search it at once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._schema = index.schema
        self._searcher = index.searcher()
        self._frequencies = AllFrequencies(self._searcher, index.schema)
        self._audiences: dict[frozenset[str], SeenFrequencies] = {}

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "SkillIndex":
        """An index in memory of just these documents; no two have the same key."""
        index = engine.new_index()
        writer = engine.writer(index)
        engine.add(writer, documents)
        return _committed(index, writer)

    def changed(self, documents: Iterable[Document], gone: Iterable[str] = ()) -> "SkillIndex":
        """One in memory with these documents, each in place of one of its key, and without the keys that are gone.

        Much quicker than another one, while few change. What this one finds stays the same; only the newest of
        them is changed, by one thread at a time.
        """
        writer = engine.writer(self._index)
        engine.drop(writer, gone)
        engine.put(writer, documents)
        return _committed(self._index, writer)

    def search(
        self, query: str, *, seen_by: Collection[str] | None = None, labels: Collection[str] = (), limit: int = 10
    ) -> Found:
        """The documents that fit a query, best first, ties by name; none when nothing is relevant.

        With `seen_by` only documents that one of these may see take part, and of `labels` each must be there.
        """
        wanted = min(limit, MAX_HITS)
        if wanted < 1:
            return Found(hits=(), total=0, is_more=False)
        return self._found(query, slice(wanted), of=wanted, beyond=LOOKED_AT, seen_by=seen_by, labels=labels)

    def page(self, query: str, *, limit: int, offset: int = 0) -> Found:
        """Some of all the documents that fit a query, and how many do.

        All are ranked, so that every page is cut from the same order; that takes the longer the more there are.
        """
        return self._found(query, slice(offset, offset + limit), of=self._searcher.num_docs, beyond=1)

    def _found(
        self,
        query: str,
        wanted: slice,
        *,
        of: int,
        beyond: int,
        seen_by: Collection[str] | None = None,
        labels: Collection[str] = (),
    ) -> Found:
        """Those wanted of the best so many; whether there are more tell those looked at beyond them."""
        query = encodable(query)
        allowed = [Query.term_query(self._schema, "label", encodable(label), "basic") for label in labels]
        frequencies: Frequencies = self._frequencies
        if seen_by is not None:
            frequencies = seen = self._seen_by(frozenset(map(encodable, seen_by)))
            if seen.hides:
                allowed.append(seen.allowed)
        ranking = Ranking(self._searcher, self._schema, allowed, frequencies)
        question = understand(query, frequencies, built_in())
        ranked = ranking.best(question, of + beyond)
        named = ranking.named(name, of) if len(name := query.strip().casefold()) <= _LONGEST_NAME else []
        best = max([1.0, *(each.score for each in ranked)])
        first = [each._replace(score=best) for each in named]
        ordered = [*first, *_apart(ranked, {each.number for each in named})]
        telling = question.telling()
        hits = (self._hit(each, telling) for each in ordered[wanted])
        return Found(hits=tuple(hits), total=len(ordered), is_more=len(ranked) == of + beyond)

    def _seen_by(self, audiences: frozenset[str]) -> SeenFrequencies:
        seen = self._audiences.get(audiences)
        if seen is None:
            allowed = Query.term_set_query(self._schema, "seen_by", sorted(audiences))
            seen = SeenFrequencies(self._frequencies, audiences, allowed)
            if len(self._audiences) < MAX_AUDIENCES:
                self._audiences[audiences] = seen
        return seen

    def _hit(self, ranked: Ranked, telling: Collection[str]) -> Hit:
        kept = engine.kept(self._searcher, ranked.address)
        return Hit(
            key=kept.key,
            name=kept.name,
            description=kept.description,
            score=round(ranked.score, 4),
            snippet=snippet(kept.description, kept.body, telling),
        )


def _committed(index: Index, writer: IndexWriter) -> SkillIndex:
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return SkillIndex(index)


def _apart(ranked: list[Ranked], taken: set[int]) -> list[Ranked]:
    """The ranking without those taken, skills of one name not side by side."""
    seen: Counter[int] = Counter()
    apart: list[Ranked] = []
    for each in ranked:
        if each.number not in taken:
            apart.append(each._replace(score=each.score * SAME_NAME ** seen[each.namesake]))
            seen[each.namesake] += 1
    return sorted(apart, key=lambda each: (-round(each.score, 4), each.number))
