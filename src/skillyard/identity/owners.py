"""People on whose behalf something is read, though it is not they who ask."""

from skillyard.db.database import Database
from skillyard.errors import NotAllowedError
from skillyard.identity.models import PersonRow
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.store import person_of, principal_of


class Owners:
    """The people whom sandboxes and agents belong to, as those who read what goes into them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def principal(self, person_id: str) -> Principal:
        async with self._database.read() as session:
            row = await session.get(PersonRow, person_id)
            if row is None or row.disabled_at is not None:
                raise NotAllowedError(
                    f"There is no person {person_id!r} for whom skills could be read.",
                    hint="Give the id of somebody who is there; your own: skillyard registry whoami",
                    details={"owner": person_id},
                )
            return await principal_of(session, person_of(row), scope=Scope.READ)
