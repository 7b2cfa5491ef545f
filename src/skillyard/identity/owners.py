"""People on whose behalf something is read or done, though it is not they who ask."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.database import Database
from skillyard.errors import NotAllowedError
from skillyard.identity.models import PersonRow, TenantRow
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import person_of, principal_of


class Owners:
    """The people whom sandboxes and agents belong to, as those who read what goes into them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def principal(self, person_id: str) -> Principal:
        async with self._database.read() as session:
            principal = await _with_rights_of_now(session, person_id, Scope.READ)
        if principal is None:
            raise NotAllowedError(
                f"There is no person {person_id!r} for whom skills could be read.",
                hint="Give the id of somebody who is there; your own: skillyard registry whoami",
                details={"owner": person_id},
            )
        return principal

    async def anybody(self) -> Principal:
        """A reader of what everyone in the yard may see; that is only defined for a yard with one tenant."""
        async with self._database.read() as session:
            tenants = list(await session.scalars(select(TenantRow.id).limit(2)))
        if len(tenants) != 1:
            raise NotAllowedError(
                "Skills can be read without naming a person only in a yard with one tenant.",
                hint="Name the person whose skills they are.",
                details={"field": "user_id"},
            )
        return Principal(person_id="", name="anybody", tenant_id=tenants[0], scope=Scope.READ)


async def owner_of(session: AsyncSession, owner_id: str, *, scope: Scope = Scope.WRITE) -> Principal:
    """The owner of something, as whoever acts in their name. Nothing more is done for someone who is shut out."""
    principal = await _with_rights_of_now(session, owner_id, scope)
    if principal is None:
        raise NotAllowedError("Its owner is shut out, so nothing is done for them.", hint="Let them in again first.")
    return principal


async def _with_rights_of_now(session: AsyncSession, person_id: str, scope: Scope) -> Principal | None:
    """None: they are gone, or shut out."""
    row = await session.get(PersonRow, person_id)
    if row is None or row.disabled_at is not None:
        return None
    return await principal_of(session, person_of(row), scope=scope)
