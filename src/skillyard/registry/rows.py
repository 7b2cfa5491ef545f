"""Writing a draft into the rows of a skill."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import delete, inspect, select

from skillyard.db.transaction import Transaction
from skillyard.registry.bundles import StoredFile, stored_files
from skillyard.registry.drafts import Draft
from skillyard.registry.models import SkillFileRow, SkillReferenceRow, SkillRow, SkillTagRow, VersionRow
from skillyard.registry.skills import Skill, Version
from skillyard.skill.references import Reference
from skillyard.skill.requires import name_key

_MAX_KEY: Final = 256
"""No skill has a longer name, so nothing longer can lead to one."""


async def write_draft(transaction: Transaction, row: SkillRow, draft: Draft, *, at: datetime) -> None:
    """Make a skill's rows say what the draft says: nothing about its content is ever set another way."""
    document = draft.document
    row.name = draft.name
    row.name_key = name_key(draft.name)
    row.digest = draft.bundle.digest
    row.description = document.description
    row.content = _storable(document.body.removeprefix("\n"))
    row.license = _storable(document.license)
    row.compatibility = _storable(document.compatibility)
    row.fields = {
        "metadata": dict(document.metadata),
        "allowed_tools": list(document.allowed_tools),
        "tags": list(draft.tags),
        "requires": draft.requires,
    }
    row.findings = [finding.as_dict() for finding in draft.findings]
    row.updated_at = at
    if inspect(row).transient:
        transaction.session.add(row)
        await transaction.session.flush()
        present: dict[str, SkillFileRow] = {}
    else:
        present = await _forget(transaction, row.id)
    await _write_files(transaction, row.id, stored_files(draft.bundle), present)
    _add_tags(transaction, row.id, draft.tags)
    _add_references(transaction, row.id, draft)


async def _forget(transaction: Transaction, skill_id: str) -> dict[str, SkillFileRow]:
    """Take away what another state of the skill said, but for its files, which are the answer."""
    session = transaction.session
    for kind in (SkillTagRow, SkillReferenceRow):
        await session.execute(delete(kind).where(kind.skill_id == skill_id))
    files = await session.scalars(select(SkillFileRow).where(SkillFileRow.skill_id == skill_id))
    return {row.path: row for row in files}


def add_version(transaction: Transaction, skill: Skill, version: Version) -> None:
    transaction.session.add(
        VersionRow(
            id=version.id,
            skill_id=skill.id,
            namespace_id=skill.namespace_id,
            name_key=name_key(skill.name),
            version=version.version,
            digest=version.digest,
            state=version.state,
            notes=version.notes,
            requires=version.requires,
            published_by=version.published_by,
            published_at=version.published_at,
            reviewed_by=None,
            yank_reason=None,
        )
    )


def file_id(skill_id: str, path: str) -> str:
    """The id of a file: the same as long as the skill has a file at that path."""
    return str(uuid.uuid5(uuid.UUID(skill_id), path))


async def _write_files(
    transaction: Transaction, skill_id: str, files: Sequence[StoredFile], present: dict[str, SkillFileRow]
) -> None:
    session = transaction.session
    for file in files:
        row = present.pop(file.path, None)
        if row is None:
            row = SkillFileRow(id=file_id(skill_id, file.path), skill_id=skill_id, path=file.path)
            session.add(row)
        row.sha256, row.size, row.executable = file.sha256, file.size, file.executable
    for row in present.values():
        await session.delete(row)
    await session.flush()


def _add_tags(transaction: Transaction, skill_id: str, tags: Sequence[str]) -> None:
    transaction.session.add_all(SkillTagRow(skill_id=skill_id, tag=tag) for tag in dict.fromkeys(map(_storable, tags)))


def _add_references(transaction: Transaction, skill_id: str, draft: Draft) -> None:
    transaction.session.add_all(
        SkillReferenceRow(
            skill_id=skill_id,
            position=position,
            file=reference.source_file,
            line=reference.line,
            kind=reference.kind,
            target_key=_storable(name_key(reference.target_skill or "")),
            target_path=_storable(reference.target_path),
        )
        for position, reference in enumerate(draft.references)
        if _is_worth_keeping(reference, draft)
    )


def _is_worth_keeping(reference: Reference, draft: Draft) -> bool:
    """Not what leads out of all skills, nor a file that a sentence speaks of as an example, or as yet to be made."""
    if reference.leaves or len(name_key(reference.target_skill or "")) > _MAX_KEY:
        return False
    return reference.external or not reference.is_mention or draft.bundle.get(reference.target_path) is not None


def _storable(text: str) -> str:
    """The text without zero bytes, which PostgreSQL cannot keep; the file itself keeps them."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
