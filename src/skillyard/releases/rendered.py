"""The skill that a candidate is rendered to: once, under a name that is settled then."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow
from skillyard.identity.principals import Principal
from skillyard.library.builtin import builtin_root
from skillyard.registry.models import SkillRow
from skillyard.releases.models import CandidateRow
from skillyard.releases.payloads import Payload
from skillyard.releases.rendering.bundle import render_bundle
from skillyard.releases.rendering.names import settled_name
from skillyard.releases.values import Candidate
from skillyard.sandbox.executions import Execution
from skillyard.skill.bundle import SKILL_FILE, Bundle
from skillyard.skill.requires import name_key

LEARNED: Final = "learned"
"""What `metadata.source` says in every rendered skill."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    name: str
    bundle: Bundle


class Rendering:
    """Renders candidates. One that cannot be rendered is kept all the same: it can be read, but not injected."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def render(
        self, caller: Principal, candidate: Candidate, payload: Payload | None, executions: Sequence[Execution]
    ) -> Rendered | None:
        async with self._database.read() as session:
            name = await _known_name(session, caller, candidate.skill_key)
            taken = frozenset[str]() if name else await _taken_names(session, caller)
        name = name or settled_name(candidate.skill_key, lambda wanted: name_key(wanted) in taken)
        try:
            bundle = await asyncio.to_thread(
                render_bundle, name=name, payload=payload, candidate=candidate, executions=list(executions)
            )
        except Exception:  # noqa: BLE001 -- whatever it is, the candidate itself is not lost
            _log.exception("The candidate %s of %r could not be rendered.", candidate.id, candidate.skill_key)
            return None
        return Rendered(name=name, bundle=bundle)


async def _known_name(session: AsyncSession, caller: Principal, skill_key: str) -> str | None:
    """The name that was settled when this skill was rendered first."""
    query = select(CandidateRow.name).where(
        CandidateRow.owner_id == caller.person_id, CandidateRow.skill_key == skill_key, CandidateRow.name.is_not(None)
    )
    return await session.scalar(query.order_by(CandidateRow.created_at, CandidateRow.id).limit(1))


async def _taken_names(session: AsyncSession, caller: Principal) -> Collection[str]:
    """The names of built-in skills, of those in the person's own namespace, and of their other candidates."""
    own = (
        select(SkillRow.name_key)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .where(
            NamespaceRow.tenant_id == caller.tenant_id,
            NamespaceRow.name == caller.name,
            SkillRow.deleted_at.is_(None),
        )
    )
    others = select(CandidateRow.name).where(CandidateRow.owner_id == caller.person_id, CandidateRow.name.is_not(None))
    names = {name_key(name) for name in await session.scalars(others.distinct()) if name}
    return names | set(await session.scalars(own)) | _builtin_names()


@cache
def _builtin_names() -> frozenset[str]:
    return frozenset(name_key(path.parent.name) for path in builtin_root().glob(f"*/{SKILL_FILE}"))
