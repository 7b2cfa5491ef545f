"""What is put before a model of the skills in folders: the catalog, and what a prompt brings up."""

from collections.abc import Callable, Sequence

from skillyard.app.searching import SkillSearch
from skillyard.search.catalog import HITS, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.search.triggers import Surfaced


def library_catalog(
    search: SkillSearch,
    *,
    query: str,
    budget: int,
    shape: Shape,
    pins: Sequence[str],
) -> PromptCatalog:
    """The library in at most `budget` characters, what fits the query first."""
    check_budget(budget)
    seen = search.look()
    hits = [match.entry.id for match in seen.search(query, limit=HITS).best] if query.strip() else []
    return CatalogWriter(list(seen.entries.values())).write(budget=budget, shape=shape, pins=pins, hits=hits)


def surfacing(search: SkillSearch, *, budget: int) -> Callable[[str], Surfaced]:
    """Tells what a prompt brings up: the hits of search, and what the catalog for it shows."""
    seen = search.look()
    writer = CatalogWriter(list(seen.entries.values()))

    def surface(prompt: str) -> Surfaced:
        hits = [match.entry.id for match in seen.search(prompt, limit=HITS).best]
        return Surfaced(hits=hits, shown=writer.write(budget=budget, hits=hits).shown)

    return surface
