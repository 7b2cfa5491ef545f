import pytest

from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import NamespaceKind, Role, Scope, admin_audience

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test")


async def test_a_person_administers_a_namespace_of_their_own_name(world):
    jane = await world.person("jane")
    own = await world.namespaces.get(jane, "jane")
    assert own.kind is NamespaceKind.PERSON
    assert jane.role_in(own.id) is Role.ADMIN
    assert [one.name for one in await world.namespaces.visible(jane)] == ["jane", "system"]


async def test_nobody_knows_of_another_persons_namespace(world):
    await world.person("bob")
    jane = await world.person("jane")
    with pytest.raises(NotFoundError):
        await world.namespaces.get(jane, "bob")


@pytest.mark.parametrize("call", ["create", "everyone", "set_disabled"])
async def test_people_are_the_administrators_business(world, call):
    jane = await world.person("jane")
    reader = await world.person("adam", admin=True, scope=Scope.PUBLISH)
    calls = {
        "create": lambda who: world.people.create(who, "new", why=WHY),
        "everyone": world.people.everyone,
        "set_disabled": lambda who: world.people.set_disabled(who, "jane", disabled=True, why=WHY),
    }
    for who in (jane, reader):
        with pytest.raises(NotAllowedError):
            await calls[call](who)


async def test_names_of_people_teams_and_the_system_do_not_clash(world):
    root = await world.root()
    await world.team("crew", "ana")
    for taken in ("ana", "crew", "system"):
        with pytest.raises(ConflictError) as caught:
            await world.people.create(root, taken, why=WHY)
        assert caught.value.details == {"field": "name", "value": taken}
    with pytest.raises(ConflictError):
        await world.namespaces.create_team(root, "ana", why=WHY)


@pytest.mark.parametrize("name", ["", "Jane", "jane doe", "jane/doe", "-jane", "a" * 65, "..", "ja\u200bne"])
async def test_a_name_that_could_not_begin_a_skills_is_refused(world, name):
    with pytest.raises(InputError) as caught:
        await world.people.create(await world.root(), name, why=WHY)
    assert caught.value.details["field"] == "name"


async def test_someone_from_an_identity_provider_gets_a_free_name_and_keeps_it(world):
    await world.person("jane")
    tenant = await world.people.ensure_tenant()
    first = await world.people.ensure_person(tenant, "Jane", external_id="https://id.example#1")
    assert first.name == "jane-2"
    assert await world.people.ensure_person(tenant, "Other", external_id="https://id.example#1") == first
    second = await world.people.ensure_person(tenant, "Jane", external_id="https://id.example#2")
    assert second.name == "jane-3"


async def test_nobody_disables_themselves_and_disabling_twice_changes_nothing(world):
    root = await world.root()
    await world.person("jane")
    with pytest.raises(ConflictError):
        await world.people.set_disabled(root, "root", disabled=True, why=WHY)
    first = await world.people.set_disabled(root, "jane", disabled=True, why=WHY)
    number = await world.database.number()
    assert await world.people.set_disabled(root, "jane", disabled=True, why=WHY) == first
    assert await world.database.number() == number
    with pytest.raises(NotFoundError):
        await world.people.set_disabled(root, "nobody", disabled=True, why=WHY)


async def test_what_happens_to_people_is_told_to_administrators(world):
    root = await world.root()
    since = await world.database.number()
    await world.people.create(root, "jane", why=WHY)
    await world.people.set_disabled(root, "jane", disabled=True, why=WHY)
    entries = await world.entries(since=since)
    assert [entry.change.action for entry in entries] == ["person.created", "person.disabled"]
    assert {entry.change.subject.audience for entry in entries} == {admin_audience(root.tenant_id)}
    assert {(entry.actor.name, entry.why.reason) for entry in entries} == {("root", "a test")}


async def test_tenants_are_isolated(world):
    root = await world.root()
    await world.people.create_tenant(root, "acme", why=WHY)
    await world.people.create(root, "eve", admin=True, tenant="acme", why=WHY)
    eve = await world.person("eve", tenant="acme")
    await world.person("jane")
    assert not eve.audiences & root.audiences
    assert [person.name for person in await world.people.everyone(eve)] == ["eve"]
    assert "eve" not in {person.name for person in await world.people.everyone(root)}
    with pytest.raises(NotFoundError):
        await world.people.set_disabled(eve, "jane", disabled=True, why=WHY)
    with pytest.raises(NotFoundError):
        await world.people.create(eve, "mallory", tenant="default", why=WHY)
    twin = await world.people.create(eve, "jane", why=WHY)
    assert twin.tenant_id == eve.tenant_id


async def test_only_the_operator_makes_tenants(world):
    with pytest.raises(NotAllowedError):
        await world.people.create_tenant(await world.person("adam", admin=True), "acme", why=WHY)
    await world.people.create_tenant(await world.root(), "acme", why=WHY)
    with pytest.raises(ConflictError):
        await world.people.create_tenant(await world.root(), "acme", why=WHY)


async def test_the_principal_names_their_tenant(world):
    assert (await world.people.tenant_of(await world.person("eve", tenant="acme"))).name == "acme"
