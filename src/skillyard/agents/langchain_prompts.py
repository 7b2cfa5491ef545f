"""Conversations of LangChain: what was asked last, and one more section for the system prompt."""

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AnyMessage, ContentBlock, HumanMessage, SystemMessage

MAX_QUERY: Final = 4_000
"""So many characters of what was asked decide about the order of skills."""
_MADE: Final = "lc_source"
"""The mark of messages that a middleware wrote in the name of the user."""


def last_request(messages: Sequence[AnyMessage]) -> str:
    """What the user asked last; empty if nothing."""
    for message in reversed(messages):
        if isinstance(message, HumanMessage) and _MADE not in message.additional_kwargs:
            return str(message.text)[:MAX_QUERY]
    return ""


def with_section(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system prompt with a section after all that it has."""
    blocks: list[ContentBlock] = list(system.content_blocks) if system else []
    blocks.append({"type": "text", "text": f"\n\n{text}" if blocks else text})
    return SystemMessage(content_blocks=blocks)
