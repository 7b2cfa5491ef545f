"""A chat model that answers what it is told to, and remembers what it was asked."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field


class ScriptedChat(GenericFakeChatModel):
    """Answers in turn; `asked` has the messages and `offered` the tools of each call."""

    asked: list[list[BaseMessage]] = Field(default_factory=list)
    offered: list[list[Any]] = Field(default_factory=list)
    on_call: Callable[[int], None] = lambda _: None

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedChat":
        self.offered.append(list(tools))
        return self

    def _generate(self, messages: list[BaseMessage], *rest: Any, **more: Any) -> Any:
        self.asked.append(list(messages))
        self.on_call(len(self.asked))
        return super()._generate(messages, *rest, **more)

    def system(self, call: int = -1) -> str:
        """The system prompt of one call."""
        return "\n".join(message.text for message in self.asked[call] if message.type == "system")

    def tools(self, call: int = -1) -> dict[str, Any]:
        """The tools of one call, by name."""
        return {getattr(tool, "name", None) or tool["name"]: tool for tool in self.offered[call]}


def calls(name: str, **arguments: Any) -> AIMessage:
    """An answer that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def scripted(*answers: AIMessage | str) -> ScriptedChat:
    return ScriptedChat(messages=iter([AIMessage(answer) if isinstance(answer, str) else answer for answer in answers]))
