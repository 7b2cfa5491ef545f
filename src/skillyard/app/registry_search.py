"""Searching the registry: what a principal may see, by what it does."""

import asyncio
from dataclasses import dataclass

from skillyard.app.embedding import Embeddings
from skillyard.app.registry_index import RegistryIndex
from skillyard.errors import InputError
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.search_documents import Narrowed, SearchDocuments
from skillyard.registry.skills import Skill
from skillyard.search import Found, Snippet
from skillyard.search.index_folder import BrokenIndexError


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkill:
    """A skill that fits a query, as it stands now."""

    skill: Skill
    score: float
    snippet: Snippet


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundSkills:
    """The best of what a principal may see."""

    best: tuple[FoundSkill, ...]
    total: int
    is_more: bool
    is_fresh: bool
    """Whether every change until now was taken into account: then it holds until the next."""


class RegistrySearch:
    """Search with the rights of who asks."""

    def __init__(self, documents: SearchDocuments, index: RegistryIndex, embeddings: Embeddings | None = None) -> None:
        self._documents = documents
        self._embeddings = embeddings
        self.index = index

    async def search(
        self, principal: Principal, query: str, *, narrowed: Narrowed | None = None, limit: int = 10
    ) -> FoundSkills:
        """The skills that fit a query, best first.

        Who may see what is part of the query. What is found is then read from the store with the same rights: an index
        that has yet to hear of a change shows nobody what is no longer for them.
        """
        principal.require_scope(Scope.READ)
        if not query.strip():
            raise InputError(
                "The query is empty.",
                hint="Say in some words what the skill should do.",
                details={"field": "q", "value": query[:100]},
            )
        labels = (narrowed or Narrowed()).labels
        found, is_fresh = await self._found(principal, query, labels, limit)
        skills = await self._documents.load(principal, [hit.key for hit in found.hits])
        best = tuple(
            FoundSkill(skill=skills[hit.key], score=hit.score, snippet=hit.snippet)
            for hit in found.hits
            if hit.key in skills
        )
        gone = len(found.hits) - len(best)
        return FoundSkills(best=best, total=found.total - gone, is_more=found.is_more, is_fresh=is_fresh and not gone)

    async def _found(self, principal: Principal, query: str, labels: list[str], limit: int) -> tuple[Found, bool]:
        view, is_fresh = await self.index.current()
        try:
            searchable = self._embeddings.over(view) if self._embeddings else view
            found = await asyncio.to_thread(
                searchable.search, query, seen_by=principal.audiences, labels=labels, limit=limit
            )
        except BrokenIndexError:
            if not await self.index.give_up(view):
                raise
            return await self._found(principal, query, labels, limit)
        return found, is_fresh
