"""What an agent goes by beside skills: what it was taught to remember, and decision rules."""

from typing import Annotated, Any, Final

from pydantic import Field

from skillyard.agents.tool import Answer, Tool, tool_of
from skillyard.agents.toolsets.bounds import listed, picked, within
from skillyard.errors import InputError, NotFoundError
from skillyard.remote.learning import LearningClient
from skillyard.skill.names import nearest_name
from skillyard.skill.paths import printable

_MEMORY: Final = ("id", "text", "agent_id", "updated_at", "expires_at")
_RECALLED: Final = 10
_MAX_RECALLED: Final = 50


class KnowledgeTools:
    """Memory and decision rules of a yard, as plain functions."""

    def __init__(self, learning: LearningClient, *, agent: str = "") -> None:
        self._learning = learning
        self._agent = agent

    def recall_memory(
        self,
        query: Annotated[str, "What you want to know, in some words."],
        agent: Annotated[str, "The id of the agent whose memory it is; without it, your own or what all share."] = "",
        n: Annotated[int, Field(description="At most so many.", ge=1, le=_MAX_RECALLED)] = _RECALLED,
    ) -> Answer:
        """Recall what you were taught about something: facts, preferences, corrections. Ask before you decide."""
        found = self._learning.recall(query, agent=agent or self._agent or None, limit=n)
        return listed((picked(memory, *_MEMORY) for memory in found), more="; ask for less")

    def evaluate_rule(
        self,
        rule: Annotated[str, "The id or the name of the decision rule."],
        inputs: Annotated[dict[str, Any], "The case: a value for each input of the rule, by the input's id."],
    ) -> Answer:
        """Ask a decision rule what holds for a case. Where a rule decides, go by it and not by your own judgement."""
        return within(self._learning.evaluate_rule(self._id_of(rule.strip()), inputs))

    def _id_of(self, rule: str) -> str:
        rules = self._learning.rules()
        found = [each["id"] for each in rules if each["id"] == rule or each["name"].casefold() == rule.casefold()]
        if len(found) > 1:
            raise InputError(
                f"{len(found)} rules are called {printable(rule)!r}.",
                hint=f"Name one by its id: {', '.join(found[:20])}.",
                details={"field": "rule", "value": rule[:200]},
            )
        if not found:
            names = [each["name"] for each in rules]
            near = nearest_name(rule, names)
            there = f"There are: {', '.join(map(printable, names[:20]))}." if names else "There are no rules yet."
            raise NotFoundError(
                f"There is no rule {printable(rule)!r}.",
                hint=f"Did you mean {near!r}?" if near else there,
                details={"field": "rule", "value": rule[:200]},
            )
        return found[0]


def knowledge_tools(learning: LearningClient, *, agent: str = "") -> list[Tool]:
    """`recall_memory` and `evaluate_rule`; `agent` is whose memory it is unless a call says otherwise."""
    tools = KnowledgeTools(learning, agent=agent)
    return [
        tool_of(tools.recall_memory, title="Recall memory"),
        tool_of(tools.evaluate_rule, title="Ask a decision rule", read_only=False, idempotent=False),
    ]
