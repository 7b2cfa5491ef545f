"""Search by words, put into a better order by vectors where that was measured to help.

Words lead: the best of what they find counts 1, and vectors add a share to it. When words find nothing, nothing is
found, so that an unrelated query stays unanswered; and when there are no vectors to be had, words alone answer.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, Protocol

from skillyard.errors import UnavailableError
from skillyard.search.documents import Found, Hit
from skillyard.search.embeddings import MAX_TEXT, Embedder
from skillyard.search.snippets import snippet
from skillyard.search.tokens import tokenize
from skillyard.search.vectors import Nearness, VectorIndex

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

WEIGHT: Final = 0.2
"""What vectors count beside words, measured with the embedder that comes along."""
DEPTH: Final = 20
"""So many hits of words are put in order, and so many of the nearest are looked at."""
RETRY_AFTER: Final = 30.0
"""Seconds for which an embedder that failed is not asked again: nobody should wait for it with every search."""
_MAX_KEPT: Final = 256
_log = logging.getLogger(__name__)


class Searchable(Protocol):
    """Search by words."""

    def search(
        self, query: str, *, seen_by: Collection[str] | None = None, labels: Collection[str] = (), limit: int = 10
    ) -> Found: ...


class Queries:
    """The vectors of queries: those asked lately are kept, and an embedder that fails is left alone for a while."""

    def __init__(self, embedder: Embedder, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.embedder = embedder
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, NDArray[float32]] = OrderedDict()
        self._quiet_until = float("-inf")

    def vector(self, query: str) -> "NDArray[float32] | None":
        """The vector of a query; None when it would be of no help or cannot be had."""
        text = query[:MAX_TEXT].encode("utf-8", "replace").decode()
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
            if self._clock() < self._quiet_until:
                return None
        try:
            vector = self.embedder.embed([text])[0]
        except UnavailableError as error:
            _log.warning("Search does without embeddings: %s", error.message)
            with self._lock:
                self._quiet_until = self._clock() + RETRY_AFTER
            return None
        with self._lock:
            self._kept[text] = vector
            while len(self._kept) > _MAX_KEPT:
                self._kept.popitem(last=False)
        return vector


class FusedSearch:
    """Search over the same documents by words and by vectors."""

    def __init__(self, words: Searchable, vectors: VectorIndex, queries: Queries, *, weight: float = WEIGHT) -> None:
        self._words = words
        self._vectors = vectors
        self._queries = queries
        self._weight = weight

    def search(
        self, query: str, *, seen_by: Collection[str] | None = None, labels: Collection[str] = (), limit: int = 10
    ) -> Found:
        """What fits a query, best first. Who may see what, and all labels, hold for both ways to find it."""
        embedder = self._queries.embedder
        if not len(self._vectors) or not embedder.helps_with(query):
            return self._words.search(query, seen_by=seen_by, labels=labels, limit=limit)
        found = self._words.search(query, seen_by=seen_by, labels=labels, limit=max(limit, DEPTH))
        vector = self._queries.vector(query) if found.hits else None
        if vector is not None and len(vector) == self._vectors.width:
            keys = [hit.key for hit in found.hits]
            near = self._vectors.near(vector, among=keys, seen_by=seen_by, labels=labels, limit=DEPTH)
            found = self._fused(query, found, near)
        return Found(hits=found.hits[: max(limit, 0)], total=found.total, is_more=found.is_more)

    def _fused(self, query: str, found: Found, near: Nearness) -> Found:
        if not near.cosines:
            return found
        top = max(hit.score for hit in found.hits)
        share = self._share(near, top)
        scored = [(share(hit.key) + hit.score, hit) for hit in found.hits]
        added = self._added(query, found, near) if self._queries.embedder.finds else []
        scored += [(share(hit.key), hit) for hit in added]
        wanted = query.strip().casefold()
        # Who types the name of a skill wants that one.
        scored.sort(key=lambda each: (each[1].name.casefold() != wanted, -round(each[0], 4)))
        hits = tuple(
            Hit(key=hit.key, name=hit.name, description=hit.description, score=round(score, 4), snippet=hit.snippet)
            for score, hit in scored
        )
        return Found(hits=hits, total=found.total + len(added), is_more=found.is_more)

    def _share(self, near: Nearness, top: float) -> Callable[[str], float]:
        """What its vector adds to the score of a document: nothing at the mean, the whole weight at the nearest."""
        best = near.cosines[near.nearest[0].key]
        span = best - near.mean

        def share(key: str) -> float:
            if key not in near.cosines or span <= 0:
                return 0.0
            return self._weight * top * max(near.cosines[key] - near.mean, 0.0) / span

        return share

    def _added(self, query: str, found: Found, near: Nearness) -> list[Hit]:
        """What vectors alone find: only what is nearer than the best that words find."""
        known = {hit.key for hit in found.hits}
        enough = near.cosines.get(found.hits[0].key, float("inf"))
        tokens = frozenset(tokenize(query))
        return [
            Hit(
                key=each.key,
                name=each.name,
                description=each.description,
                score=0.0,
                snippet=snippet(each.description, "", tokens),
            )
            for each in near.nearest
            if each.key not in known and near.cosines[each.key] > enough
        ]
