"""The rows of a skill, as its draft has them."""

import uuid
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, update

from skillyard.db.base import Base
from skillyard.db.transaction import UNSEEN, Rows, Transaction
from skillyard.registry.bundles import stored_files
from skillyard.registry.drafts import Draft
from skillyard.registry.models import SkillFileRow, SkillReferenceRow, SkillRow, SkillTagRow, VersionRow
from skillyard.registry.skills import Skill, SkillFile, Version
from skillyard.skill.bundle import Bundle
from skillyard.skill.references import Reference
from skillyard.skill.requires import name_key

_MAX_KEY: Final = 256
"""No skill has a longer name, so nothing longer can lead to one."""


async def add_skill(transaction: Transaction, skill: SkillRow, draft: Draft) -> None:
    """Write a new skill, whose row says what the draft says."""
    files = _file_rows(skill.id, draft)
    await transaction.insert((SkillRow, [_values(skill)]), (SkillFileRow, files), *_derived(skill.id, draft))


async def rewrite_skill(transaction: Transaction, skill_id: str, draft: Draft, *, at: datetime) -> None:
    """Make a skill that is there say what the draft says."""
    content = update(SkillRow).where(SkillRow.id == skill_id).values(**content_of(draft), updated_at=at)
    await transaction.session.execute(content, execution_options=UNSEEN)
    for kind in (SkillFileRow, SkillTagRow, SkillReferenceRow):
        await transaction.session.execute(delete(kind).where(kind.skill_id == skill_id), execution_options=UNSEEN)
    await transaction.insert((SkillFileRow, _file_rows(skill_id, draft)), *_derived(skill_id, draft))


def content_of(draft: Draft) -> dict[str, Any]:
    """What the row of a skill says of its content: nothing of it is ever set another way."""
    document = draft.document
    return {
        "name": draft.name,
        "name_key": name_key(draft.name),
        "digest": draft.bundle.digest,
        "description": document.description,
        "content": _storable(document.body.removeprefix("\n")),
        "license": _storable(document.license),
        "compatibility": _storable(document.compatibility),
        "fields": {
            "metadata": dict(document.metadata),
            "allowed_tools": list(document.allowed_tools),
            "tags": list(draft.tags),
            "requires": draft.requires,
        },
        "findings": [finding.as_dict() for finding in draft.findings],
    }


def files_of(skill_id: str, bundle: Bundle) -> list[SkillFile]:
    """The files of a skill with this bundle."""
    return [SkillFile(id=file_id(skill_id, file.path), **asdict(file)) for file in stored_files(bundle)]


async def add_version(transaction: Transaction, skill: Skill, version: Version) -> None:
    row = {
        "id": version.id,
        "skill_id": skill.id,
        "namespace_id": skill.namespace_id,
        "name_key": name_key(skill.name),
        "version": version.version,
        "digest": version.digest,
        "state": version.state,
        "notes": version.notes,
        "requires": version.requires,
        "published_by": version.published_by,
        "published_at": version.published_at,
        "reviewed_by": None,
        "yank_reason": None,
        "waiver": version.waiver,
    }
    await transaction.insert((VersionRow, [row]))


def file_id(skill_id: str, path: str) -> str:
    """The id of a file: the same as long as the skill has a file at that path."""
    return str(uuid.uuid5(uuid.UUID(skill_id), path))


def _values(row: SkillRow) -> dict[str, Any]:
    return {column.key: getattr(row, column.key) for column in SkillRow.__mapper__.columns}


def _file_rows(skill_id: str, draft: Draft) -> Rows:
    return [{"skill_id": skill_id, **asdict(file)} for file in files_of(skill_id, draft.bundle)]


def _derived(skill_id: str, draft: Draft) -> tuple[tuple[type[Base], Rows], ...]:
    """The rows by which a skill is found: its tags, and what it points at."""
    tags = [{"skill_id": skill_id, "tag": tag} for tag in dict.fromkeys(map(_storable, draft.tags))]
    references = [
        {
            "skill_id": skill_id,
            "position": position,
            "file": reference.source_file,
            "line": reference.line,
            "kind": reference.kind,
            "target_key": _storable(name_key(reference.target_skill or "")),
            "target_path": _storable(reference.target_path),
        }
        for position, reference in enumerate(draft.references)
        if _is_worth_keeping(reference, draft)
    ]
    return (SkillTagRow, tags), (SkillReferenceRow, references)


def _is_worth_keeping(reference: Reference, draft: Draft) -> bool:
    """Not what leads out of all skills, nor a file that a sentence speaks of as an example, or as yet to be made."""
    if reference.leaves or len(name_key(reference.target_skill or "")) > _MAX_KEY:
        return False
    return reference.external or not reference.is_mention or draft.bundle.get(reference.target_path) is not None


def _storable(text: str) -> str:
    """The text without zero bytes, which PostgreSQL cannot keep; the file itself keeps them."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
