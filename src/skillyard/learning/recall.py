"""Finding what is remembered: the memories that fit a question, for one agent."""

import asyncio
from collections import OrderedDict
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.learning.memories import Memories
from skillyard.learning.memory import Memory
from skillyard.search.documents import Document
from skillyard.search.index import SkillIndex

MAX_RECALLED: Final = 50
_ANY: Final = "*/"
"""No agent: ids have no slash."""
_INDEXES: Final = 16
"""Tenants whose memories are kept ready to be searched."""


class Recall:
    """Searches the memories of a tenant as search does skills; asked again, only what changed is read anew."""

    def __init__(self, database: Database, memories: Memories, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._memories = memories
        self._clock = clock
        self._indexes: OrderedDict[str, tuple[int, SkillIndex, dict[str, Memory]]] = OrderedDict()

    async def recall(
        self, principal: Principal, query: str, *, agent_id: str | None = None, limit: int = 10
    ) -> list[Memory]:
        """What is remembered about something, the most fitting first; without words, the newest."""
        index, memories = await self._index(principal)
        now = self._clock()
        whose = [_ANY] if agent_id is None else ["", agent_id]
        seen_by = {f"{audience} {agent}" for audience in principal.audiences for agent in whose}
        wanted = min(limit, MAX_RECALLED)
        if query.strip():
            found = await asyncio.to_thread(index.search, query, seen_by=seen_by, limit=MAX_RECALLED)
            fitting = [memories[hit.key] for hit in found.hits]
        else:
            fitting = [memory for memory in memories.values() if seen_by & set(_seen_by(memory))]
        return [memory for memory in fitting if memory.holds(now)][:wanted]

    async def _index(self, principal: Principal) -> tuple[SkillIndex, dict[str, Memory]]:
        number = await self._database.number()
        known = self._indexes.get(principal.tenant_id)
        if known is None or known[0] != number:
            memories = {memory.id: memory for memory in await self._memories.of_tenant(principal.tenant_id)}
            index = await asyncio.to_thread(SkillIndex.of, map(_document, memories.values()))
            known = self._indexes[principal.tenant_id] = (number, index, memories)
            if len(self._indexes) > _INDEXES:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(principal.tenant_id)
        return known[1], known[2]


def _document(memory: Memory) -> Document:
    return Document(
        key=memory.id,
        name=memory.label,
        description=memory.text,
        seen_by=_seen_by(memory),
    )


def _seen_by(memory: Memory) -> tuple[str, str]:
    """The keys by which it is found: who may read it, for its agent and for any."""
    audience = memory.place.audience(memory.tenant_id)
    return f"{audience} {memory.agent_id or ''}", f"{audience} {_ANY}"
