"""Queries over skills."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Select, exists, or_, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.registry.models import SkillFileRow, SkillRow, SkillTagRow, VersionRow, VersionTagRow
from skillyard.registry.skills import Skill, SkillFile, Version, VersionState, Visibility
from skillyard.skill.requires import name_key
from skillyard.skill.versions import Version as Number
from skillyard.skill.versions import latest

_MOST_WALKS = 100


async def skill_with_id(session: AsyncSession, skill_id: str) -> Skill | None:
    """A skill that is not deleted, with its files."""
    return await _one(session, SkillRow.id == skill_id)


async def skill_named(session: AsyncSession, namespace_id: str, name: str) -> Skill | None:
    """A skill by its name, compared without case."""
    return await _one(session, (SkillRow.namespace_id == namespace_id) & (SkillRow.name_key == name_key(name)))


async def skills_called(session: AsyncSession, name: str, audiences: Collection[str]) -> list[Skill]:
    """Every visible skill of that name, whatever its namespace."""
    query = _skills().where(SkillRow.name_key == name_key(name), SkillRow.audience.in_(audiences))
    return await _filled(session, query.order_by(SkillRow.created_at, SkillRow.id))


async def skills_with_ids(session: AsyncSession, ids: Sequence[str]) -> dict[str, Skill]:
    return {skill.id: skill for skill in await _filled(session, _skills().where(SkillRow.id.in_(ids)))}


async def page_of_skills(
    session: AsyncSession,
    audiences: Collection[str],
    *,
    after: tuple[str, str] | None,
    tags: Sequence[str] = (),
    words: Sequence[str] = (),
    namespaces: Collection[str] | None = None,
    limit: int,
) -> list[Skill]:
    """The next skills in the order of their names that holders of these keys may see, perhaps of some namespaces only.

    Each audience, or each namespace, is walked along its own index and the results are merged, so that a page costs
    the same wherever it is and however many skills there are that the reader may not see.
    """
    if namespaces is None:
        places = [SkillRow.audience == audience for audience in sorted(audiences)]
    else:
        seen = SkillRow.audience.in_(audiences) & SkillRow.deleted_at.is_(None)
        places = [(SkillRow.namespace_id == namespace_id) & seen for namespace_id in sorted(namespaces)]
    if not places:
        return []
    if len(places) > _MOST_WALKS:
        places = [or_(*places)]  # slower, but no engine takes so many at once
    walks = [_walk(place, after=after, tags=tags, words=words, limit=limit) for place in places]
    merged = union_all(*(select(walk.subquery()) for walk in walks)).subquery()
    ids = await session.scalars(select(merged.c.id).order_by(merged.c.name_key, merged.c.id).limit(limit))
    wanted = list(ids)
    found = await skills_with_ids(session, wanted)
    return [found[skill_id] for skill_id in wanted]


async def file_with_id(session: AsyncSession, file_id: str) -> tuple[str, SkillFile] | None:
    """A file of a working copy and the id of its skill."""
    row = await session.get(SkillFileRow, file_id)
    return (row.skill_id, _file(row)) if row else None


async def versions_of(session: AsyncSession, skill_ids: Sequence[str]) -> dict[str, list[Version]]:
    """The versions of each skill, the newest number first."""
    tags: dict[str, list[str]] = {}
    named = select(VersionTagRow).where(VersionTagRow.skill_id.in_(skill_ids)).order_by(VersionTagRow.tag)
    for row in await session.scalars(named):
        tags.setdefault(row.version_id, []).append(row.tag)
    found: dict[str, list[Version]] = {skill_id: [] for skill_id in skill_ids}
    for row in await session.scalars(select(VersionRow).where(VersionRow.skill_id.in_(skill_ids))):
        found[row.skill_id].append(_version(row, tags.get(row.id, [])))
    for versions in found.values():
        versions.sort(key=lambda version: Number.parse(version.version), reverse=True)
    return found


async def version_taken(session: AsyncSession, namespace_id: str, name: str, version: str) -> Version | None:
    """Who has this number under this name already, be it a skill that was deleted."""
    query = select(VersionRow).where(
        VersionRow.namespace_id == namespace_id, VersionRow.name_key == name_key(name), VersionRow.version == version
    )
    row = await session.scalar(query)
    return row and _version(row, ())


def latest_of(versions: Iterable[Version]) -> Version | None:
    """The version that is shipped when none is named."""
    shipped = {Number.parse(version.version): version for version in versions if version.shipped}
    newest = latest(shipped)
    return shipped[newest] if newest else None


def _skills() -> Select[SkillRow, str]:
    join = NamespaceRow.id == SkillRow.namespace_id
    return select(SkillRow, NamespaceRow.name).join(NamespaceRow, join).where(SkillRow.deleted_at.is_(None))


async def _one(session: AsyncSession, condition: ColumnElement[bool]) -> Skill | None:
    found = await _filled(session, _skills().where(condition))
    return found[0] if found else None


async def _filled(session: AsyncSession, query: Select[SkillRow, str]) -> list[Skill]:
    rows = list(await session.execute(query))
    if not rows:
        return []
    ids = [row.id for row, _ in rows]
    files = await _files_of(session, ids)
    newest = await _latest_numbers(session, ids)
    return [_skill(row, namespace, files.get(row.id, ()), newest.get(row.id)) for row, namespace in rows]


async def _files_of(session: AsyncSession, skill_ids: Sequence[str]) -> dict[str, list[SkillFile]]:
    query = select(
        SkillFileRow.skill_id,
        SkillFileRow.id,
        SkillFileRow.path,
        SkillFileRow.sha256,
        SkillFileRow.size,
        SkillFileRow.executable,
    )
    files: dict[str, list[SkillFile]] = {}
    for skill_id, id_, path, sha256, size, executable in await session.execute(
        query.where(SkillFileRow.skill_id.in_(skill_ids)).order_by(SkillFileRow.path)
    ):
        file = SkillFile(id=id_, path=path, sha256=sha256, size=size, executable=executable)
        files.setdefault(skill_id, []).append(file)
    return files


async def _latest_numbers(session: AsyncSession, skill_ids: Sequence[str]) -> dict[str, str]:
    """The number of the version of each skill that is shipped when none is named, where there is one."""
    shipped = select(VersionRow.skill_id, VersionRow.version).where(
        VersionRow.skill_id.in_(skill_ids),
        VersionRow.state == VersionState.PUBLISHED,
        VersionRow.yank_reason.is_(None),
    )
    numbers: dict[str, list[Number]] = {}
    for skill_id, version in await session.execute(shipped):
        numbers.setdefault(skill_id, []).append(Number.parse(version))
    newest = {skill_id: latest(ever) for skill_id, ever in numbers.items()}
    return {skill_id: str(number) for skill_id, number in newest.items() if number}


def _walk(
    place: ColumnElement[bool],
    *,
    after: tuple[str, str] | None,
    tags: Sequence[str],
    words: Sequence[str],
    limit: int,
) -> Select[str, str]:
    query = select(SkillRow.id, SkillRow.name_key).where(place)
    if after is not None:
        key, skill_id = after
        query = query.where(tuple_(SkillRow.name_key, SkillRow.id) > tuple_(key, skill_id))
    for tag in tags:
        query = query.where(exists().where(SkillTagRow.skill_id == SkillRow.id, SkillTagRow.tag == tag))
    for word in words:
        matches = SkillRow.name_key.contains(name_key(word), autoescape=True)
        query = query.where(or_(matches, SkillRow.description.icontains(word, autoescape=True)))
    return query.order_by(SkillRow.name_key, SkillRow.id).limit(limit)


def _skill(row: SkillRow, namespace: str, files: Sequence[SkillFile], newest: str | None) -> Skill:
    return Skill(
        id=row.id,
        tenant_id=row.tenant_id,
        namespace_id=row.namespace_id,
        namespace=namespace,
        name=row.name,
        owner_id=row.owner_id,
        visibility=Visibility(row.visibility),
        audience=row.audience,
        digest=row.digest,
        description=row.description,
        content=row.content,
        license=row.license,
        compatibility=row.compatibility,
        metadata=row.fields["metadata"],
        allowed_tools=tuple(row.fields["allowed_tools"]),
        tags=tuple(row.fields["tags"]),
        requires=row.fields["requires"],
        findings=tuple(row.findings),
        created_at=row.created_at,
        updated_at=row.updated_at,
        changed=row.changed,
        latest=newest,
        files=tuple(files),
    )


def _file(row: SkillFileRow) -> SkillFile:
    return SkillFile(id=row.id, path=row.path, sha256=row.sha256, size=row.size, executable=row.executable)


def _version(row: VersionRow, tags: Sequence[str]) -> Version:
    return Version(
        id=row.id,
        skill_id=row.skill_id,
        version=row.version,
        digest=row.digest,
        state=VersionState(row.state),
        notes=row.notes,
        requires=row.requires,
        published_by=row.published_by,
        published_at=row.published_at,
        reviewed_by=row.reviewed_by,
        yank_reason=row.yank_reason,
        tags=tuple(tags),
    )
