from datetime import timedelta

import pytest

from skillyard.errors import InputError, NotAllowedError, NotFoundError, UnauthenticatedError
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope, person_audience
from skillyard.identity.tokens import hash_of

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test")


async def test_only_a_hash_of_a_token_is_in_the_database(world, tmp_path):
    jane = await world.person("jane")
    made = await world.tokens.create(jane, label="ci", why=WHY)
    assert made.secret.startswith("sky_")
    assert made.secret not in repr(made)
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("registry.sqlite*"))
    assert made.secret.encode() not in kept
    assert hash_of(made.secret).encode() in kept


async def test_no_two_tokens_are_alike(world):
    jane = await world.person("jane")
    made = [await world.tokens.create(jane, label="ci", why=WHY) for _ in range(2)]
    assert made[0].secret != made[1].secret
    assert len(made[0].secret) > 40


@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE, Scope.PUBLISH])
async def test_a_lesser_token_makes_and_ends_none(world, scope):
    jane = await world.person("jane", scope=scope)
    with pytest.raises(NotAllowedError) as caught:
        await world.tokens.create(jane, label="ci", why=WHY)
    assert caught.value.details["needed"] == "admin"
    with pytest.raises(NotAllowedError):
        await world.tokens.revoke(jane, "any", why=WHY)


async def test_only_an_administrator_makes_a_token_for_someone_else(world):
    await world.person("bob")
    jane = await world.person("jane")
    with pytest.raises(NotAllowedError):
        await world.tokens.create(jane, label="ci", person="bob", why=WHY)
    made = await world.tokens.create(await world.root(), label="ci", person="bob", why=WHY)
    assert made.token.person == "bob"
    with pytest.raises(NotFoundError):
        await world.tokens.create(await world.root(), label="ci", person="nobody", why=WHY)


async def test_the_operator_makes_the_first_token_of_a_tenant_and_nobody_else_does(world):
    root = await world.root()
    await world.people.create_tenant(root, "acme", why=WHY)
    await world.people.create(root, "eve", admin=True, tenant="acme", why=WHY)
    made = await world.tokens.create(root, label="first", person="eve", tenant="acme", scope=Scope.ADMIN, why=WHY)
    eve = (await world.access.by_token(made.secret)).principal
    assert eve.admin
    assert eve.tenant_id != root.tenant_id
    with pytest.raises(NotFoundError):
        await world.tokens.create(eve, label="x", person="root", tenant="default", why=WHY)
    created = (await world.entries())[-1]
    assert created.tenant_id == eve.tenant_id


async def test_a_person_sees_and_ends_their_own_tokens_and_an_administrator_everyones(world):
    jane, bob, root = await world.person("jane"), await world.person("bob"), await world.root()
    mine = (await world.tokens.create(jane, label="mine", why=WHY)).token
    assert [token.id for token in await world.tokens.listing(jane)] == [mine.id]
    assert await world.tokens.listing(bob) == []
    with pytest.raises(NotAllowedError):
        await world.tokens.listing(bob, everyone=True)
    with pytest.raises(NotFoundError):
        await world.tokens.revoke(bob, mine.id, why=WHY)
    assert [token.id for token in await world.tokens.listing(root, everyone=True)] == [mine.id]
    assert (await world.tokens.revoke(root, mine.id, why=WHY)).revoked_at is not None


async def test_an_administrator_of_another_tenant_finds_no_token_here(world):
    jane = await world.person("jane")
    token = (await world.tokens.create(jane, label="mine", why=WHY)).token
    stranger = await world.person("zoe", admin=True, tenant="acme")
    assert await world.tokens.listing(stranger, everyone=True) == []
    with pytest.raises(NotFoundError):
        await world.tokens.revoke(stranger, token.id, why=WHY)


async def test_ending_a_token_twice_changes_nothing(world, clock):
    jane = await world.person("jane")
    token = (await world.tokens.create(jane, label="mine", why=WHY)).token
    first = await world.tokens.revoke(jane, token.id, why=WHY)
    number = await world.database.number()
    clock.pass_by(hours=1)
    assert (await world.tokens.revoke(jane, token.id, why=WHY)).revoked_at == first.revoked_at
    assert await world.database.number() == number


async def test_making_and_ending_a_token_is_told_to_its_person_alone(world):
    jane = await world.person("jane")
    since = await world.database.number()
    token = (await world.tokens.create(jane, label="ci", why=WHY)).token
    await world.tokens.revoke(jane, token.id, why=WHY)
    made, ended = await world.entries(since=since)
    assert [made.change.action, ended.change.action] == ["token.created", "token.revoked"]
    assert {entry.change.subject.audience for entry in (made, ended)} == {person_audience(jane.person_id)}
    assert made.why.reason == "a test"
    assert "sky_" not in str(made)


@pytest.mark.parametrize("life", [timedelta(0), timedelta(days=-1), timedelta(days=3651)])
async def test_a_life_of_nothing_or_of_more_than_ten_years_is_refused(world, life):
    with pytest.raises(InputError) as caught:
        await world.tokens.create(await world.root(), label="ci", expires_in=life, why=WHY)
    assert caught.value.details["field"] == "expires_in"


@pytest.mark.parametrize("label", ["", "  ", "x" * 201])
async def test_a_token_needs_a_label(world, label):
    with pytest.raises(InputError) as caught:
        await world.tokens.create(await world.root(), label=label, why=WHY)
    assert caught.value.details["field"] == "label"


async def test_whether_anyone_could_come_in_counts_good_tokens_only(world, clock):
    root = await world.root()
    assert not await world.tokens.any()
    token = (await world.tokens.create(root, label="a", expires_in=timedelta(days=1), why=WHY)).token
    assert await world.tokens.any()
    clock.pass_by(days=1)
    assert not await world.tokens.any()
    token = (await world.tokens.create(root, label="b", why=WHY)).token
    assert await world.tokens.any()
    await world.tokens.revoke(root, token.id, why=WHY)
    assert not await world.tokens.any()


async def holder(world, name="jane", **given):
    """Who has a new token of someone that may make others."""
    await world.person(name)
    secret = await world.token(name, scope=Scope.ADMIN, **given)
    return (await world.access.by_token(secret)).principal


async def make(world, principal, **given):
    given = {"label": "made", "scope": Scope.ADMIN, "why": WHY, **given}
    made = await world.tokens.create(principal, **given)
    return made, (await world.access.by_token(made.secret)).principal


async def ended(world, *made):
    """Which of these tokens open nothing any more."""
    found = []
    for one in made:
        try:
            await world.access.by_token(one.secret)
        except UnauthenticatedError:
            found.append(one)
    return found


async def test_a_token_that_is_made_with_one_ends_with_it_unless_it_is_to_end_sooner(world, clock):
    jane = await holder(world, expires_in=timedelta(days=10))
    made, _ = await make(world, jane)
    assert made.token.expires_at == clock.now + timedelta(days=10)
    assert made.token.parent_id == jane.token_id
    sooner, _ = await make(world, jane, expires_in=timedelta(days=3))
    assert sooner.token.expires_at == clock.now + timedelta(days=3)
    clock.pass_by(days=10)
    assert await ended(world, made, sooner) == [made, sooner]


async def test_a_token_that_would_outlast_the_one_it_is_made_with_is_refused(world, clock):
    jane = await holder(world, expires_in=timedelta(days=10))
    with pytest.raises(InputError) as caught:
        await make(world, jane, expires_in=timedelta(days=11))
    assert caught.value.details["field"] == "expires_in"
    assert "2026-01-11" in caught.value.message
    _, grandchild = await make(world, jane, expires_in=timedelta(days=5))
    with pytest.raises(InputError):
        await make(world, grandchild, expires_in=timedelta(days=6))


async def test_a_token_that_was_made_without_one_lasts_as_asked_for(world):
    made, principal = await make(world, await world.person("jane"))
    assert (made.token.expires_at, made.token.parent_id) == (None, None)
    made, _ = await make(world, principal, expires_in=timedelta(days=3650))
    assert made.token.parent_id == principal.token_id


async def test_ending_a_token_ends_all_that_were_made_with_it_whoever_has_them(world):
    await world.person("bob")
    root = await world.root()
    boss = (await world.tokens.create(root, label="boss", scope=Scope.ADMIN, why=WHY)).secret
    boss = (await world.access.by_token(boss)).principal
    first, with_first = await make(world, boss)
    second, _ = await make(world, with_first, person="bob")
    other, _ = await make(world, root, person="bob")
    since = await world.database.number()
    await world.tokens.revoke(boss, boss.token_id, why=WHY)
    assert await ended(world, first, second, other) == [first, second]
    told = await world.entries(since=since)
    assert [entry.change.action for entry in told] == ["token.revoked"] * 3
    assert person_audience(second.token.person_id) in {entry.change.subject.audience for entry in told}


async def test_what_was_made_with_a_token_can_be_kept_and_ended_later(world):
    jane = await holder(world)
    middle, with_middle = await make(world, jane)
    last, _ = await make(world, with_middle)
    await world.tokens.revoke(jane, middle.token.id, keep_made=True, why=WHY)
    assert await ended(world, middle, last) == [middle]
    await world.tokens.revoke(with_middle, jane.token_id, keep_made=True, why=WHY)
    assert await ended(world, last) == []
    await world.tokens.revoke(jane, jane.token_id, why=WHY)
    assert await ended(world, last) == [last]


async def test_nothing_is_made_with_a_token_that_has_just_ended(world):
    jane = await holder(world)
    await world.tokens.revoke(jane, jane.token_id, why=WHY)
    with pytest.raises(UnauthenticatedError):
        await make(world, jane)
