"""Catalogs for prompts, of what a principal may see in the registry."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from skillyard.app.registry_search import RegistrySearch
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.registry.service import Registry
from skillyard.registry.summaries import Summary, visible_summaries
from skillyard.search.catalog import BUDGET, HITS, CatalogWriter, PromptCatalog, Shape, check_budget
from skillyard.skill.library import SkillEntry
from skillyard.skill.names import is_id

FRESH: Final = 60.0
"""Seconds for which the order by use is kept: uses are no changes, and an order that holds is what prompts want."""
USED_DAYS: Final = 30
MAX_KEPT: Final = 16
"""Of so many kinds of callers the skills are kept."""


class _Kept(NamedTuple):
    writer: CatalogWriter
    names: dict[str, str]
    """The full name of each skill, by its id."""
    number: int
    until: float


class RegistryCatalogs:
    """Writes catalogs with the rights of who asks. What they may see is read again only after a change."""

    def __init__(self, database: Database, registry: Registry, search: RegistrySearch) -> None:
        self._database = database
        self._registry = registry
        self._search = search
        self._kept: OrderedDict[frozenset[str], _Kept] = OrderedDict()

    async def write(
        self,
        principal: Principal,
        *,
        query: str = "",
        budget: int = BUDGET,
        shape: Shape = Shape.XML,
        pins: Sequence[str] = (),
    ) -> PromptCatalog:
        """What the principal may see in at most `budget` characters, what fits the query first; told by full names."""
        check_budget(budget)
        pinned = [await self._id_of(principal, pin) for pin in pins]
        found = (await self._search.search(principal, query, limit=HITS)).best if query.strip() else ()
        hits = [each.skill.id for each in found]
        kept = await self._current(principal)
        written = await asyncio.to_thread(kept.writer.write, budget=budget, shape=shape, pins=pinned, hits=hits)
        return replace(written, shown={kept.names[key]: form for key, form in written.shown.items()})

    async def _id_of(self, principal: Principal, pin: str) -> str:
        if is_id(pin):
            return (await self._registry.shelf.get(principal, pin)).id
        namespace, _, name = pin.rpartition("/")
        return (await self._registry.shelf.named(principal, name, namespace or None)).id

    async def _current(self, principal: Principal) -> _Kept:
        # The number first: a change in between is read, and then read again, never missed.
        number = await self._database.number()
        kept = self._kept.get(principal.audiences)
        if kept is None or kept.number != number or kept.until < time.monotonic():
            summaries = await visible_summaries(self._database, principal)
            used = await self._registry.usage.totals(principal, days=USED_DAYS)
            uses = {each.id: each.totals.used for each in used}
            writer = await asyncio.to_thread(CatalogWriter, list(map(_entry, summaries)), uses=uses)
            names = {summary.id: summary.full_name for summary in summaries}
            kept = self._kept[principal.audiences] = _Kept(writer, names, number, time.monotonic() + FRESH)
        self._kept.move_to_end(principal.audiences)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return kept


def _entry(summary: Summary) -> SkillEntry:
    return SkillEntry(summary.id, summary.full_name, summary.description, "", "")
