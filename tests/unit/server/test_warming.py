import sys

import pytest

from skillyard.server.routing import GROUPS
from skillyard.server.warming import warm, warming

pytestmark = pytest.mark.anyio


async def test_after_a_while_all_pages_are_imported(caplog):
    asked = []

    async def pause(seconds):
        asked.append(seconds)

    await warm(pause)
    pages = {group.module for group in GROUPS if group.module.startswith("skillyard.server.web.")}
    assert pages <= sys.modules.keys()
    assert (len(asked), caplog.records) == (1, [])


async def test_a_server_that_stops_at_once_waits_for_none_of_it():
    async with warming():
        pass
