"""Lessons without what the reader may not see: feedback may be readable while what it changed is private."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.learning.feedback import Feedback
from skillyard.learning.lessons import Lesson, Lessons
from skillyard.learning.places import hidden_knowledge
from skillyard.registry.veil import hidden_skills

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:mem|rule)-[0-9a-f]{12}")
"""Of skills, memories and rules."""
_NO_SKILLS: Final = frozenset({"memory", "rule"})
"""The kinds of effects that tell of no skill."""
_NOTHING: Final = b"[]"


class ShownLessons:
    """Of a lesson about a skill, a memory or a rule that is hidden from the caller, no more is told than that there is
    one.
    """

    def __init__(self, database: Database, lessons: Lessons) -> None:
        self._database = database
        self._lessons = lessons

    async def of(self, principal: Principal, feedback_id: str) -> list[Lesson]:
        """What is, or was, learned from a piece of feedback."""
        return await self.shown(principal, await self._lessons.of(principal, feedback_id))

    async def get(self, principal: Principal, lesson_id: str) -> Lesson:
        (lesson,) = await self.shown(principal, [await self._lessons.get(principal, lesson_id)])
        return lesson

    async def shown(self, principal: Principal, lessons: Sequence[Lesson]) -> list[Lesson]:
        """The lessons without anything that the principal may not see."""
        bare = await self._about_hidden(principal, lessons)
        return [_bare(lesson, bare[lesson.id]) if lesson.id in bare else lesson for lesson in lessons]

    async def feedback(self, principal: Principal, found: Sequence[Feedback]) -> list[Feedback]:
        """These pieces of feedback, without the reason why one stands where it does if that is hidden with a lesson."""
        if not found:
            return []
        lessons = await self._lessons.of(principal, *(each.id for each in found))
        bare = await self._about_hidden(principal, lessons)
        silent = {lesson.feedback_id for lesson in lessons if lesson.id in bare}
        return [replace(each, reason="", error=None) if each.id in silent else each for each in found]

    async def transcript(self, principal: Principal, lesson: Lesson) -> bytes:
        """All that was said while it was decided, as JSON; nothing where something hidden was among it."""
        if lesson.transcript is None:
            return _NOTHING
        said = await self._lessons.transcript(lesson)
        # Whatever was found or read came with its id.
        named = set(_ID.findall(said.decode("utf-8", "replace")))
        return _NOTHING if await self._hidden(principal, named) else said

    async def _about_hidden(self, principal: Principal, lessons: Sequence[Lesson]) -> dict[str, set[str]]:
        """The lessons that tell of something hidden, by their ids, with that."""
        about = {lesson.id: _knowledge_of(lesson) for lesson in lessons}
        hidden = await self._hidden(principal, {one for known in about.values() for one in known})
        return {lesson_id: known & hidden for lesson_id, known in about.items() if known & hidden}

    async def _hidden(self, principal: Principal, ids: set[str]) -> set[str]:
        if not ids:
            return set()
        async with self._database.read() as session:
            hidden = await hidden_skills(session, principal, ids)
            return hidden | await hidden_knowledge(session, principal, ids)


def _knowledge_of(lesson: Lesson) -> set[str]:
    """The ids of all that a lesson changed, was to change, or stands in a relation to."""
    found = {effect.id for effect in lesson.effects} | set(lesson.attaches)
    draft = lesson.draft
    if draft is not None:
        found |= {each.id for each in draft.relations}
        if draft.target_id is not None:
            found.add(draft.target_id)
    return found


def _bare(lesson: Lesson, hidden: Collection[str]) -> Lesson:
    kept = tuple(effect for effect in lesson.effects if effect.kind in _NO_SKILLS and effect.id not in hidden)
    return replace(lesson, effects=kept, decision=None, reason="", transcript=None)
