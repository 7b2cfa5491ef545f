import pytest

from skillyard.errors import ConflictError, InputError, NotAllowedError, NotFoundError
from skillyard.history.entries import Why
from skillyard.identity.principals import Role, Scope, namespace_audience, person_audience

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test")


async def last(world):
    return (await world.entries())[-1]


async def undo(world, entry, who):
    return await world.history.undo(who.actor, entry, WHY)


async def test_who_makes_a_team_administers_it(world):
    ana = await world.team("crew", "ana")
    members = await world.namespaces.members(ana, "crew")
    assert [(member.name, member.role) for member in members] == [("ana", Role.ADMIN)]


async def test_a_stranger_learns_nothing_of_a_team(world):
    await world.team("crew", "ana")
    for stranger in (await world.person("bob"), await world.root(), await world.person("eve", tenant="acme")):
        for call in (world.namespaces.get, world.namespaces.members):
            with pytest.raises(NotFoundError):
                await call(stranger, "crew")
        with pytest.raises(NotFoundError):
            await world.namespaces.set_policy(stranger, "crew", {}, why=WHY)
        with pytest.raises(NotFoundError):
            await world.namespaces.set_member(stranger, "crew", "bob", Role.ADMIN, why=WHY)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.PUBLISHER])
async def test_lesser_roles_change_neither_members_nor_policy(world, role):
    await world.team("crew", "ana", bob=role)
    bob = await world.person("bob")
    with pytest.raises(NotAllowedError) as caught:
        await world.namespaces.set_member(bob, "crew", "bob", Role.ADMIN, why=WHY)
    assert caught.value.details == {"namespace": "crew", "needed": "admin", "role": role.value}
    with pytest.raises(NotAllowedError):
        await world.namespaces.set_policy(bob, "crew", {}, why=WHY)
    with pytest.raises(NotAllowedError):
        await world.namespaces.remove_member(bob, "crew", "ana", why=WHY)


async def test_a_lesser_token_of_an_administrator_changes_neither(world):
    await world.team("crew", "ana")
    ana = await world.person("ana", scope=Scope.PUBLISH)
    with pytest.raises(NotAllowedError):
        await world.namespaces.set_member(ana, "crew", "ana", Role.VIEWER, why=WHY)
    with pytest.raises(NotAllowedError):
        await world.namespaces.remove_member(ana, "crew", "ana", why=WHY)


async def test_the_last_administrator_stays(world):
    ana = await world.team("crew", "ana", bob=Role.EDITOR)
    for attempt in (
        world.namespaces.set_member(ana, "crew", "ana", Role.VIEWER, why=WHY),
        world.namespaces.remove_member(ana, "crew", "ana", why=WHY),
    ):
        with pytest.raises(ConflictError):
            await attempt
    await world.namespaces.set_member(ana, "crew", "bob", Role.ADMIN, why=WHY)
    await world.namespaces.remove_member(ana, "crew", "ana", why=WHY)
    assert [member.name for member in await world.namespaces.members(await world.person("bob"), "crew")] == ["bob"]


async def test_whoever_is_in_a_team_may_leave(world):
    ana = await world.team("crew", "ana", bob=Role.VIEWER)
    await world.namespaces.remove_member(await world.person("bob"), "crew", "bob", why=WHY)
    with pytest.raises(NotFoundError):
        await world.namespaces.get(await world.person("bob"), "crew")
    with pytest.raises(NotFoundError):
        await world.namespaces.remove_member(ana, "crew", "bob", why=WHY)


async def test_only_people_of_the_tenant_become_members(world):
    ana = await world.team("crew", "ana")
    await world.person("eve", tenant="acme")
    with pytest.raises(NotFoundError) as caught:
        await world.namespaces.set_member(ana, "crew", "eve", Role.VIEWER, why=WHY)
    assert caught.value.details["value"] == "eve"


async def test_a_personal_namespace_takes_no_members(world):
    await world.person("bob")
    ana = await world.person("ana")
    with pytest.raises(ConflictError):
        await world.namespaces.set_member(ana, "ana", "bob", Role.VIEWER, why=WHY)
    with pytest.raises(ConflictError):
        await world.namespaces.remove_member(ana, "ana", "ana", why=WHY)


async def test_administrators_of_the_tenant_set_the_policy_of_the_system(world):
    assert (await world.namespaces.set_policy(await world.root(), "system", {"review": True}, why=WHY)).policy.review
    with pytest.raises(NotAllowedError):
        await world.namespaces.set_policy(await world.person("ana"), "system", {}, why=WHY)


async def test_a_change_of_a_member_is_told_to_the_team_and_to_them(world):
    ana = await world.team("crew", "ana", bob=Role.VIEWER)
    entry = await last(world)
    crew = await world.namespaces.get(ana, "crew")
    bob = await world.person("bob")
    assert entry.change.action == "member.set"
    assert entry.change.subject.audience == namespace_audience(crew.id)
    assert entry.change.audience_before == person_audience(bob.person_id)
    assert entry.change.before == {"person_id": bob.person_id, "person": "bob", "role": None}
    assert entry.change.after == {"person_id": bob.person_id, "person": "bob", "role": "viewer"}


async def test_undo_brings_a_member_and_their_role_back(world):
    ana = await world.team("crew", "ana", bob=Role.EDITOR)
    await world.namespaces.remove_member(ana, "crew", "bob", why=WHY)
    removed = await last(world)
    await undo(world, removed, ana)
    crew = await world.namespaces.get(ana, "crew")
    assert (await world.person("bob")).role_in(crew.id) is Role.EDITOR
    back = await last(world)
    assert back.change.action == "member.set"
    assert back.change.undoes == removed.number
    await undo(world, back, ana)
    assert (await world.person("bob")).role_in(crew.id) is None


async def test_undo_of_a_first_role_takes_the_member_out(world):
    ana = await world.team("crew", "ana", bob=Role.EDITOR)
    await undo(world, await last(world), ana)
    assert [member.name for member in await world.namespaces.members(ana, "crew")] == ["ana"]


async def test_undo_never_takes_the_last_administrator_away(world):
    ana = await world.team("crew", "ana", bob=Role.ADMIN)
    promoted = await last(world)
    await world.namespaces.remove_member(ana, "crew", "ana", why=WHY)
    with pytest.raises(ConflictError):
        await undo(world, promoted, await world.person("bob"))


async def test_undo_refuses_what_was_changed_again_since(world):
    ana = await world.team("crew", "ana", bob=Role.VIEWER)
    first = await last(world)
    await world.namespaces.set_member(ana, "crew", "bob", Role.EDITOR, why=WHY)
    with pytest.raises(ConflictError) as caught:
        await undo(world, first, ana)
    assert caught.value.details["number"] == first.number


async def test_undo_brings_the_policy_back_unless_it_was_set_again(world):
    ana = await world.team("crew", "ana")
    await world.namespaces.set_policy(ana, "crew", {"review": True, "file_types": [".md"]}, why=WHY)
    first = await last(world)
    await world.namespaces.set_policy(ana, "crew", {"review": False}, why=WHY)
    second = await last(world)
    with pytest.raises(ConflictError):
        await undo(world, first, ana)
    await undo(world, second, ana)
    policy = (await world.namespaces.get(ana, "crew")).policy
    assert policy.review
    assert policy.file_types == (".md",)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("profile", "harsh"),
        ("scan", True),
        ("file_types", "md"),
        ("file_types", ["md"]),
        ("file_types", [7]),
        ("max_files", 0),
        ("max_files", True),
        ("max_bytes", 10**12),
        ("review", "yes"),
        ("unknown", 1),
    ],
)
async def test_a_wrong_rule_is_named_and_nothing_is_set(world, rule, value):
    ana = await world.team("crew", "ana")
    number = await world.database.number()
    with pytest.raises(InputError) as caught:
        await world.namespaces.set_policy(ana, "crew", {rule: value}, why=WHY)
    assert caught.value.details["field"] == f"policy.{rule}"
    assert caught.value.hint
    assert await world.database.number() == number


async def test_setting_what_is_set_already_changes_nothing(world):
    ana = await world.team("crew", "ana", bob=Role.EDITOR)
    await world.namespaces.set_policy(ana, "crew", {"review": True}, why=WHY)
    number = await world.database.number()
    await world.namespaces.set_member(ana, "crew", "bob", Role.EDITOR, why=WHY)
    await world.namespaces.set_policy(ana, "crew", {"review": True}, why=WHY)
    assert await world.database.number() == number


async def test_what_happens_to_the_system_namespace_is_told_to_administrators(world):
    root = await world.root()
    await world.namespaces.set_policy(root, "system", {"review": True}, why=WHY)
    entry = await last(world)
    assert entry.change.subject.audience in root.audiences
    assert entry.change.subject.audience not in (await world.person("ana")).audiences
