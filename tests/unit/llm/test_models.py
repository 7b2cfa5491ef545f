import asyncio
import threading

import pytest

from skillyard.config.settings import Settings
from skillyard.llm.models import ModelSource

pytestmark = pytest.mark.anyio


async def test_loading_a_model_that_is_given_up_is_over_before_anyone_goes_on(monkeypatch) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def load(_source: ModelSource) -> None:
        begun.set()
        assert may_end.wait(10)

    monkeypatch.setattr(ModelSource, "_load", load)
    loading = asyncio.ensure_future(ModelSource(Settings()).load())
    assert await asyncio.to_thread(begun.wait, 10)
    loading.cancel()
    still_waits = not (await asyncio.wait([loading], timeout=0.1))[0]
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert still_waits


def test_other_settings_make_another_model_and_the_same_ones_make_none() -> None:
    local = {"model_base_url": "http://127.0.0.1:9/v1"}
    source = ModelSource(Settings(model="openai:first", **local))
    first = source.chat
    assert source.chat is first
    source.use(Settings(model="openai:second", **local))
    assert source.name == "openai:second"
    assert source.chat is not first
    source.use(Settings())
    assert not source.configured
