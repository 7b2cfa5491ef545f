"""Something to look at: the built-in skills in the registry's `system` namespace."""

import asyncio
from pathlib import Path
from typing import Final

from sqlalchemy import select

from skillyard.app.yard import Yard
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.models import NamespaceRow
from skillyard.identity.people import SYSTEM
from skillyard.identity.principals import Principal
from skillyard.library.builtin import builtin_root
from skillyard.library.disk import read_folder
from skillyard.registry.drafts import Draft, draft_of
from skillyard.registry.models import SkillRow
from skillyard.skill.bundle import SKILL_FILE

_VERSION: Final = "0.1.0"
_WHY: Final = Why(reason="It comes with Skillyard.")


async def seed_builtin(yard: Yard, principal: Principal, *, root: Path | None = None) -> list[str]:
    """Publish the built-in skills that were never in the registry; one that was deleted stays away."""
    folders = sorted(path.parent for path in (root or builtin_root()).glob(f"*/{SKILL_FILE}"))
    known = await _known(yard, principal.tenant_id)
    published: list[str] = []
    for folder in folders:
        if folder.name in known:
            continue
        draft = await asyncio.to_thread(_draft, folder)
        try:
            await yard.registry.publishing.publish_bundle(
                principal, draft, namespace=SYSTEM, version=_VERSION, why=_WHY
            )
        except ConflictError:
            continue  # another server process was quicker
        published.append(draft.name)
    return published


async def _known(yard: Yard, tenant_id: str) -> set[str]:
    """The names that system skills have or had."""
    query = (
        select(SkillRow.name)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(NamespaceRow.tenant_id == tenant_id, NamespaceRow.name == SYSTEM)
    )
    async with yard.database.read() as session:
        return set(await session.scalars(query))


def _draft(folder: Path) -> Draft:
    read = read_folder(folder)
    return draft_of(read.require(), folder=folder.name, found=read.findings)
