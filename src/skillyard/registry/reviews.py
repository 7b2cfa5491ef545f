"""Versions that wait for someone's word before they are shipped."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select

from skillyard.db.database import Database
from skillyard.identity.models import NamespaceRow, PersonRow
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.models import SkillRow, VersionRow
from skillyard.registry.skills import VersionState


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingVersion:
    """A version that somebody published where a review is needed."""

    full_name: str
    version: str
    notes: str
    waiver: str | None
    """Why serious findings of the scan were accepted: what a reviewer must know first."""
    published_by: str | None
    published_at: datetime


async def waiting_for(database: Database, principal: Principal) -> list[WaitingVersion]:
    """The versions that the principal may approve or reject, the oldest first; never their own."""
    namespaces = [key for key, role in principal.roles.items() if role.covers(Role.PUBLISHER)]
    if not namespaces or not principal.scope.covers(Scope.PUBLISH):
        return []
    query = (
        select(
            NamespaceRow.name,
            SkillRow.name,
            VersionRow.version,
            VersionRow.notes,
            VersionRow.waiver,
            PersonRow.name,
            VersionRow.published_at,
        )
        .join(SkillRow, SkillRow.id == VersionRow.skill_id)
        .join(NamespaceRow, NamespaceRow.id == SkillRow.namespace_id)
        .outerjoin(PersonRow, PersonRow.id == VersionRow.published_by)
        .where(
            VersionRow.namespace_id.in_(namespaces),
            VersionRow.state == VersionState.PENDING.value,
            SkillRow.audience.in_(principal.audiences),
            SkillRow.deleted_at.is_(None),
            or_(VersionRow.published_by.is_(None), VersionRow.published_by != principal.person_id),
        )
        .order_by(VersionRow.published_at, VersionRow.id)
    )
    async with database.read() as session:
        return [
            WaitingVersion(
                full_name=f"{namespace}/{name}",
                version=version,
                notes=notes,
                waiver=waiver,
                published_by=published_by,
                published_at=published_at,
            )
            for namespace, name, version, notes, waiver, published_by, published_at in await session.execute(query)
        ]
