"""A page of the skills that someone may see."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, Text, bindparam, case, cast, exists, func, or_, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.registry.models import SkillFileRow, SkillRow, SkillTagRow
from skillyard.registry.skills import Skill
from skillyard.registry.store import skills_with_ids
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.requires import name_key

_MOST_WALKS: Final = 100
"""No engine takes many more at once."""
_FILE_BYTES: Final = 300
"""What the line of one file takes in a list, about."""
_ESCAPE: Final = "/"
_LAST: Final = "\U0010ffff"
"""Comes after every letter that a name may have."""
_WILD: Final = re.compile(f"([%_{_ESCAPE}])")


async def page_of_skills(
    session: AsyncSession,
    audiences: Collection[str],
    *,
    after: tuple[str, str] | None,
    tags: Sequence[str],
    words: Sequence[str],
    namespaces: Collection[str] | None,
    visibility: str | None,
    limit: int,
    max_bytes: int,
) -> tuple[list[Skill], bool]:
    """The next skills in the order of their names that holders of these keys may see, and whether there are more.

    There are fewer than `limit` where they would take more than `max_bytes` together, but always one.
    """
    places = sorted(audiences if namespaces is None else namespaces)
    if not places:
        return [], False
    shape = _Shape(
        walks=len(places) if len(places) <= _MOST_WALKS else 0,
        by_namespace=namespaces is not None,
        after=after is not None,
        tags=len(tags),
        words=len(words),
        visibility=visibility is not None,
    )
    values: dict[str, Any] = {"audiences": sorted(audiences), "places": places, "most": limit + 1}
    values["visibility"] = visibility
    values |= {f"place{number}": place for number, place in enumerate(places)}
    values |= {f"tag{number}": tag for number, tag in enumerate(tags)}
    values |= {f"word{number}": _escaped(word) for number, word in enumerate(words)}
    values |= {f"key{number}": _escaped(name_key(word)) for number, word in enumerate(words)}
    if after is not None:
        values["after_key"], values["after_id"] = after
    there = [(skill_id, size) for skill_id, size in await session.execute(_page(shape), values)]
    wanted = _fitting(there[:limit], max_bytes)
    found = await skills_with_ids(session, wanted)
    return [found[skill_id] for skill_id in wanted], len(wanted) < len(there)


async def skills_named_like(
    session: AsyncSession, audiences: Collection[str], words: Sequence[str], *, namespace_id: str | None, limit: int
) -> list[Skill]:
    """Skills with all these words in their names, those first that begin with the first one."""
    keys = [name_key(word) for word in words]
    key = SkillRow.name_key
    query = select(SkillRow.id).where(SkillRow.audience.in_(audiences), SkillRow.deleted_at.is_(None))
    query = query.where(*(key.contains(_escaped(each), escape=_ESCAPE) for each in keys))
    query = query.order_by(key, SkillRow.id)
    if namespace_id is not None:
        query = query.where(SkillRow.namespace_id == namespace_id)
    ids: list[str] = []
    if keys:
        # A range of the index: one letter is in nearly all names.
        beginning = query.where(key >= keys[0], key < f"{keys[0]}{_LAST}")
        ids += await session.scalars(beginning.limit(limit))
    if len(ids) < limit:
        ids += await session.scalars(query.where(SkillRow.id.not_in(ids)).limit(limit - len(ids)))
    found = await skills_with_ids(session, ids)
    return [found[skill_id] for skill_id in ids]


def _fitting(there: Sequence[tuple[str, int]], max_bytes: int) -> list[str]:
    """As many of the skills, from the first on, as take so much together when they are told; at least one."""
    total = 0
    for count, (_, size) in enumerate(there):
        total += size
        if total > max_bytes and count:
            there = there[:count]
            break
    return [skill_id for skill_id, _ in there]


class _Shape(NamedTuple):
    """What a statement for a page depends on, beside its values."""

    walks: int
    """0: too many for one each."""
    by_namespace: bool
    after: bool
    tags: int
    words: int
    visibility: bool


@lru_cache(maxsize=128)
def _page(shape: _Shape) -> Select[str, int]:
    """The ids and sizes of a page; to make the statement costs more than to carry it out.

    Each audience, or each namespace, is walked along its own index and the results are merged, so that a page costs
    the same wherever it is and however many skills there are that the reader may not see.
    """
    walks = [_walk(shape, _place(shape, number)) for number in range(shape.walks or 1)]
    merged = union_all(*(select(walk.subquery()) for walk in walks)).subquery()
    page = select(merged).order_by(merged.c.name_key, merged.c.id).limit(bindparam("most")).subquery()
    # All the text is from SKILL.md, whose size is known without reading it.
    line = case((SkillFileRow.path.in_(SKILL_FILE_NAMES), SkillFileRow.size), else_=0) + _FILE_BYTES
    lines = select(func.sum(line)).where(SkillFileRow.skill_id == SkillRow.id).scalar_subquery()
    return (
        select(SkillRow.id, lines + func.length(cast(SkillRow.findings, Text)))
        .join(page, page.c.id == SkillRow.id)
        .order_by(page.c.name_key, page.c.id)
    )


def _place(shape: _Shape, number: int) -> ColumnElement[bool]:
    column = SkillRow.namespace_id if shape.by_namespace else SkillRow.audience
    here = column == bindparam(f"place{number}") if shape.walks else column.in_(bindparam("places", expanding=True))
    if not shape.by_namespace:
        return here
    return here & SkillRow.audience.in_(bindparam("audiences", expanding=True)) & SkillRow.deleted_at.is_(None)


def _walk(shape: _Shape, place: ColumnElement[bool]) -> Select[str, str]:
    query = select(SkillRow.id, SkillRow.name_key).where(place)
    if shape.after:
        after = tuple_(bindparam("after_key"), bindparam("after_id"))
        query = query.where(tuple_(SkillRow.name_key, SkillRow.id) > after)
    for number in range(shape.tags):
        tagged = (SkillTagRow.skill_id == SkillRow.id) & (SkillTagRow.tag == bindparam(f"tag{number}"))
        query = query.where(exists().where(tagged))
    for number in range(shape.words):
        named = SkillRow.name_key.contains(bindparam(f"key{number}"), escape=_ESCAPE)
        described = SkillRow.description.icontains(bindparam(f"word{number}"), escape=_ESCAPE)
        query = query.where(or_(named, described))
    if shape.visibility:
        query = query.where(SkillRow.visibility == bindparam("visibility"))
    return query.order_by(SkillRow.name_key, SkillRow.id).limit(bindparam("most"))


def _escaped(text: str) -> str:
    return _WILD.sub(rf"{_ESCAPE}\1", text)
