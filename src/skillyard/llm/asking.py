"""One question to a model and its answer, whatever goes wrong between."""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from skillyard.errors import ModelError
from skillyard.llm.budget import Budget
from skillyard.llm.texts import storable_json
from skillyard.llm.transcripts import Transcript
from skillyard.redact import storable

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

Shape = TypeVar("Shape", bound=BaseModel)

_TRIES: Final = 3
"""How often a model may answer in another shape than asked for."""
_SHOWN: Final = 200
_FENCED: Final = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


async def ask(
    model: "BaseChatModel", messages: Sequence["BaseMessage"], *, budget: Budget, transcript: Transcript
) -> "AIMessage":
    """The answer. Whatever keeps a model from answering is a `ModelError`, which trying again later may mend."""
    budget.require_more()
    try:
        async with asyncio.timeout(budget.seconds_left):
            answer = await model.ainvoke(list(messages))
    except TimeoutError as error:
        raise no_answer("it did not answer in its time", transcript) from error
    except Exception as error:  # every provider has errors of its own
        raise no_answer(f"{type(error).__name__}: {error}", transcript) from error
    budget.count(dict(answer.usage_metadata or {}))
    transcript.add("assistant", text_of(answer))
    return answer


async def ask_shaped(
    model: "BaseChatModel",
    shape: type[Shape],
    *,
    system: str,
    user: str,
    budget: Budget,
    transcript: Transcript,
) -> Shape:
    """An answer in JSON of a shape. One in another shape is asked for again, with what is wrong with it."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage  # noqa: PLC0415 -- an extra

    schema = json.dumps(shape.model_json_schema(), ensure_ascii=False)
    system = f"{system}\n\nAnswer with one JSON object of this schema, and nothing else:\n{schema}"
    transcript.add("system", system)
    transcript.add("user", user)
    messages: list[Any] = [SystemMessage(system), HumanMessage(user)]
    problem = said = ""
    for _ in range(_TRIES):
        text = storable(text_of(await ask(model, messages, budget=budget, transcript=transcript)))
        try:
            return shape.model_validate(storable_json(json.loads(json_in(text))))
        except ValidationError as error:
            problem, said = _told(error), ""
        except (ValueError, RecursionError) as error:
            problem = f"it is no JSON ({error})."
            said = f" It said: {_start(transcript)}"  # a refusal, perhaps
        wrong = f"That is not of the schema: {problem} Answer again with the JSON object alone."
        transcript.add("user", wrong)
        messages += [AIMessage(text), HumanMessage(wrong)]
    raise ModelError(
        f"The model did not answer in the shape that was asked for: {problem}{said}",
        hint="It is tried again later; a more capable model may do better.",
        details={"tries": _TRIES},
    )


def text_of(message: "BaseMessage") -> str:
    """All text of a message; where a model refuses, some say so beside it."""
    return str(message.text) or str(message.additional_kwargs.get("refusal") or "")


def _start(transcript: Transcript) -> str:
    """How the last answer begins, as it may be shown."""
    return " ".join(str(transcript.entries[-1]["text"]).split())[:_SHOWN]


def json_in(text: str) -> str:
    """The JSON in an answer, which models like to wrap."""
    fenced = _FENCED.search(text)
    inner = fenced[1] if fenced else text
    start, end = inner.find("{"), inner.rfind("}")
    return inner[start : end + 1] if 0 <= start < end else inner


def _told(error: ValidationError) -> str:
    return " ".join(f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}." for each in error.errors()[:5])


def no_answer(reason: str, transcript: Transcript) -> ModelError:
    """The error that a model gave no answer, noted where all that it says is."""
    transcript.add("error", reason)
    return ModelError(
        f"The model gave no answer: {transcript.entries[-1]['text'][:500]}",
        hint="It is tried again later. `skillyard doctor` checks the model.",
    )
