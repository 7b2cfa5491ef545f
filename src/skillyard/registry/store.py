"""Queries over skills."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from sqlalchemy import BindParameter, Select, bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.identity.models import NamespaceRow
from skillyard.registry.models import SkillFileRow, SkillRow, VersionRow, VersionTagRow
from skillyard.registry.skills import Skill, SkillFile, Version, VersionState, Visibility
from skillyard.skill.requires import name_key
from skillyard.skill.versions import Version as Number
from skillyard.skill.versions import latest

# Statements that are made once: to make one costs more than to carry it out. By columns: as objects of the session,
# rows cost several times as much, and may be older than what they stand for.
_SKILLS: Final = (
    select(
        *(getattr(SkillRow, column.key) for column in SkillRow.__mapper__.columns),
        NamespaceRow.name.label("namespace"),
    )
    .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
    .where(SkillRow.deleted_at.is_(None))
)
_IDS: Final[BindParameter[Any]] = bindparam("ids", expanding=True)
_WITH_ID: Final = _SKILLS.where(SkillRow.id == bindparam("id"))
_WITH_IDS: Final = _SKILLS.where(SkillRow.id.in_(_IDS))
_NAMED: Final = _SKILLS.where(SkillRow.namespace_id == bindparam("namespace_id"), SkillRow.name_key == bindparam("key"))
_IN_NAMESPACE: Final = _SKILLS.where(
    NamespaceRow.tenant_id == bindparam("tenant_id"),
    NamespaceRow.name == bindparam("namespace"),
    SkillRow.name_key == bindparam("key"),
)
_CALLED: Final = _SKILLS.where(
    SkillRow.name_key == bindparam("key"), SkillRow.audience.in_(bindparam("audiences", expanding=True))
).order_by(SkillRow.created_at, SkillRow.id)
_FILES: Final = select(
    SkillFileRow.skill_id,
    SkillFileRow.id,
    SkillFileRow.path,
    SkillFileRow.sha256,
    SkillFileRow.size,
    SkillFileRow.executable,
).where(SkillFileRow.skill_id.in_(_IDS))
_SHIPPED: Final = select(VersionRow.skill_id, VersionRow.version).where(
    VersionRow.skill_id.in_(_IDS), VersionRow.state == VersionState.PUBLISHED, VersionRow.yank_reason.is_(None)
)
_TAKEN: Final = select(VersionRow).where(
    VersionRow.namespace_id == bindparam("namespace_id"),
    VersionRow.name_key == bindparam("key"),
    VersionRow.version == bindparam("number"),
)


async def skill_with_id(session: AsyncSession, skill_id: str) -> Skill | None:
    """A skill that is not deleted, with its files."""
    return next(iter(await _filled(session, _WITH_ID, id=skill_id)), None)


async def skill_named(session: AsyncSession, namespace_id: str, name: str) -> Skill | None:
    """A skill by its name, compared without case."""
    return next(iter(await _filled(session, _NAMED, namespace_id=namespace_id, key=name_key(name))), None)


async def skill_in(session: AsyncSession, tenant_id: str, namespace: str, name: str) -> Skill | None:
    """The same by the name of its namespace."""
    found = await _filled(session, _IN_NAMESPACE, tenant_id=tenant_id, namespace=namespace, key=name_key(name))
    return next(iter(found), None)


async def skills_called(session: AsyncSession, name: str, audiences: Collection[str]) -> list[Skill]:
    """Every visible skill of that name, whatever its namespace."""
    return await _filled(session, _CALLED, key=name_key(name), audiences=list(audiences))


async def skills_with_ids(session: AsyncSession, ids: Sequence[str]) -> dict[str, Skill]:
    return {skill.id: skill for skill in await _filled(session, _WITH_IDS, ids=ids)}


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
    values = {"namespace_id": namespace_id, "key": name_key(name), "number": version}
    row = await session.scalar(_TAKEN, values)
    return row and _version(row, ())


def latest_of(versions: Iterable[Version]) -> Version | None:
    """The version that is shipped when none is named."""
    shipped = {Number.parse(version.version): version for version in versions if version.shipped}
    newest = latest(shipped)
    return shipped[newest] if newest else None


def skill_of(row: SkillRow, namespace: str, files: Iterable[SkillFile], *, newest: str | None = None) -> Skill:
    """The skill that its row, the name of its namespace, its files and its latest version make."""
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
        locked=row.locked,
        latest=newest,
        files=tuple(sorted(files, key=lambda file: file.path)),
    )


async def _filled(session: AsyncSession, skills: Select[*tuple[Any, ...]], **values: object) -> list[Skill]:
    """What one of the statements above finds, with files and latest versions."""
    rows: list[Any] = list(await session.execute(skills, values))
    if not rows:
        return []
    ids = [row.id for row in rows]
    files = await _files_of(session, ids)
    newest = await _latest_numbers(session, ids)
    return [skill_of(row, row.namespace, files.get(row.id, ()), newest=newest.get(row.id)) for row in rows]


async def _files_of(session: AsyncSession, skill_ids: Sequence[str]) -> dict[str, list[SkillFile]]:
    files: dict[str, list[SkillFile]] = {}
    for skill_id, id_, path, sha256, size, executable in await session.execute(_FILES, {"ids": skill_ids}):
        file = SkillFile(id=id_, path=path, sha256=sha256, size=size, executable=executable)
        files.setdefault(skill_id, []).append(file)
    return files


async def _latest_numbers(session: AsyncSession, skill_ids: Sequence[str]) -> dict[str, str]:
    """The number of the version of each skill that is shipped when none is named, where there is one."""
    numbers: dict[str, list[Number]] = {}
    for skill_id, version in await session.execute(_SHIPPED, {"ids": skill_ids}):
        numbers.setdefault(skill_id, []).append(Number.parse(version))
    newest = {skill_id: latest(ever) for skill_id, ever in numbers.items()}
    return {skill_id: str(number) for skill_id, number in newest.items() if number}


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
        waiver=row.waiver,
        tags=tuple(tags),
    )
