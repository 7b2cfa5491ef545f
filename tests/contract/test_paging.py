"""How many there are in all, told by a page of them or counted."""

import pytest
from sqlalchemy import select

from skillyard.db.paging import total_of
from skillyard.registry.models import SkillRow

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("limit", "offset"), [(1, 0), (2, 0), (3, 0), (4, 0), (2, 1), (2, 2), (2, 3), (2, 9), (50, 0), (50, 3), (50, 9)]
)
async def test_the_total_is_the_same_whatever_page_is_looked_at(world, limit, offset):
    for name in ("one", "two", "three"):
        await world.create(world.editor, name)
    query = select(SkillRow).where(SkillRow.tenant_id == world.boss.tenant_id)
    async with world.yard.database.read() as session:
        shown = len((await session.scalars(query.limit(limit).offset(offset))).all())
        assert await total_of(session, query, shown=shown, limit=limit, offset=offset) == 3
