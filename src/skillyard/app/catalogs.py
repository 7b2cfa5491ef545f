"""The skills in folders that fit a prompt."""

from collections.abc import Callable

from skillyard.library.searching import SkillSearch
from skillyard.search.catalog import HITS, CatalogWriter
from skillyard.search.triggers import Surfaced


def surfacing(search: SkillSearch, *, budget: int) -> Callable[[str], Surfaced]:
    """Tells what a prompt brings up: the hits of search, and what the catalog for it shows."""
    seen = search.look()
    writer = CatalogWriter(list(seen.entries.values()))

    def surface(prompt: str) -> Surfaced:
        hits = [match.entry.id for match in seen.search(prompt, limit=HITS).best]
        return Surfaced(hits=hits, shown=writer.write(budget=budget, hits=hits).shown)

    return surface
