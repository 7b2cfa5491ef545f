"""A model that needs no network: it says, step by step, what it is told to say.

Every example takes the name of a real model instead, such as `openai:gpt-5.2` or `anthropic:claude-sonnet-4-6`:

    python examples/langchain_agent.py openai:gpt-5.2
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

Step = AIMessage | Callable[[list[BaseMessage]], AIMessage]
"""What the model says, or a function that works it out from the conversation."""


class OfflineModel(BaseChatModel):
    """Takes one step whenever it is asked."""

    steps: list[Any]

    @property
    def _llm_type(self) -> str:
        return "offline"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "OfflineModel":
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        step = self.steps.pop(0)
        message = step if isinstance(step, AIMessage) else step(messages)
        return ChatResult(generations=[ChatGeneration(message=message)])


def call(tool: str, **arguments: Any) -> AIMessage:
    """A step that calls a tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{tool}"}])


def chosen_model(*steps: Step) -> BaseChatModel:
    """The model that the command line names, else one that takes these steps."""
    return init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else OfflineModel(steps=list(steps))


def show(messages: Sequence[BaseMessage]) -> None:
    """Print a conversation."""
    for message in messages:
        for tool in getattr(message, "tool_calls", ()):
            print(f"→ {tool['name']}({', '.join(f'{key}={value!r}' for key, value in tool['args'].items())})")
        if message.text.strip():
            print(f"{message.type}: {message.text.strip()}")
