"""A registry of very many skills, written straight into its tables."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from generate import WORDS
from sqlalchemy import insert, select, text

from skillyard.db.base import Base, new_id
from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow, PersonRow
from skillyard.identity.principals import namespace_audience
from skillyard.registry.models import BundleFileRow, BundleRow, SkillFileRow, SkillRow, VersionRow
from skillyard.registry.rows import file_id

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_DIGEST = f"sha256:{'0' * 64}"
_BATCH = 2_000


def add_skills(url: str, namespaces: Sequence[str], count: int) -> None:
    """Private skills with a version each, spread over namespaces that are there."""
    asyncio.run(_add(url, namespaces, count))


async def _add(url: str, namespaces: Sequence[str], count: int) -> None:
    database = await Database.open(url)
    try:
        async with database.write() as transaction:
            session = transaction.session
            if await session.get(BundleRow, _DIGEST) is None:
                session.add(BundleRow(digest=_DIGEST, size=4096, created_at=_AT))
                await session.flush()
                session.add(
                    BundleFileRow(digest=_DIGEST, path="SKILL.md", sha256="0" * 64, size=4096, executable=False)
                )
            owner = (await session.scalars(select(PersonRow))).first()
            rows = await session.scalars(select(NamespaceRow).where(NamespaceRow.name.in_(namespaces)))
            places = [(row.id, row.tenant_id, owner and owner.id) for row in rows]
            for batch in _batches(places, count):
                for kind, values in batch.items():
                    await session.execute(insert(kind), values)
            await session.execute(text("ANALYZE"))  # as the database does by itself after a while
            transaction.take_number()
    finally:
        await database.close()


def _batches(
    places: Sequence[tuple[str, str, str | None]], count: int
) -> Iterator[dict[type[Base], list[dict[str, Any]]]]:
    for start in range(0, count, _BATCH):
        batch: dict[type[Base], list[dict[str, Any]]] = {SkillRow: [], SkillFileRow: [], VersionRow: []}
        for number in range(start, min(count, start + _BATCH)):
            namespace, tenant, owner = places[number % len(places)]
            name = f"{WORDS[number % len(WORDS)]}-{number:06d}"
            skill = _skill(name, namespace, tenant, owner)
            batch[SkillRow].append(skill)
            batch[SkillFileRow].append(_file(skill["id"]))
            batch[VersionRow].append(_version(skill))
        yield batch


def _skill(name: str, namespace: str, tenant: str, owner: str | None) -> dict[str, Any]:
    return {
        "id": new_id(),
        "tenant_id": tenant,
        "namespace_id": namespace,
        "owner_id": owner,
        "name": name,
        "name_key": name,
        "visibility": "private",
        "audience": namespace_audience(namespace),
        "digest": _DIGEST,
        "description": f"{name}: {' '.join(WORDS[:20])}.",
        "content": " ".join(WORDS),
        "license": "",
        "compatibility": "",
        "fields": {"metadata": {}, "allowed_tools": [], "tags": [], "requires": ""},
        "findings": [],
        "created_at": _AT,
        "updated_at": _AT,
        "changed": 1,
        "deleted_at": None,
    }


def _file(skill_id: str) -> dict[str, Any]:
    return {
        "id": file_id(skill_id, "SKILL.md"),
        "skill_id": skill_id,
        "path": "SKILL.md",
        "sha256": "0" * 64,
        "size": 4096,
        "executable": False,
    }


def _version(skill: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": new_id(),
        "skill_id": skill["id"],
        "namespace_id": skill["namespace_id"],
        "name_key": skill["name_key"],
        "version": "1.0.0",
        "digest": _DIGEST,
        "state": "published",
        "notes": "",
        "requires": "",
        "published_by": None,
        "published_at": _AT,
        "reviewed_by": None,
        "yank_reason": None,
    }
