import pytest

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.models import DELETING, CondemnedBlobRow
from skillyard.errors import UnavailableError

pytestmark = pytest.mark.anyio


async def test_the_rows_are_made_with_the_names_of_the_contents_in_order(yard):
    async def register(transaction, hashes):
        await yard.name(transaction, sorted(set(hashes)))
        return dict(zip(["a", "b", "c"], hashes, strict=True))

    answer = await put_and_claim(yard.database, yard.blobs, [b"1", b"2", b"1"], register)
    assert await yard.blobs.get_all(list(answer.values())) == {answer["a"]: b"1", answer["b"]: b"2"}
    assert answer["c"] == answer["a"]
    async with yard.database.read() as session:
        assert await yard.named(session, [*answer.values(), "other"]) == {answer["a"], answer["b"]}


async def test_an_error_of_the_rows_is_the_callers_and_is_not_tried_again(yard):
    calls = []

    async def register(transaction, hashes):
        calls.append(hashes)
        await yard.name(transaction, hashes)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await put_and_claim(yard.database, yard.blobs, [b"1"], register)
    assert len(calls) == 1
    async with yard.database.read() as session:
        assert await yard.named(session, calls[0]) == set()


async def test_a_deletion_that_does_not_end_is_an_error_that_says_what_to_do(yard):
    sha256 = await yard.blobs.put(b"1")
    async with yard.database.write() as transaction:
        transaction.session.add(CondemnedBlobRow(sha256=sha256, state=DELETING, at=yard.now))
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    with pytest.raises(UnavailableError, match="being removed") as caught:
        await put_and_claim(yard.database, yard.blobs, [b"1"], yard.name, clock=yard.clock, pause=pause)
    assert "Try again" in caught.value.hint
    assert caught.value.details == {"sha256": [sha256]}
    assert 3 < sum(pauses) < 10
