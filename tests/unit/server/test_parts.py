import asyncio

from skillyard.server.parts import Parts


def test_all_who_ask_at_once_are_answered_by_one_look():
    looks = []
    now = [100.0]
    found = asyncio.Event()

    async def look():
        looks.append(now[0])
        await found.wait()

    async def go():
        parts = Parts({"database": look}, clock=lambda: now[0])
        asked = [asyncio.create_task(parts.outcomes()) for _ in range(5)]
        await asyncio.sleep(0)
        asked[0].cancel()  # whoever asked first may be gone before the answer
        found.set()
        assert [await one for one in asked[1:]] == [{"database": "ok"}] * 4
        now[0] += 0.9
        await parts.outcomes()
        assert looks == [100.0]
        now[0] += 0.1
        await parts.outcomes()

    asyncio.run(go())
    assert looks == [100.0, 101.0]
