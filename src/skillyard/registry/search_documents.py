"""What search is given of the registry: a document for each skill, and which skills have changed since."""

import hashlib
import json
from collections.abc import AsyncGenerator, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.history.entries import Outcome
from skillyard.history.models import EntryRow
from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.registry.models import SkillRow, VersionRow
from skillyard.registry.naming import in_chunks
from skillyard.registry.skills import Skill, VersionState, Visibility
from skillyard.registry.store import skills_with_ids
from skillyard.search import Document

_PAGE: Final = 500
_WINDOW: Final = 1_000
"""How many entries of the history are looked at in one go."""


class Stage(StrEnum):
    """How far the versions of a skill have come."""

    DRAFT = "draft"
    """There is only the working copy."""
    PENDING = "pending"
    """A version waits to be approved, and none was published."""
    PUBLISHED = "published"
    YANKED = "yanked"
    """All that was published is shipped no more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A place in the history of one database: the number of an entry, and what tells it from any other's."""

    number: int
    entry: str

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The mark that a text is; None when it is none."""
        try:
            number, entry = json.loads(text)
        except (ValueError, TypeError):
            return None
        return cls(number=number, entry=entry) if isinstance(number, int) and isinstance(entry, str) else None

    def __str__(self) -> str:
        return json.dumps([self.number, self.entry])


BEGINNING: Final = Mark(number=0, entry="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """A stretch of the history."""

    skills: tuple[str, ...]
    """The ids of the skills that changed in it, be it that they were deleted."""
    entries: int
    until: Mark


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrowed:
    """What a search can be narrowed to; tags must all be there."""

    namespace: str | None = None
    tags: tuple[str, ...] = ()
    visibility: Visibility | None = None
    stage: Stage | None = None

    @property
    def labels(self) -> list[str]:
        return [
            *([_namespace_label(self.namespace)] if self.namespace is not None else []),
            *map(_tag_label, self.tags),
            *([_visibility_label(self.visibility)] if self.visibility else []),
            *([_stage_label(self.stage)] if self.stage else []),
        ]


class SearchDocuments:
    """The skills of a registry as search knows them: their working copies, which all who see a skill may read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def number(self) -> int:
        """The number of the last change."""
        return await self._database.number()

    async def wait_beyond(self, number: int) -> int:
        """Wait until there is a later change."""
        return await self._database.wait_beyond(number)

    async def now(self) -> Mark:
        """The end of the history."""
        query = _entries().order_by(EntryRow.number.desc()).limit(1)
        async with self._database.read() as session:
            last = (await session.execute(query)).first()
        return _mark(*last) if last else BEGINNING

    async def changed_after(self, mark: Mark) -> Changed | None:
        """What came after a place in the history; None when this history has no such place."""
        async with self._database.read() as session:
            if mark.number:
                there = (await session.execute(_entries().where(EntryRow.number == mark.number))).first()
                if there is None or _mark(*there) != mark:
                    return None
            later = _entries().where(EntryRow.number > mark.number).order_by(EntryRow.number).limit(_WINDOW)
            rows = list(await session.execute(later))
        skills = {
            row.subject_id: None for row in rows if row.subject_kind == "skill" and row.outcome == Outcome.DONE.value
        }
        return Changed(skills=tuple(skills), entries=len(rows), until=_mark(*rows[-1]) if rows else mark)

    async def of(self, skill_ids: Collection[str]) -> list[Document]:
        """The documents of those of the skills that are there."""
        found: list[Document] = []
        for ids in in_chunks(skill_ids):
            async with self._database.read() as session:
                found += await _documents(session, _skills().where(SkillRow.id.in_(ids)))
        return found

    async def all(self) -> AsyncGenerator[list[Document]]:
        """Every skill's document, page by page; what changes meanwhile may be there in either state."""
        last = ""
        while True:
            query = _skills().where(SkillRow.id > last).order_by(SkillRow.id).limit(_PAGE)
            async with self._database.read() as session:
                page = await _documents(session, query)
            if not page:
                return
            yield page
            last = page[-1].key

    async def load(self, principal: Principal, skill_ids: Sequence[str]) -> dict[str, Skill]:
        """Those of the skills that the principal may see now, whatever an index says."""
        async with self._database.read() as session:
            found = await skills_with_ids(session, skill_ids)
        return {key: skill for key, skill in found.items() if skill.audience in principal.audiences}


def _entries() -> Select[int, str, str, str, str, object]:
    return select(
        EntryRow.number, EntryRow.subject_kind, EntryRow.subject_id, EntryRow.outcome, EntryRow.action, EntryRow.at
    )


def _mark(number: int, kind: str, subject: str, outcome: str, action: str, at: object) -> Mark:
    text = json.dumps([number, kind, subject, outcome, action, str(at)])
    return Mark(number=number, entry=hashlib.sha256(text.encode()).hexdigest()[:32])


def _skills() -> Select[str, str, str, str, dict[str, Any], str, str, str]:
    return (
        select(
            SkillRow.id,
            SkillRow.name,
            SkillRow.description,
            SkillRow.content,
            SkillRow.fields,
            SkillRow.audience,
            SkillRow.visibility,
            NamespaceRow.name,
        )
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(SkillRow.deleted_at.is_(None))
    )


async def _documents(
    session: AsyncSession, query: Select[str, str, str, str, dict[str, Any], str, str, str]
) -> list[Document]:
    rows = list(await session.execute(query))
    stages = await _stages(session, [row[0] for row in rows])
    return [
        Document(
            key=skill_id,
            name=name,
            description=description,
            tags=tuple(fields["tags"]),
            body=content,
            seen_by=(audience,),
            labels=(
                _namespace_label(namespace),
                *map(_tag_label, fields["tags"]),
                _visibility_label(visibility),
                _stage_label(stages.get(skill_id, Stage.DRAFT)),
            ),
        )
        for skill_id, name, description, content, fields, audience, visibility, namespace in rows
    ]


async def _stages(session: AsyncSession, skill_ids: Collection[str]) -> dict[str, Stage]:
    query = select(VersionRow.skill_id, VersionRow.state, VersionRow.yank_reason)
    versions: dict[str, list[Stage]] = {}
    for skill_id, state, yanked in await session.execute(query.where(VersionRow.skill_id.in_(skill_ids))):
        versions.setdefault(skill_id, []).append(_stage_of(state, yanked))
    return {skill_id: _furthest(stages) for skill_id, stages in versions.items()}


def _stage_of(state: str, yanked: str | None) -> Stage:
    if state == VersionState.PUBLISHED.value:
        return Stage.PUBLISHED if yanked is None else Stage.YANKED
    return Stage.PENDING if state == VersionState.PENDING.value else Stage.DRAFT


def _furthest(stages: Iterable[Stage]) -> Stage:
    order = (Stage.PUBLISHED, Stage.YANKED, Stage.PENDING, Stage.DRAFT)
    return min(stages, key=order.index)


def _namespace_label(name: str) -> str:
    return f"namespace:{name}"


def _tag_label(tag: str) -> str:
    return f"tag:{tag}"


def _visibility_label(visibility: str) -> str:
    return f"visibility:{visibility}"


def _stage_label(stage: Stage) -> str:
    return f"stage:{stage}"
