"""The blobs that rows of this room name."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.releases.models import CandidateRow, PayloadRow, SkillRunRow


async def named_by_payloads(session: AsyncSession, hashes: Collection[str]) -> set[str]:
    """Those of the blobs that a payload or the screenshot of a run is: what the sweep of orphans must leave."""
    named: set[str] = set()
    for column in (PayloadRow.sha256, SkillRunRow.screenshot):
        found = await session.scalars(select(column).where(column.in_(list(hashes))).distinct())
        named.update(sha256 for sha256 in found if sha256 is not None)
    return named


async def bundles_of_candidates(session: AsyncSession, digests: Collection[str]) -> set[str]:
    """Those of the bundles that candidates are rendered to."""
    query = select(CandidateRow.digest).where(CandidateRow.digest.in_(list(digests))).distinct()
    return {digest for digest in await session.scalars(query) if digest is not None}
