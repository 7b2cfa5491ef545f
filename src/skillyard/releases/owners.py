"""The owner of something, as whoever acts in their name when they are not there."""

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.errors import NotAllowedError
from skillyard.identity.models import PersonRow
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import person_of, principal_of


async def owner_of(session: AsyncSession, owner_id: str, *, scope: Scope = Scope.WRITE) -> Principal:
    """A person with the rights they have now. Nothing more is done for someone who is shut out."""
    row = await session.get(PersonRow, owner_id)
    if row is None or row.disabled_at is not None:
        raise NotAllowedError("Its owner is shut out, so nothing is done for them.", hint="Let them in again first.")
    return await principal_of(session, person_of(row), scope=scope)
