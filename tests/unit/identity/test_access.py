from datetime import timedelta

import pytest

from skillyard.errors import ConflictError, UnauthenticatedError
from skillyard.history.entries import Why
from skillyard.identity.principals import Role, Scope

pytestmark = pytest.mark.anyio
WHY = Why()


async def refusal(access, secret):
    with pytest.raises(UnauthenticatedError) as caught:
        await access.by_token(secret)
    return caught.value.as_dict()


async def test_a_token_speaks_for_its_person_within_its_scope(world):
    jane = await world.person("jane")
    secret = await world.token("jane", scope=Scope.WRITE)
    admission = await world.access.by_token(secret)
    principal = admission.principal
    assert (principal.person_id, principal.name, principal.scope) == (jane.person_id, "jane", Scope.WRITE)
    assert not principal.admin
    assert not principal.operator
    assert principal.token_id is not None
    assert admission.until is None


async def test_unknown_expired_and_revoked_tokens_are_refused_alike(world, clock):
    await world.person("jane")
    expired = await world.token("jane", expires_in=timedelta(days=1))
    revoked = await world.token("jane")
    root = await world.root()
    [token] = [one for one in await world.tokens.listing(root, everyone=True) if one.expires_at is None]
    await world.tokens.revoke(root, token.id, why=WHY)
    clock.pass_by(days=2)
    answers = [await refusal(world.access, secret) for secret in ("sky_unknown", expired, revoked)]
    assert answers[0] == answers[1] == answers[2]


async def test_a_remembered_token_ends_at_the_very_moment_it_expires(world, clock):
    await world.person("jane")
    secret = await world.token("jane", expires_in=timedelta(hours=1))
    clock.pass_by(minutes=59, seconds=59)
    assert (await world.access.by_token(secret)).until == clock.now + timedelta(seconds=1)
    clock.pass_by(seconds=1)
    await refusal(world.access, secret)


async def test_a_revocation_counts_at_once_in_another_process(world, another):
    other = await another()
    await world.person("jane")
    secret = await world.token("jane")
    assert (await other.access.by_token(secret)).principal.name == "jane"
    root = await world.root()
    token = (await world.tokens.listing(root, everyone=True))[0]
    await world.tokens.revoke(root, token.id, why=WHY)
    await refusal(other.access, secret)


async def test_a_change_of_role_counts_at_once_in_another_process(world, another):
    other = await another()
    owner = await world.team("crew", "ana", bob=Role.VIEWER)
    crew = await world.namespaces.get(owner, "crew")
    secret = await world.token("bob")
    assert (await other.access.by_token(secret)).principal.role_in(crew.id) is Role.VIEWER
    await world.namespaces.set_member(owner, "crew", "bob", Role.EDITOR, why=WHY)
    assert (await other.access.by_token(secret)).principal.role_in(crew.id) is Role.EDITOR


async def test_a_disabled_person_is_shut_out_until_enabled_again(world):
    await world.person("jane")
    secret = await world.token("jane")
    root = await world.root()
    await world.people.set_disabled(root, "jane", disabled=True, why=WHY)
    await refusal(world.access, secret)
    await world.people.set_disabled(root, "jane", disabled=False, why=WHY)
    assert (await world.access.by_token(secret)).principal.name == "jane"


async def test_the_first_administrators_token_comes_from_the_settings(another):
    world = await another(admin_token="a-long-and-random-text")
    principal = (await world.access.by_token("a-long-and-random-text")).principal
    assert principal.admin
    assert principal.operator
    assert principal.scope is Scope.ADMIN
    await refusal(world.access, "a-long-and-random-tex")


async def test_an_ordinary_person_of_the_operators_name_does_not_take_their_rights_away(another):
    world = await another(admin_token="a-long-and-random-text")
    await world.person("admin")
    principal = (await world.access.by_token("a-long-and-random-text")).principal
    assert principal.admin
    own = await world.token("admin")
    assert not (await world.access.by_token(own)).principal.admin


async def test_whoever_is_at_this_machine_administers_it_and_is_looked_up_once(world, monkeypatch):
    first = await world.root()
    assert first.admin
    assert first.operator
    await world.root()
    monkeypatch.setattr(world.people, "ensure_person", None)
    assert (await world.root()).person_id == first.person_id


async def test_the_name_of_a_team_is_no_name_for_whoever_is_at_this_machine(world):
    await world.team("crew", "ana")
    for taken in ("crew", "system"):
        with pytest.raises(ConflictError):
            await world.access.operator(taken)


async def test_when_a_token_was_last_used_is_saved_now_and_then_without_a_change(world, clock):
    await world.person("jane")
    secret = await world.token("jane")
    root = await world.root()
    number = await world.database.number()
    clock.pass_by(hours=3)
    await world.access.by_token(secret)
    assert (await world.tokens.listing(root, everyone=True))[0].last_used_at is None
    await world.access.save_last_used()
    assert (await world.tokens.listing(root, everyone=True))[0].last_used_at == clock.now
    assert await world.database.number() == number


async def test_what_is_remembered_of_tokens_is_bounded(world, monkeypatch):
    monkeypatch.setattr("skillyard.identity.access._REMEMBERED", 2)
    await world.person("jane")
    secrets = [await world.token("jane") for _ in range(4)]
    for _ in range(2):
        for secret in secrets:
            assert (await world.access.by_token(secret)).principal.name == "jane"
    assert len(world.access._known) == 2
