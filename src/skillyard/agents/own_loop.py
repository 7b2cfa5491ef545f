"""An event loop beside the program's own, for what must be awaited where nothing can be."""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a coroutine, which runs on one loop of its own that all such callers share."""
    return asyncio.run_coroutine_threadsafe(work, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="skillyard", daemon=True).start()
    return loop
