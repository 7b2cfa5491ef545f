"""Work of one person waits for itself, never the event loop or somebody else."""

import asyncio
import threading

import pytest

from skillyard.errors import TooManyRequestsError
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.turns import MAX_AT_ONCE, Turns

pytestmark = pytest.mark.anyio
ANNA, BEN = (Principal(person_id=name, name=name, tenant_id="t", scope=Scope.READ) for name in ("anna", "ben"))


async def test_work_is_done_beside_the_event_loop() -> None:
    assert await Turns().run(ANNA, threading.current_thread) is not threading.current_thread()


async def test_one_piece_of_a_person_at_a_time_and_others_meanwhile() -> None:
    turns, end = Turns(), threading.Event()
    at_once, most = 0, 0

    def work() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        end.wait()
        at_once -= 1

    mine = [asyncio.create_task(turns.run(ANNA, work)) for _ in range(3)]
    await asyncio.sleep(0)
    assert await turns.run(BEN, lambda: "done") == "done"
    assert not any(task.done() for task in mine)
    end.set()
    await asyncio.gather(*mine)
    assert most == 1


async def test_too_many_pieces_of_a_person_are_refused_with_the_limit() -> None:
    turns, end = Turns(), threading.Event()
    waiting = [asyncio.create_task(turns.run(ANNA, end.wait)) for _ in range(MAX_AT_ONCE)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequestsError) as caught:
        await turns.run(ANNA, end.wait)
    assert caught.value.details["limit"] == MAX_AT_ONCE
    assert await turns.run(BEN, lambda: 1) == 1
    end.set()
    await asyncio.gather(*waiting)
    assert await turns.run(ANNA, lambda: 2) == 2


async def test_an_error_of_the_work_is_told_and_the_turn_is_over() -> None:
    turns = Turns()

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await turns.run(ANNA, fail)
    assert await turns.run(ANNA, lambda: 1) == 1


async def test_the_end_of_what_was_done_already_waits_for_its_turn_and_is_never_refused() -> None:
    turns, end = Turns(), threading.Event()
    waiting = [asyncio.create_task(turns.run(ANNA, end.wait)) for _ in range(MAX_AT_ONCE)]
    await asyncio.sleep(0)
    last = asyncio.create_task(turns.complete(ANNA, lambda: "kept"))
    await asyncio.sleep(0)
    assert not last.done()
    end.set()
    await asyncio.gather(*waiting)
    assert await last == "kept"
