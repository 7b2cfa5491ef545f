import asyncio
import threading

import pytest

from skillyard.config.settings import Settings
from skillyard.llm.models import ModelSource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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
