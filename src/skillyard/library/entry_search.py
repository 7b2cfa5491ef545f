"""Listed skills searched by name and description, and written into prompts."""

from collections.abc import Sequence

from skillyard.search import Document, Hit, SkillIndex
from skillyard.search.catalog import BUDGET, HITS, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.skill.library import SkillEntry


class EntrySearch:
    """An index of the skills listed last; another listing makes another index."""

    def __init__(self) -> None:
        self._shelf: tuple[list[SkillEntry], SkillIndex] | None = None

    def hits(self, entries: Sequence[SkillEntry], query: str, limit: int) -> tuple[Hit, ...]:
        """Those of the skills that fit a query, best first."""
        # Threads may share this: each leaves a whole shelf for the next.
        shelf = self._shelf
        if shelf is None or shelf[0] != list(entries):
            documents = (Document(key=entry.id, name=entry.name, description=entry.description) for entry in entries)
            shelf = self._shelf = (list(entries), SkillIndex.of(documents))
        return shelf[1].search(query, limit=limit).hits

    def catalog(
        self,
        entries: Sequence[SkillEntry],
        query: str = "",
        *,
        budget: int = BUDGET,
        pins: Sequence[str] = (),
        shape: Shape = Shape.XML,
    ) -> PromptCatalog:
        """The skills in at most `budget` characters, what fits the query first."""
        check_budget(budget)
        hits = [hit.key for hit in self.hits(entries, query, HITS)] if query.strip() else []
        return CatalogWriter(entries).write(budget=budget, shape=shape, pins=pins, hits=hits)
