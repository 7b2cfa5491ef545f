import asyncio
import threading

import pytest
from pydantic import BaseModel, SecretStr

from skillyard.config.settings import Settings
from skillyard.errors import UsageError
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


@pytest.mark.parametrize("model", ["openai:gpt-5", "google_genai:gemini-2"])
def test_a_model_without_its_key_is_told_where_to_put_it(monkeypatch, model: str) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UsageError, match=r"'\w+:[\w-]+' cannot be used: .*(credentials|API key)") as refused:
        _ = ModelSource(Settings(model=model)).chat
    assert "SKILLYARD_MODEL_API_KEY" in refused.value.hint


def test_what_a_provider_has_against_its_settings_is_told_without_the_key(monkeypatch) -> None:
    class Provider(BaseModel):
        api_key: int

    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda _model, **given: Provider(**given))
    with pytest.raises(UsageError, match="valid integer") as refused:
        _ = ModelSource(Settings(model="openai:gpt-5", model_api_key=SecretStr("sk-hunter2"))).chat
    assert "hunter2" not in str(refused.value)
