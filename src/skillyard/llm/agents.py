"""Keeping an agent within its budget, and writing down what it says and does."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from skillyard.errors import BudgetError, ModelError
from skillyard.llm.asking import no_answer, text_of
from skillyard.llm.budget import Budget
from skillyard.llm.texts import storable_json
from skillyard.llm.transcripts import Transcript

_AGAIN: Final = 2
"""How often a model may call its tools with what is no JSON."""


class Watched(AgentMiddleware[Any, Any]):
    """Counts every call of the model, ends when the budget does, and notes what is said and done."""

    def __init__(self, budget: Budget, transcript: Transcript) -> None:
        super().__init__()
        self._budget = budget
        self._transcript = transcript

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        response = await self._ask(request, handler)
        for _ in range(_AGAIN):
            broken = _broken_calls(response)
            if not broken:
                return response
            wrong = f"The arguments of {', '.join(broken)} were not JSON, so nothing was done. Call it again."
            self._transcript.add("user", wrong)
            again = [*request.messages, HumanMessage(wrong)]
            response = await self._ask(request.override(messages=again), handler)
        broken = _broken_calls(response)
        if broken:  # it wanted something: that must not pass for an end at which it wanted nothing
            raise no_answer(f"it called {', '.join(broken)} with what is no JSON, {_AGAIN + 1} times", self._transcript)
        return response

    async def _ask(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        self._budget.require_more()
        try:
            async with asyncio.timeout(self._budget.seconds_left):
                response = await handler(request)
        except TimeoutError as error:
            raise no_answer("it did not answer in its time", self._transcript) from error
        except (BudgetError, ModelError):
            raise
        except Exception as error:  # every provider has errors of its own
            raise no_answer(f"{type(error).__name__}: {error}", self._transcript) from error
        for message in response.result:
            if isinstance(message, AIMessage):
                _make_storable(message)
                self._budget.count(dict(message.usage_metadata or {}))
                calls = [{"name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
                self._transcript.add("assistant", text_of(message), **({"calls": calls} if calls else {}))
        return response

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> Any:  # noqa: ANN401 -- as declared
        answer = await handler(request)
        content = answer.content if isinstance(answer, ToolMessage) else answer
        text = content if isinstance(content, str) else json.dumps(content, default=str, ensure_ascii=False)
        self._transcript.add("tool", text, name=request.tool_call["name"])
        return answer


def _make_storable(message: AIMessage) -> None:
    """What a model says is sent back to it with all that follows, and must be text by then."""
    message.content = storable_json(message.content)
    for call in message.tool_calls:
        call["args"] = storable_json(call["args"])


def _broken_calls(response: ModelResponse[Any]) -> list[str]:
    """The tools that an answer calls with what is no JSON, if it calls no other: it would count as its last."""
    answers = [message for message in response.result if isinstance(message, AIMessage)]
    if any(answer.tool_calls for answer in answers):
        return []
    return [call["name"] or "a tool" for answer in answers for call in answer.invalid_tool_calls]
