import threading

import anyio
import pytest
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
