import pytest
from pydantic import BaseModel

from skillyard.config.settings import Settings
from skillyard.errors import BudgetError, ModelError, NoModelError, UsageError
from skillyard.llm.asking import ask_shaped, json_in
from skillyard.llm.budget import Budget, Spent
from skillyard.llm.models import ModelSource
from skillyard.llm.scripted import Reply, Script, ScriptedModel, in_turn
from skillyard.llm.texts import MAX_DEPTH, TOO_DEEP, storable_json
from skillyard.llm.transcripts import MAX_TEXT, Transcript

pytestmark = pytest.mark.anyio


class Answer(BaseModel):
    agent: str
    sure: bool


GOOD = '{"agent": "주문", "sure": true}'


async def _asked(
    script: Script, budget: Budget | None = None, transcript: Transcript | None = None, *, seconds: float = 600.0
) -> Answer:
    with ScriptedModel(script) as model:
        source = ModelSource(Settings(**model.settings, model_api_key="sk-local"))  # pyright: ignore[reportArgumentType]
        return await ask_shaped(
            source.chat,
            Answer,
            system="Decide.",
            user="누구에게?",
            budget=budget or Budget(seconds=seconds),  # from when the model is there
            transcript=transcript or Transcript(),
        )


async def test_an_answer_of_the_shape_is_given_as_such() -> None:
    budget = Budget()
    assert await _asked(in_turn(Reply(text=GOOD)), budget) == Answer(agent="주문", sure=True)
    assert budget.spent.calls == 1
    assert budget.spent.input_tokens > 0


async def test_an_answer_of_another_shape_is_asked_for_again_with_the_problem() -> None:
    transcript = Transcript()
    script = in_turn(Reply(text="Sure! It is the ordering agent."), Reply(text='{"agent": 5}'), Reply(text=GOOD))
    assert (await _asked(script, transcript=transcript)).sure
    told = [entry["text"] for entry in transcript.entries if entry["role"] == "user"]
    assert "sure: Field required" in told[-1]


async def test_a_model_that_never_answers_in_the_shape_is_an_error_and_no_answer() -> None:
    with pytest.raises(ModelError, match=r"shape.* It said: I cannot help with that."):
        await _asked(in_turn(Reply(text="I cannot\nhelp with that.")))


async def test_what_a_server_fails_with_is_an_error_that_may_pass() -> None:
    with pytest.raises(ModelError, match="out of order"):
        await _asked(in_turn(Reply(status=400, text="out of order")))


async def test_too_many_requests_are_tried_again() -> None:
    script = in_turn(Reply(status=429, headers={"retry-after-ms": "1"}), Reply(text=GOOD))
    assert (await _asked(script)).sure


async def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    with pytest.raises(ModelError, match="in its time"):
        await _asked(in_turn(Reply(text=GOOD, wait=1.0)), seconds=0.2)


@pytest.mark.parametrize(("spent", "what"), [(Spent(calls=3), "calls"), (Spent(input_tokens=100), "tokens")])
async def test_nothing_is_asked_beyond_the_budget(spent: Spent, what: str) -> None:
    with pytest.raises(BudgetError, match=what):
        await _asked(in_turn(Reply(text=GOOD)), Budget(calls=3, tokens=100, spent=spent))


async def test_without_a_model_nothing_pretends() -> None:
    source = ModelSource(Settings())
    assert not source.configured
    with pytest.raises(NoModelError):
        _ = source.chat


async def test_a_model_that_nobody_knows_is_an_error_of_the_settings() -> None:
    source = ModelSource(Settings(model="nowhere:nothing"))
    with pytest.raises(UsageError) as caught:
        _ = source.chat
    assert "provider:model" in caught.value.hint


@pytest.mark.parametrize("text", [GOOD, f"```json\n{GOOD}\n```", f"Here it is:\n{GOOD}\nAnything else?"])
def test_json_is_found_in_what_models_wrap_it_in(text: str) -> None:
    assert Answer.model_validate_json(json_in(text)).sure


def test_a_transcript_has_no_secrets_and_no_endless_texts() -> None:
    transcript = Transcript(secrets=["hunter2"])
    transcript.add("tool", "x" * (MAX_TEXT + 5), call={"args": ["hunter2", {"deep": "aHVudGVyMg=="}]})
    kept = transcript.as_json().decode()
    assert "hunter2" not in kept
    assert "aHVudGVyMg" not in kept
    assert "5 characters are left out" in kept


@pytest.mark.parametrize("told", [-5, "many", None, [], float("nan"), float("inf"), True])
def test_tokens_that_are_none_make_a_budget_neither_larger_nor_useless(told: object):
    budget = Budget(tokens=10)
    budget.count({"input_tokens": told, "output_tokens": told})
    budget.require_more()
    assert 0 <= budget.spent.input_tokens <= 1
    budget.count({"input_tokens": 10**400})
    with pytest.raises(BudgetError):
        budget.require_more()


def test_what_is_too_deep_is_left_out_of_json():
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    text = str(storable_json({"a": deep, "b": [["\0"]]}))
    assert text.count("[") <= MAX_DEPTH + 3
    assert TOO_DEEP in text
    assert "\ufffd" in text
