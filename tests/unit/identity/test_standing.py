"""Rights that end while a request is on its way."""

import pytest

from skillyard.errors import NotAllowedError, UnauthenticatedError
from skillyard.history.entries import Why
from skillyard.identity.principals import Role, Scope
from skillyard.identity.standing import ACTING, Acting, Standing

pytestmark = pytest.mark.anyio
WHY = Why(reason="a test")


@pytest.fixture(autouse=True)
def standing(world, clock):
    return Standing(world.database, clock=clock)


@pytest.fixture
async def acting(world):
    """Act as a principal who was admitted now."""

    async def _act(principal):
        ACTING.set(Acting(principal=principal, number=await world.database.number()))

    yield _act
    ACTING.set(None)


async def write(world):
    async with world.database.write() as transaction:
        return transaction.number


async def change_unseen(change):
    """Someone else's change, in between."""
    mine = ACTING.get()
    ACTING.set(None)
    await change
    ACTING.set(mine)


async def test_rights_that_did_not_change_are_good_whatever_else_did(world, acting):
    await acting(await world.person("ana"))
    await change_unseen(world.person("someone-else"))
    assert await write(world) > ACTING.get().number


async def test_who_was_disabled_writes_nothing_more(world, acting):
    root = await world.root()
    await acting(await world.person("ana"))
    await change_unseen(world.people.set_disabled(root, "ana", disabled=True, why=WHY))
    with pytest.raises(UnauthenticatedError):
        await write(world)


async def test_a_token_that_was_ended_or_ran_out_writes_nothing_more(world, acting, clock):
    await world.person("ana")
    admission = await world.access.by_token(await world.token("ana", scope=Scope.ADMIN))
    await acting(admission.principal)
    root = await world.root()
    await change_unseen(world.tokens.revoke(root, admission.principal.token_id, why=WHY))
    with pytest.raises(UnauthenticatedError):
        await write(world)


async def test_who_lost_a_role_is_told_to_ask_again(world, acting):
    owner = await world.team("crew", "olga", ana=Role.EDITOR)
    await acting(await world.person("ana"))
    await change_unseen(world.namespaces.remove_member(owner, "crew", "ana", why=WHY))
    with pytest.raises(NotAllowedError, match="changed while"):
        await write(world)


async def test_what_the_yard_notes_for_itself_asks_for_nobodys_rights(world, acting):
    root = await world.root()
    await acting(await world.person("ana"))
    await change_unseen(world.people.set_disabled(root, "ana", disabled=True, why=WHY))
    async with world.database.write(bookkeeping=True):
        pass
