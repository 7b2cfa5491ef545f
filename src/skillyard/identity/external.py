"""People whom an identity provider vouches for."""

from dataclasses import replace
from typing import Final

from sqlalchemy import update

from skillyard.db.database import Database
from skillyard.errors import NotAllowedError
from skillyard.history.entries import Actor, Change, Subject, Why
from skillyard.history.service import History
from skillyard.identity.access import OPERATOR
from skillyard.identity.directory import Person
from skillyard.identity.models import PersonRow
from skillyard.identity.people import People
from skillyard.identity.principals import admin_audience
from skillyard.skill.names import slugify

_NAMELESS: Final = "person"


class ExternalPeople:
    """Finds or makes the person behind an id at an identity provider."""

    def __init__(self, database: Database, history: History, people: People) -> None:
        self._database = database
        self._history = history
        self._people = people

    async def welcome(self, external_id: str, *, name: str, tenant: str, admin: bool, why: Why) -> Person:
        """The person with that id. Whether they administer the tenant is what the settings say, each time anew."""
        place = await self._people.ensure_tenant(tenant)
        # The operator's own name is not for newcomers: what is the operator's would be theirs.
        slug = slugify(name)
        wanted = f"{OPERATOR}-{_NAMELESS}" if slug == OPERATOR else slug or _NAMELESS
        person = await self._people.ensure_person(place, wanted, admin=admin, external_id=external_id)
        if person.tenant_id != place.id:
            raise NotAllowedError(
                f"You belong to another tenant than {tenant!r}.", hint="Ask whoever runs this yard about oidc_tenant."
            )
        return person if person.admin is admin else await self._set_admin(person, admin=admin, why=why)

    async def _set_admin(self, person: Person, *, admin: bool, why: Why) -> Person:
        async with self._database.write() as transaction:
            row = update(PersonRow).where(PersonRow.id == person.id).values(admin=admin)
            await transaction.session.execute(row)
            subject = Subject(kind="person", id=person.id, label=person.name, audience=admin_audience(person.tenant_id))
            change = Change(
                action="person.admin_set", subject=subject, before={"admin": person.admin}, after={"admin": admin}
            )
            actor = Actor(tenant_id=person.tenant_id, name=person.name, id=person.id)
            self._history.record(transaction, actor, change, why)
        return replace(person, admin=admin)
