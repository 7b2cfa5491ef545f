"""What a lesson or a proposal changes, as a text that people read."""

import asyncio
import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.errors import NotFoundError
from skillyard.identity.principals import Principal, tenant_audience
from skillyard.learning.drafts import Draft
from skillyard.learning.lessons import Lesson
from skillyard.learning.memories import Memories
from skillyard.learning.rules.rulebook import Rulebook
from skillyard.learning.states import LessonState, Operation, Target
from skillyard.registry.service import Registry
from skillyard.skill.bundle import Bundle
from skillyard.skill.diff import diff_bundles


class ProposalDiffs:
    """Compares what would be with what was there when it was proposed, as far as whoever asks may see that."""

    def __init__(self, memories: Memories, rules: Rulebook, registry: Registry) -> None:
        self._memories = memories
        self._rules = rules
        self._registry = registry

    async def of(self, principal: Principal, draft: Draft) -> str:
        """A unified diff; empty where nothing can be told."""
        tell = {Target.MEMORY: self._memory, Target.DMN_RULE: self._rule, Target.SKILL: self._skill}[draft.target]
        try:
            return await tell(principal, draft)
        except NotFoundError:
            return ""

    async def of_lesson(self, principal: Principal, lesson: Lesson) -> str:
        """What a lesson changed, or would change."""
        draft = lesson.draft
        if draft is None:
            return ""
        if lesson.state is LessonState.PROPOSED:
            audience = draft.audience or tenant_audience(lesson.tenant_id)
            return await self.of(principal, draft) if audience in principal.audiences else ""
        if (draft.target, draft.operation) == (Target.SKILL, Operation.CREATE):
            try:  # what was made may be somebody's own
                made = next((effect.id for effect in lesson.effects if effect.kind == "skill"), "")
                await self._registry.shelf.get(principal, made)
            except NotFoundError:
                return ""
        return await self.of(principal, draft)

    async def _memory(self, principal: Principal, draft: Draft) -> str:
        before = "" if draft.target_id is None else (await self._memories.get(principal, draft.target_id)).text
        return _unified(before.splitlines(), draft.content.get("text", "").splitlines(), "memory")

    async def _rule(self, principal: Principal, draft: Draft) -> str:
        before: list[str] = []
        if draft.target_id is not None:
            rule = await self._rules.get(principal, draft.target_id)
            versions = await self._rules.versions(principal, rule.id)
            base = next((each.table for each in versions if each.version == draft.base), rule.document)
            before = table_lines(base)
        after = table_lines(draft.content["table"]) if draft.operation is not Operation.DELETE else []
        return _unified(before, after, draft.target_name)

    async def _skill(self, principal: Principal, draft: Draft) -> str:
        if draft.target_id is not None:
            await self._registry.shelf.get(principal, draft.target_id)  # whoever may not see it is told nothing
        digest = draft.content.get("digest")
        if digest is None and draft.operation is not Operation.DELETE:
            return ""
        bundles = self._registry.bundles
        old = await bundles.load(draft.base) if draft.base and draft.target_id is not None else Bundle(())
        new = await bundles.load(digest) if digest else Bundle(())
        return await asyncio.to_thread(lambda: diff_bundles(old, new).unified())


def table_lines(table: Mapping[str, Any]) -> list[str]:
    """A decision table with a line for each of its rows and columns."""
    lines = [f"hit policy {table['hit_policy']}"]
    lines += [f"input {_json(column)}" for column in table["inputs"]]
    lines += [f"output {_json(column)}" for column in table["outputs"]]
    lines += [_row(row) for row in table["rules"]]
    if "default" in table:
        lines.append(f"otherwise {_json(table['default'])}")
    return lines


def _row(row: Mapping[str, Any]) -> str:
    note = f"  # {row['note']}" if row.get("note") else ""
    return f"{row['id']}: {' | '.join(row['when'])} -> {' | '.join(map(_json, row['then']))}{note}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unified(before: Sequence[str], after: Sequence[str], name: str) -> str:
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in lines)
