"""What contract suites run on: registries on each engine and each store of blobs, with people in them."""

import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Entry, Why
from skillyard.identity.principals import Principal, Role, Scope
from skillyard.registry.drafts import draft_of
from skillyard.registry.skills import Skill, Visibility
from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.write import compose_skill_md

WHY = Why(reason="a test asked for it")


@pytest.fixture(scope="module")
async def yard(yard_settings: Settings, anyio_backend: str) -> AsyncIterator[Yard]:
    async with open_yard(yard_settings) as yard:
        yield yard


@dataclass(frozen=True, kw_only=True)
class World:
    """A tenant of its own for each test: a team with one person in each role, a stranger, an administrator."""

    yard: Yard
    boss: Principal
    """Administers the tenant and the team."""
    publisher: Principal
    editor: Principal
    viewer: Principal
    stranger: Principal
    """In the tenant, but not in the team."""
    foreigner: Principal
    """In another tenant."""

    team = "team"

    def bundle(self, name: str, *files: BundleFile, body: str = "Do it.\n", **fields: Any) -> Bundle:
        fields.setdefault("description", f"What {name} is for")
        description = fields.pop("description")
        text = compose_skill_md(name, description, body, fields)
        return Bundle([BundleFile("SKILL.md", text.encode()), *files])

    async def create(
        self,
        principal: Principal,
        name: str,
        *files: BundleFile,
        namespace: str | None = team,
        visibility: Visibility = Visibility.PRIVATE,
        **fields: Any,
    ) -> Skill:
        draft = draft_of(self.bundle(name, *files, **fields))
        workbench = self.yard.registry.workbench
        return await workbench.create(principal, draft, namespace=namespace, visibility=visibility, why=WHY)

    async def edit(self, principal: Principal, skill: Skill, body: str, base: str | None = None) -> Skill:
        workbench = self.yard.registry.workbench
        return await workbench.edit(principal, skill.id, fields={}, body=body, base=base, why=WHY)

    async def publish(self, principal: Principal, skill: Skill, version: str | None = None) -> Any:
        return await self.yard.registry.publishing.publish(principal, skill.id, version=version, why=WHY)

    async def publish_bundle(
        self, principal: Principal, bundle: Bundle, version: str | None = None, **more: Any
    ) -> Any:
        more.setdefault("namespace", self.team)
        publishing = self.yard.registry.publishing
        return await publishing.publish_bundle(principal, draft_of(bundle), version=version, why=WHY, **more)

    async def undo(self, principal: Principal, number: int) -> Entry:
        return await self.yard.registry.chronicle.undo(principal, number, why=WHY)

    async def entries(self, skill: Skill | None = None, principal: Principal | None = None) -> Sequence[Entry]:
        """What the history has of a skill, or of everything, the newest first."""
        subjects = [("skill", skill.id)] if skill else ()
        chronicle = self.yard.registry.chronicle
        page = await chronicle.entries(
            principal or self.boss, subjects=subjects, limit=200, everything=principal is None
        )
        return page.entries

    async def last(self, skill: Skill | None = None) -> Entry:
        return (await self.entries(skill))[0]

    async def get(self, skill: Skill, principal: Principal | None = None) -> Skill:
        return await self.yard.registry.shelf.get(principal or self.boss, skill.id)

    async def stored(self, skill: Skill) -> Bundle:
        return await self.yard.registry.shelf.bundle(await self.get(skill))

    async def listing(self, principal: Principal, **filters: Any) -> list[str]:
        """The names of all skills that a principal is shown, page by page."""
        names: list[str] = []
        cursor = None
        while True:
            page = await self.yard.registry.shelf.page(principal, cursor=cursor, **filters)
            names.extend(skill.name for skill in page.skills)
            cursor = page.next
            if cursor is None:
                return names

    async def set_policy(self, **rules: Any) -> None:
        await self.yard.namespaces.set_policy(self.boss, self.team, rules, why=WHY)

    async def with_scope(self, principal: Principal, scope: Scope) -> Principal:
        people = {person.id: person for person in await self.yard.people.everyone(self.boss)}
        return await self.yard.access.of_person(people[principal.person_id], scope=scope)


_tenants = itertools.count(1)


@pytest.fixture
async def world(yard: Yard) -> World:
    number = next(_tenants)
    tenant = await yard.people.ensure_tenant(f"tenant-{number}")
    other = await yard.people.ensure_tenant(f"tenant-{number}-other")
    boss = await yard.people.ensure_person(tenant, "boss", admin=True)
    await yard.namespaces.create_team(await yard.access.of_person(boss), World.team, why=WHY)
    chief = await yard.access.of_person(boss)
    people: dict[str, Principal] = {"boss": chief}
    for role in (Role.PUBLISHER, Role.EDITOR, Role.VIEWER):
        person = await yard.people.ensure_person(tenant, role.value)
        await yard.namespaces.set_member(chief, World.team, role.value, role, why=WHY)
        people[role.value] = await yard.access.of_person(person)
    stranger = await yard.people.ensure_person(tenant, "stranger")
    foreigner = await yard.people.ensure_person(other, "foreigner", admin=True)
    return World(
        yard=yard,
        stranger=await yard.access.of_person(stranger),
        foreigner=await yard.access.of_person(foreigner),
        **people,
    )
