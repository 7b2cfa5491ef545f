"""Listed skills searched by name and description, and written into prompts."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skillyard.search import Document, Hit, SkillIndex
from skillyard.search.catalog import BUDGET, HITS, OTHERS, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.skill.library import SkillEntry

_FEW: Final = 50
"""So many skills may always change before all are indexed anew."""
_SHARE: Final = 10
"""Of many skills, one in so many."""


class EntrySearch:
    """An index of the skills listed last; another listing changes what is different in it."""

    def __init__(self) -> None:
        self._shelf: _Shelf | None = None
        self._lock = threading.Lock()

    def hits(self, entries: Sequence[SkillEntry], query: str, limit: int) -> tuple[Hit, ...]:
        """Those of the skills that fit a query, best first."""
        return self._at(list(entries)).index.search(query, limit=limit).hits

    def _at(self, entries: list[SkillEntry]) -> "_Shelf":
        # Threads may share this: each leaves a whole shelf for the next.
        shelf = self._shelf
        if shelf is None or shelf.entries != entries:
            with self._lock:
                shelf = self._shelf = _Shelf.of(entries) if self._shelf is None else self._shelf.changed(entries)
        return shelf

    def catalog(
        self,
        entries: Sequence[SkillEntry],
        query: str = "",
        *,
        budget: int = BUDGET,
        pins: Sequence[str] = (),
        shape: Shape = Shape.XML,
        others: str = OTHERS,
    ) -> PromptCatalog:
        """The skills in at most `budget` characters, what fits the query first; `others` as for `CatalogWriter`."""
        check_budget(budget)
        hits = [hit.key for hit in self.hits(entries, query, HITS)] if query.strip() else []
        return CatalogWriter(entries).write(budget=budget, shape=shape, pins=pins, hits=hits, others=others)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shelf:
    entries: list[SkillEntry]
    index: SkillIndex
    changes: int = 0
    """Since all were indexed: the engine keeps what is gone for a while, and reckons with it."""

    @classmethod
    def of(cls, entries: list[SkillEntry]) -> "_Shelf":
        return cls(entries=entries, index=SkillIndex.of(map(document_of, entries)))

    def changed(self, entries: list[SkillEntry]) -> "_Shelf":
        before = {entry.id: entry for entry in self.entries}
        gone = before.keys() - {entry.id for entry in entries}
        new = [entry for entry in entries if before.get(entry.id) != entry]
        changes = self.changes + len(gone) + len(new)
        if changes > max(_FEW, len(entries) // _SHARE):
            return _Shelf.of(entries)
        index = self.index.changed(map(document_of, new), gone) if gone or new else self.index
        return _Shelf(entries=entries, index=index, changes=changes)


def document_of(entry: SkillEntry) -> Document:
    """An entry as search takes it."""
    return Document(key=entry.id, name=entry.name, description=entry.description)
