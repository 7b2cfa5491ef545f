from datetime import UTC, datetime

import pytest

from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.learning.memories import MemoryWish
from skillyard.learning.memory import MAX_TEXT
from skillyard.learning.states import Operation

from .conftest import Learner

pytestmark = pytest.mark.anyio


async def remembered(learner: Learner, text, *, lesson=None, **more):
    draft = await learner.memories.draft(learner.boss, MemoryWish(operation=Operation.CREATE, text=text, **more))
    return (await learner.memories.apply(draft, learner.author(lesson=lesson)))[0]


async def recalled(learner: Learner, query, **more):
    return [memory.text for memory in await learner.recall.recall(learner.boss, query, **more)]


async def test_what_was_told_is_found_again_in_its_language(learner: Learner):
    await remembered(learner, "환불은 영업일 기준 3일 안에 처리한다")
    await remembered(learner, "发票必须用公司全称")
    await remembered(learner, "Orders above 500 euros need a second signature.")
    assert await recalled(learner, "환불 처리 기간") == ["환불은 영업일 기준 3일 안에 처리한다"]
    assert await recalled(learner, "发票抬头 公司") == ["发票必须用公司全称"]
    assert await recalled(learner, "second signature for an order") == [
        "Orders above 500 euros need a second signature."
    ]
    assert len(await recalled(learner, "")) == 3


async def test_an_agent_recalls_its_own_and_what_is_for_all(learner: Learner):
    await remembered(learner, "Refunds take three days.", agent_id="refunds")
    await remembered(learner, "Refunds are paid in euros.")
    assert set(await recalled(learner, "refunds", agent_id="orders")) == {"Refunds are paid in euros."}
    assert len(await recalled(learner, "refunds", agent_id="refunds")) == 2


async def test_an_update_supersedes_and_undoing_brings_the_old_back(learner: Learner):
    lesson = await learner.lesson()
    old = await remembered(learner, "Refunds take three days.")
    wish = MemoryWish(operation=Operation.UPDATE, memory_id=old.id, text="Refunds take five days.")
    draft = await learner.memories.draft(learner.boss, wish)
    new, superseded = await learner.memories.apply(draft, learner.author(lesson=lesson))
    assert await recalled(learner, "refunds") == ["Refunds take five days."]
    assert (await learner.memories.get(learner.boss, old.id)).superseded_by == new.id
    for effect in (superseded, new):
        await learner.undo(effect.history)
    assert await recalled(learner, "refunds") == ["Refunds take three days."]


async def test_one_lesson_is_remembered_once(learner: Learner):
    lesson = await learner.lesson()
    first = await remembered(learner, "Say please.", lesson=lesson)
    assert (await remembered(learner, "Say please.", lesson=lesson)).id == first.id
    assert len(await learner.memories.all(learner.boss)) == 1


async def test_what_is_forgotten_or_over_is_not_recalled(learner: Learner):
    await remembered(learner, "Today is a holiday.", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    effect = await remembered(learner, "The office is closed.")
    draft = await learner.memories.draft(learner.boss, MemoryWish(operation=Operation.DELETE, memory_id=effect.id))
    gone = (await learner.memories.apply(draft, learner.author()))[0]
    assert await recalled(learner, "holiday office") == []
    await learner.undo(gone.history)
    assert await recalled(learner, "office closed") == ["The office is closed."]


async def test_a_change_to_what_has_changed_is_refused(learner: Learner):
    old = await remembered(learner, "One.")
    wish = MemoryWish(operation=Operation.UPDATE, memory_id=old.id, text="Two.")
    first, second = [await learner.memories.draft(learner.boss, wish) for _ in range(2)]
    await learner.memories.apply(first, learner.author())
    with pytest.raises(ConflictError):
        await learner.memories.apply(second, learner.author())


async def test_helping_and_harming_are_counted(learner: Learner):
    effect = await remembered(learner, "Say please.")
    await learner.memories.judge(learner.boss, effect.id, "helpful")
    memory = await learner.memories.judge(learner.boss, effect.id, "harmful")
    assert (memory.helpful, memory.harmful) == (1, 1)


async def test_memories_of_another_tenant_are_not_there(learner: Learner):
    effect = await remembered(learner, "A secret of ours.")
    with pytest.raises(NotFoundError):
        await learner.memories.get(learner.foreigner, effect.id)
    assert await learner.recall.recall(learner.foreigner, "secret") == []


@pytest.mark.parametrize("text", ["", "  ", "x" * (MAX_TEXT + 1)])
async def test_what_is_no_memory_is_refused(learner: Learner, text):
    with pytest.raises(InputError, match="text"):
        await remembered(learner, text)
