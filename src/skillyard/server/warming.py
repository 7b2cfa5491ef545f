"""What pages need, imported before anybody asks for one: the first visitor would wait for it."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Final

from skillyard.clock import Pause
from skillyard.server.routing import GROUPS

_REST: Final = 1.0
"""Seconds until it begins: whoever waited for the server comes first."""
_PAGES: Final = "skillyard.server.web."


_log = logging.getLogger(__name__)


@asynccontextmanager
async def warming() -> AsyncGenerator[None]:
    """Have the pages ready soon, while the block runs."""
    task = asyncio.create_task(warm(asyncio.sleep))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def warm(pause: Pause) -> None:
    """Import the modules of all pages, and compile their templates, one after the other beside the event loop."""
    await pause(_REST)
    try:
        for group in GROUPS:
            if group.module.startswith(_PAGES):
                await asyncio.to_thread(import_module, group.module)
        from skillyard.server.web.rendering import load_template, template_names  # noqa: PLC0415 -- imported by now

        for name in template_names():
            await asyncio.to_thread(load_template, name)
    except Exception:  # noqa: BLE001 -- whoever asks for that page is told
        _log.exception("Not all pages could be prepared.")
