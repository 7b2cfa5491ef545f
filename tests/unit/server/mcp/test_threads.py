import threading

import anyio
import pytest
from anyio import CapacityLimiter
from mcp.shared.exceptions import MCPError

from skillyard.errors import ConflictError
from skillyard.server.mcp.threads import MOST_ANSWERS, aside

pytestmark = pytest.mark.anyio
PATIENCE = 60


async def test_the_application_has_threads_left_when_every_answer_waits_for_it():
    over = threading.Event()
    waiting = threading.Semaphore(0)

    def wait_for_the_application():
        waiting.release()
        over.wait(PATIENCE)

    async with anyio.create_task_group() as tasks:
        for _ in range(MOST_ANSWERS):
            tasks.start_soon(aside, wait_for_the_application)
        with anyio.fail_after(PATIENCE):
            for _ in range(MOST_ANSWERS):
                while not waiting.acquire(blocking=False):
                    await anyio.lowlevel.checkpoint()
            await anyio.to_thread.run_sync(over.set)


async def test_whoever_gives_up_makes_no_room_before_the_work_is_over():
    """Else calls that are cancelled again and again would fill the machine with threads."""
    limiter = CapacityLimiter(1)
    began, over = threading.Event(), threading.Event()

    def work():
        began.set()
        over.wait(PATIENCE)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(aside, work, limiter)
        await anyio.to_thread.run_sync(began.wait, PATIENCE)
        tasks.cancel_scope.cancel()
    with anyio.move_on_after(0.05) as waiting:  # gives up before it has begun
        await aside(pytest.fail, limiter)
    assert waiting.cancelled_caught
    over.set()
    with anyio.fail_after(PATIENCE):
        assert await aside(lambda: "next", limiter) == "next"


async def test_an_error_comes_back_as_mcp_tells_it_and_one_of_the_disk_without_its_path():
    def refuse():
        raise ConflictError("It is taken.", hint="Take another.")

    def break_down():
        raise OSError(5, "Input/output error", "/secret/place")

    with pytest.raises(MCPError, match=r"It is taken\. Take another\.") as caught:
        await aside(refuse)
    assert caught.value.data["code"] == "conflict"
    with pytest.raises(MCPError, match="our mistake") as caught:
        await aside(break_down)
    assert "secret" not in str(caught.value)
