"""The vectors of a registry's skills, kept up with its changes in the background."""

import asyncio
import logging
from typing import TYPE_CHECKING

from skillyard.app.embedding import Embeddings
from skillyard.clock import Pause
from skillyard.registry.search_documents import Mark, SearchDocuments
from skillyard.search.fusion import RETRY_AFTER

if TYPE_CHECKING:
    from skillyard.search.documents import Document


_log = logging.getLogger(__name__)


class RegistryVectors:
    """Embeds what is published, edited and shown; every process has vectors of its own, made from one store."""

    def __init__(self, documents: SearchDocuments, embeddings: Embeddings) -> None:
        self._documents = documents
        self._embeddings = embeddings

    async def follow(self, pause: Pause) -> None:
        """Keep the vectors up to date for ever."""
        mark: Mark | None = None
        while True:
            try:
                mark = await self.catch_up(mark)
                if self._embeddings.is_behind:
                    await pause(RETRY_AFTER)
                else:
                    await self._documents.wait_beyond(mark.number)
            except Exception:  # noqa: BLE001 -- search goes on with the vectors there are
                _log.exception("The vectors could not be brought up to date; it is tried again later.")
                await pause(RETRY_AFTER)

    async def catch_up(self, mark: Mark | None) -> Mark:
        """Take in what came after a place in the history, or everything; answers with the place that is reached."""
        changed = await self._documents.changed_after(mark) if mark else None
        if mark is None or changed is None:
            return await self._start_over()
        while changed is not None and changed.entries:
            there = await self._documents.of(changed.skills)
            gone = set(changed.skills) - {document.key for document in there}
            await asyncio.to_thread(self._embeddings.change, there, gone)
            mark = changed.until
            changed = await self._documents.changed_after(mark)
        if self._embeddings.is_behind:
            await asyncio.to_thread(self._embeddings.change, ())
        return mark

    async def _start_over(self) -> Mark:
        # Read first: what changes while the pages are read is met again when the changes are followed from here.
        mark = await self._documents.now()
        found: dict[str, Document] = {}
        async for page in self._documents.all():
            found.update((document.key, document) for document in page)
        await asyncio.to_thread(self._embeddings.follow, found)
        return mark
