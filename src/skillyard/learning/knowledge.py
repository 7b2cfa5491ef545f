"""What is known already: memories, decision rules and skills, found together."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal
from skillyard.learning.memories import Memories
from skillyard.learning.recall import Recall
from skillyard.learning.rules.rule import DecisionRule
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.states import Target
from skillyard.search.documents import Document
from skillyard.search.index import SkillIndex

MAX_FOUND: Final = 8
"""Of each kind."""
_SUMMARY: Final = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """One thing that is known."""

    target: Target
    id: str
    name: str
    summary: str
    score: float = 0.0
    """How well it fits what was looked for, among things of its kind."""

    def as_dict(self) -> dict[str, Any]:
        return {"type": self.target.value, "id": self.id, "name": self.name, "summary": self.summary[:_SUMMARY]}


class SkillShelf(Protocol):
    """The skills that someone may see."""

    async def search(self, principal: Principal, query: str, limit: int) -> Sequence[Known]: ...

    async def named(self, principal: Principal, skill: str) -> Known:
        """The skill by its id or its name."""
        ...

    async def text(self, principal: Principal, skill: str) -> str:
        """Its files, as far as they are text, for a model to read."""
        ...


class Knowledge:
    """Looks through all three kinds at once."""

    def __init__(self, memories: Memories, recall: Recall, rules: Rulebook, skills: SkillShelf) -> None:
        self._memories = memories
        self._recall = recall
        self._rules = rules
        self._skills = skills

    async def search(
        self, principal: Principal, agent_id: str, query: str, kinds: Sequence[Target] = tuple(Target)
    ) -> list[Known]:
        """What is like a text; the most fitting of each kind first."""
        found: list[Known] = []
        if Target.SKILL in kinds:
            found += await self._skills.search(principal, query, MAX_FOUND)
        if Target.DMN_RULE in kinds:
            found += await self._similar_rules(principal, agent_id, query)
        if Target.MEMORY in kinds:
            memories = await self._recall.recall(principal, query, agent_id=agent_id, limit=MAX_FOUND)
            found += [
                Known(target=Target.MEMORY, id=memory.id, name=memory.label, summary=memory.text) for memory in memories
            ]
        return found

    async def detail(self, principal: Principal, target: Target, key: str) -> str:
        """The whole of one thing, for a model to read."""
        if target is Target.MEMORY:
            return (await self._memories.get(principal, key)).text
        if target is Target.DMN_RULE:
            rule = await self._rules.get(principal, key)
            told = {"name": rule.name, "description": rule.description, "version": rule.version}
            return json.dumps({**told, "table": rule.document}, ensure_ascii=False)
        return await self._skills.text(principal, key)

    async def named(self, principal: Principal, target: Target, key: str) -> Known:
        """The thing that an id, or the name of a skill, means."""
        if target is Target.SKILL:
            return await self._skills.named(principal, key)
        if target is Target.MEMORY:
            memory = await self._memories.get(principal, key)
            return Known(target=target, id=memory.id, name=memory.label, summary=memory.text)
        return _known(await self._rules.get(principal, key))

    async def missing(self, principal: Principal, skills: Sequence[str]) -> list[str]:
        """Those of the skills that nobody knows."""
        missing: list[str] = []
        for skill in skills:
            try:
                await self._skills.named(principal, skill)
            except NotFoundError:
                missing.append(skill)
        return missing

    async def _similar_rules(self, principal: Principal, agent_id: str, query: str) -> list[Known]:
        rules = {rule.id: rule for rule in await self._rules.all(principal, agent_id=agent_id)}
        if not rules:
            return []
        return await asyncio.to_thread(_search_rules, rules, query)


def like(words: str, found: Sequence[Known]) -> list[Known]:
    """Those that a search finds beside a document of just these words, which sets the score of a full match."""
    measure = Document(key="", name="lesson", description=words, body="")
    documents = [Document(key=each.id, name=each.name, description=each.summary, body="") for each in found]
    hits = {hit.key for hit in SkillIndex.of([measure, *documents]).search(words, limit=len(found) + 1).hits}
    return [each for each in found if each.id in hits]


def _search_rules(rules: dict[str, DecisionRule], query: str) -> list[Known]:
    index = SkillIndex.of(
        Document(
            key=rule.id,
            name=rule.name,
            description=rule.description,
            body=json.dumps(rule.document, ensure_ascii=False),
        )
        for rule in rules.values()
    )
    return [_known(rules[hit.key]) for hit in index.search(query, limit=MAX_FOUND).hits]


def _known(rule: DecisionRule) -> Known:
    inputs, outputs = rule.document["inputs"], rule.document["outputs"]
    columns = [*(each.get("label") or each["id"] for each in inputs), "→"]
    columns += [each.get("label") or each["id"] for each in outputs]
    return Known(
        target=Target.DMN_RULE, id=rule.id, name=rule.name, summary=f"{rule.description} ({' '.join(columns)})".strip()
    )
