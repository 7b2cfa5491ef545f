import shutil

import pytest

from skillyard.db.database import Database
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.history.entries import Actor, Change, Outcome, Subject, Why
from skillyard.history.service import History
from skillyard.history.store import entries_of

pytestmark = pytest.mark.anyio

ACTOR = Actor(tenant_id="t", name="jane", id="p")
WHY = Why(reason="tidy", feedback="it was wrong", request_id="r1")


@pytest.fixture
async def database(tmp_path, empty_registry):
    database = await Database.open(f"sqlite:///{shutil.copy(empty_registry, tmp_path)}")
    yield database
    await database.close()


@pytest.fixture
def history(database):
    return History(database)


def change(key="1", *, audience="tenant:t", action="thing.changed", **fields):
    subject = Subject(kind="thing", id=key, label=f"the {key}", audience=audience)
    return Change(action=action, subject=subject, **fields)


async def record(database, history, *changes, actor=ACTOR):
    async with database.write() as transaction:
        return [history.record(transaction, actor, one, WHY) for one in changes]


async def test_an_entry_keeps_who_when_why_and_what(database, history):
    given = change(before={"a": 1}, after={"a": 2}, digest_before="sha256:1", digest_after="sha256:2")
    [number] = await record(database, history, given)
    entry = await history.entry(number)
    assert entry.change == given
    assert entry.actor == ACTOR
    assert entry.why == WHY
    assert entry.outcome is Outcome.DONE
    assert number == await database.number()


async def test_a_refused_attempt_is_kept_with_its_error_and_is_not_in_the_feed(database, history):
    async with database.write() as transaction:
        number = history.record_refusal(
            transaction, ACTOR, change(digest_after="sha256:1"), WHY, InputError("No.", details={"field": "x"})
        )
    entry = await history.entry(number)
    assert not entry.done
    assert entry.error["details"] == {"field": "x"}
    page = await history.feed({"tenant:t"}, since=0)
    assert page.entries == ()
    assert page.next == number


async def test_the_feed_is_in_order_and_says_how_far_it_looked(database, history):
    numbers = await record(
        database, history, change("1"), change("2", audience="namespace:other"), change("3"), change("4")
    )
    page = await history.feed({"tenant:t"}, since=0, limit=2)
    assert [entry.change.subject.id for entry in page.entries] == ["1"]
    assert page.next == numbers[1]
    page = await history.feed({"tenant:t"}, since=page.next)
    assert [entry.change.subject.id for entry in page.entries] == ["3", "4"]
    assert page.next == numbers[-1]
    assert (await history.feed({"tenant:t"}, since=page.next)).next == page.next


async def test_who_could_know_of_a_subject_before_is_told_of_the_change(database, history):
    await record(database, history, change(audience="namespace:n", audience_before="tenant:t"))
    assert len((await history.feed({"tenant:t"}, since=0)).entries) == 1
    assert (await history.feed({"tenant:u"}, since=0)).entries == ()


async def test_entries_are_found_by_key_subject_actor_and_position(database, history):
    other = Actor(tenant_id="t", name="bob", id="q")
    first, second = await record(database, history, change("1"), change("2"))
    [third] = await record(database, history, change("1", audience="namespace:n"), actor=other)
    await record(database, history, change("1"), actor=Actor(tenant_id="u", name="jane"))

    async def numbers(audiences, **given):
        async with database.read() as session:
            return [entry.number for entry in await entries_of(session, audiences, tenant_id="t", limit=9, **given)]

    assert await numbers(["tenant:t"]) == [second, first]
    assert await numbers(["tenant:t", "namespace:n"]) == [third, second, first]
    assert await numbers(None, subjects=[("thing", "1")]) == [third, first]
    assert await numbers(None, actor="bob") == [third]
    assert await numbers(None, before=third) == [second, first]
    assert await numbers([]) == []


async def test_undo_records_the_change_back_and_can_itself_be_undone(database, history):
    state = {"value": "new"}

    async def prepare(entry):
        async def step(_transaction):
            state["value"], before = entry.change.before["value"], state["value"]
            return change(before={"value": before}, after={"value": state["value"]})

        return step

    history.register_undo("thing.changed", prepare)
    [number] = await record(database, history, change(before={"value": "old"}, after={"value": "new"}))
    assert history.is_undoable(await history.entry(number))
    back = await history.undo(ACTOR, await history.entry(number), Why())
    assert state["value"] == "old"
    undone = await history.entry(number)
    assert undone.undone_by == back
    assert not history.is_undoable(undone)
    assert (await history.entry(back)).change.undoes == number
    await history.undo(ACTOR, await history.entry(back), Why())
    assert state["value"] == "new"


async def test_an_entry_is_undone_once_also_by_two_who_read_it_before(database, history):
    async def prepare(_entry):
        async def step(_transaction):
            return change()

        return step

    history.register_undo("thing.changed", prepare)
    [number] = await record(database, history, change())
    seen = await history.entry(number)
    await history.undo(ACTOR, seen, Why())
    with pytest.raises(ConflictError) as caught:
        await history.undo(ACTOR, seen, Why())
    assert caught.value.details["undone_by"] == number + 1


async def test_what_failed_in_an_undo_leaves_nothing_behind(database, history):
    async def prepare(entry):
        async def step(transaction):
            history.record(transaction, ACTOR, change("half"), Why())
            raise ConflictError(f"moved on since {entry.number}")

        return step

    history.register_undo("thing.changed", prepare)
    [number] = await record(database, history, change())
    with pytest.raises(ConflictError):
        await history.undo(ACTOR, await history.entry(number), Why())
    assert (await history.entry(number)).undone_by is None
    assert await database.number() == number


async def test_a_kind_without_a_way_back_and_a_refusal_are_not_undone(database, history):
    [number] = await record(database, history, change(action="token.revoked"))
    with pytest.raises(ConflictError) as caught:
        await history.undo(ACTOR, await history.entry(number), Why())
    assert "token.revoked" in caught.value.message
    async with database.write() as transaction:
        refused = history.record_refusal(transaction, ACTOR, change(), Why(), InputError("No."))
    with pytest.raises(ConflictError):
        await history.undo(ACTOR, await history.entry(refused), Why())


async def test_an_entry_that_is_not_there_is_not_found(history):
    with pytest.raises(NotFoundError):
        await history.entry(7)
