"""Whether the files of skills are still in the store, byte for byte: a sample of them, or all."""

import secrets
from collections.abc import Sequence
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.address import BlobError
from skillyard.blobs.store import Blobs
from skillyard.db.database import Database
from skillyard.registry.bundles import named_by_bundles
from skillyard.registry.models import BundleFileRow
from skillyard.skill.limits import MIB

_HASH_BYTES: Final = 32
_SAMPLED_BYTES: Final = MIB
"""A larger file is read only when all files are."""


class StoredBlobs:
    """Reads files of skills again. Files that were damaged the last time are read first, until they are whole."""

    def __init__(self, database: Database, blobs: Blobs) -> None:
        self._database = database
        self._blobs = blobs
        self._damaged: set[str] = set()

    async def sample(self, number: int) -> list[BlobError]:
        """What is wrong with a sample of files, different each time, and with those that were damaged before."""
        async with self._database.read() as session:
            chosen = await _after(session, secrets.token_hex(_HASH_BYTES), number)
            if len(chosen) < number:
                chosen = [*chosen, *await _after(session, "", number - len(chosen))]
            self._damaged &= await named_by_bundles(session, self._damaged)  # what no row names is nobody's loss
        return [error for error in [await self.problem(sha256) for sha256 in {*self._damaged, *chosen}] if error]

    async def names(self) -> Sequence[str]:
        async with self._database.read() as session:
            return (await session.scalars(select(BundleFileRow.sha256).distinct())).all()

    async def problem(self, sha256: str) -> BlobError | None:
        """What is wrong with one file."""
        try:
            await self._blobs.get(sha256)
        except BlobError as error:
            self._damaged.add(sha256)
            return error
        self._damaged.discard(sha256)
        return None


async def _after(session: AsyncSession, sha256: str, number: int) -> Sequence[str]:
    query = select(BundleFileRow.sha256).where(BundleFileRow.sha256 > sha256, BundleFileRow.size <= _SAMPLED_BYTES)
    return (await session.scalars(query.distinct().order_by(BundleFileRow.sha256).limit(number))).all()
