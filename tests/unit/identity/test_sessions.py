from datetime import timedelta

import pytest
from sqlalchemy import select, text

from skillyard.errors import NotAllowedError, UnauthenticatedError
from skillyard.history.entries import Why
from skillyard.identity.external import ExternalPeople
from skillyard.identity.models import SessionRow
from skillyard.identity.principals import Role, Scope
from skillyard.identity.sessions import Sessions

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test")
ADMIN = "a-long-and-random-text"


def of(world, clock, **given):
    return Sessions(world.database, world.history, world.access, clock=clock, **given)


@pytest.fixture
async def sessions(world, clock):
    return of(world, clock)


@pytest.fixture
async def external(world):
    return ExternalPeople(world.database, world.history, world.people)


async def rows(world):
    async with world.database.read() as session:
        return list(await session.scalars(select(SessionRow)))


async def signed_in(world, sessions, name="jane", **given):
    await world.person(name)
    return await sessions.begin_by_token(await world.token(name, **given), why=WHY)


async def refusal(sessions, secret):
    with pytest.raises(UnauthenticatedError) as caught:
        await sessions.admit(secret)
    return caught.value.as_dict()


async def welcome(external, subject="1", *, name="jane", admin=False, tenant="default"):
    return await external.welcome(f"https://login#{subject}", name=name, tenant=tenant, admin=admin, why=WHY)


async def test_a_session_has_the_rights_of_its_token_and_no_more(world, sessions):
    begun = await signed_in(world, sessions, scope=Scope.WRITE)
    principal = (await sessions.admit(begun.secret)).principal
    assert principal == begun.principal
    assert principal.scope is Scope.WRITE
    assert principal.token_id is not None


async def test_only_a_hash_of_the_secret_is_kept(world, sessions):
    begun = await signed_in(world, sessions)
    assert len(begun.secret) >= 43
    async with world.database.read() as session:
        kept = (await session.execute(text("SELECT * FROM sessions"))).all()
    assert begun.secret not in repr(kept)
    assert begun.secret not in repr(begun)


async def test_a_wrong_token_begins_none(world, sessions):
    with pytest.raises(UnauthenticatedError):
        await sessions.begin_by_token("sky_wrong", why=WHY)
    assert await rows(world) == []


async def test_every_session_has_a_secret_of_its_own(world, sessions):
    await world.person("jane")
    token = await world.token("jane")
    secrets = {(await sessions.begin_by_token(token, why=WHY)).secret for _ in range(3)}
    assert len(secrets) == 3


async def test_unknown_and_ended_sessions_are_refused_alike(world, sessions, clock):
    ended, old = await signed_in(world, sessions), await signed_in(world, sessions)
    await sessions.end(ended.secret, why=WHY)
    answers = [await refusal(sessions, ended.secret), await refusal(sessions, "unknown")]
    clock.pass_by(hours=12)
    answers.append(await refusal(sessions, old.secret))
    assert answers[0] == answers[1] == answers[2]


async def test_ending_a_token_ends_its_sessions_in_every_process(world, another, sessions, clock):
    other = of(await another(), clock)
    begun = await signed_in(world, sessions)
    assert (await other.admit(begun.secret)).principal.name == "jane"
    await world.tokens.revoke(await world.root(), begun.principal.token_id, why=WHY)
    await refusal(sessions, begun.secret)
    await refusal(other, begun.secret)


async def test_a_session_ends_when_its_token_expires(world, sessions, clock):
    begun = await signed_in(world, sessions, expires_in=timedelta(hours=1))
    assert (await sessions.admit(begun.secret)).until == clock.now + timedelta(hours=1)
    clock.pass_by(minutes=59, seconds=59)
    await sessions.use(begun.secret)
    clock.pass_by(seconds=1)
    await refusal(sessions, begun.secret)


async def test_a_disabled_person_is_shut_out_at_once(world, sessions):
    begun = await signed_in(world, sessions)
    await world.people.set_disabled(await world.root(), "jane", disabled=True, why=WHY)
    await refusal(sessions, begun.secret)


async def test_a_change_of_role_counts_at_once(world, sessions):
    owner = await world.team("crew", "ana", bob=Role.VIEWER)
    crew = await world.namespaces.get(owner, "crew")
    begun = await signed_in(world, sessions, "bob")
    await world.namespaces.set_member(owner, "crew", "bob", Role.EDITOR, why=WHY)
    assert (await sessions.admit(begun.secret)).principal.role_in(crew.id) is Role.EDITOR


async def test_a_session_that_is_used_goes_on_but_not_for_ever(world, sessions, clock):
    begun = await signed_in(world, sessions)
    number = await world.database.number()
    for _ in range(16):
        clock.pass_by(hours=10)
        await sessions.use(begun.secret)
    assert await world.database.number() == number
    clock.pass_by(hours=7, minutes=59)
    assert (await sessions.admit(begun.secret)).until == clock.now + timedelta(minutes=1)
    clock.pass_by(minutes=1)
    await refusal(sessions, begun.secret)


async def test_looking_at_a_session_is_no_use_of_it(world, sessions, clock):
    begun = await signed_in(world, sessions)
    clock.pass_by(hours=11)
    await sessions.admit(begun.secret)
    clock.pass_by(hours=1)
    await refusal(sessions, begun.secret)


async def test_use_is_written_down_now_and_then_only(world, sessions, clock):
    begun = await signed_in(world, sessions)
    began = clock.now
    clock.pass_by(minutes=4)
    await sessions.use(begun.secret)
    assert (await rows(world))[0].used_at == began
    clock.pass_by(minutes=2)
    await sessions.use(begun.secret)
    assert (await rows(world))[0].used_at == clock.now


async def test_sessions_that_are_over_are_cleared_away(world, sessions, clock):
    await signed_in(world, sessions)
    clock.pass_by(hours=13)
    await signed_in(world, sessions)
    assert len(await rows(world)) == 1


async def test_signing_in_and_out_is_in_the_history_without_secrets(world, sessions):
    begun = await signed_in(world, sessions)
    await sessions.end(begun.secret, why=WHY)
    await sessions.end(begun.secret, why=WHY)
    entries = [entry for entry in await world.entries() if entry.change.subject.kind == "session"]
    assert [entry.change.action for entry in entries] == ["session.begun", "session.ended"]
    assert {entry.actor.name for entry in entries} == {"jane"}
    assert begun.secret not in repr(entries)


async def test_the_operator_signs_in_with_the_token_of_the_settings(another, clock):
    world = await another(admin_token=ADMIN)
    sessions = of(world, clock, admin_token=ADMIN)
    begun = await sessions.begin_by_token(ADMIN, why=WHY)
    assert (await sessions.admit(begun.secret)).principal.operator


@pytest.mark.parametrize("later", [None, "another-random-text"])
async def test_the_operators_session_ends_with_that_token(another, clock, later):
    world = await another(admin_token=ADMIN)
    begun = await of(world, clock, admin_token=ADMIN).begin_by_token(ADMIN, why=WHY)
    changed = of(await another(admin_token=later), clock, admin_token=later)
    await refusal(changed, begun.secret)


async def test_a_person_of_the_operators_name_does_not_become_the_operator(another, clock):
    world = await another(admin_token=ADMIN)
    sessions = of(world, clock, admin_token=ADMIN)
    begun = await signed_in(world, sessions, "admin")
    assert not (await sessions.admit(begun.secret)).principal.operator


async def test_a_newcomer_is_made_once_and_has_all_their_rights(sessions, external):
    person = await welcome(external)
    assert await welcome(external, name="renamed") == person
    principal = (await sessions.admit((await sessions.begin_for(person, why=WHY)).secret)).principal
    assert (principal.name, principal.scope, principal.admin, principal.token_id) == ("jane", Scope.ADMIN, False, None)


async def test_a_newcomer_gets_a_name_that_is_free(world, external):
    await world.person("jane")
    assert (await welcome(external)).name == "jane-2"
    assert (await welcome(external, "2", name="system")).name == "system-2"
    assert (await welcome(external, "3", name="")).name == "person"


@pytest.mark.parametrize("name", ["admin", "Admin", " ADMIN ", "ａdmin", "-admin-"])
async def test_a_newcomer_never_takes_the_name_of_the_operator(external, name):
    assert (await welcome(external, name=name)).name != "admin"


async def test_who_administers_is_what_the_settings_say_at_each_sign_in(world, external):
    assert not (await welcome(external)).admin
    assert (await welcome(external, admin=True)).admin
    assert (await welcome(external, admin=True)).admin
    assert not (await welcome(external)).admin
    changes = [entry.change for entry in await world.entries() if entry.change.action == "person.admin_set"]
    assert [change.after for change in changes] == [{"admin": True}, {"admin": False}]


async def test_a_person_of_another_tenant_is_not_let_in(external):
    await welcome(external)
    with pytest.raises(NotAllowedError):
        await welcome(external, tenant="other")


async def test_a_disabled_person_cannot_sign_in_with_a_provider(world, sessions, external):
    await welcome(external)
    await world.people.set_disabled(await world.root(), "jane", disabled=True, why=WHY)
    with pytest.raises(NotAllowedError):
        await sessions.begin_for(await welcome(external), why=WHY)
