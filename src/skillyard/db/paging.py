"""How many there are in all of what a page shows some of."""

from typing import Any

from sqlalchemy import Select, func
from sqlalchemy.ext.asyncio import AsyncSession


async def total_of(
    session: AsyncSession, query: Select[*tuple[Any, ...]], *, shown: int, limit: int, offset: int
) -> int:
    """All that a query finds, of which a page showed so many: they are counted where that does not tell by itself."""
    if shown < limit and (shown or not offset):
        return offset + shown
    return (await session.execute(query.with_only_columns(func.count()))).scalar_one()
