"""Lessons as people are told of them: everyone in a tenant may read its feedback, but not all of its skills."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.learning.feedback import Feedback
from skillyard.learning.lessons import Lesson, Lessons
from skillyard.learning.states import Target
from skillyard.registry.veil import hidden_skills

_SKILL_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OF_TENANT: Final = frozenset({"memory", "rule"})
"""The kinds of what everyone in a tenant may know."""
_NOTHING: Final = b"[]"


class ShownLessons:
    """Of a lesson about a skill that is hidden from whoever asks, no more is told than that there is one."""

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
        """These lessons, less what tells of a skill that the principal may not see."""
        bare = await self._about_hidden(principal, lessons)
        return [_bare(lesson) if lesson.id in bare else lesson for lesson in lessons]

    async def feedback(self, principal: Principal, found: Sequence[Feedback]) -> list[Feedback]:
        """These pieces of feedback, without the reason why one stands where it does if that is hidden with a lesson."""
        if not found:
            return []
        lessons = await self._lessons.of(principal, *(each.id for each in found))
        bare = await self._about_hidden(principal, lessons)
        silent = {lesson.feedback_id for lesson in lessons if lesson.id in bare}
        return [replace(each, reason="", error=None) if each.id in silent else each for each in found]

    async def transcript(self, principal: Principal, lesson: Lesson) -> bytes:
        """All that was said while it was decided, as JSON; nothing where a hidden skill was among it."""
        if lesson.transcript is None:
            return _NOTHING
        said = await self._lessons.transcript(lesson)
        # Whatever was found or read came with its id.
        named = set(_SKILL_ID.findall(said.decode("utf-8", "replace")))
        return _NOTHING if await self._hidden(principal, named) else said

    async def _about_hidden(self, principal: Principal, lessons: Sequence[Lesson]) -> set[str]:
        about = {lesson.id: _skills_of(lesson) for lesson in lessons}
        hidden = await self._hidden(principal, {skill for skills in about.values() for skill in skills})
        return {lesson_id for lesson_id, skills in about.items() if skills & hidden}

    async def _hidden(self, principal: Principal, skills: set[str]) -> set[str]:
        if not skills:
            return set()
        async with self._database.read() as session:
            return await hidden_skills(session, principal, skills)


def _skills_of(lesson: Lesson) -> set[str]:
    """The ids of all skills that a lesson changed, was to change, or stands in a relation to."""
    found = {effect.id for effect in lesson.effects if effect.kind == "skill"} | set(lesson.attaches)
    draft = lesson.draft
    if draft is not None:
        found |= {each.id for each in draft.relations if each.target is Target.SKILL}
        if draft.target is Target.SKILL and draft.target_id is not None:
            found.add(draft.target_id)
    return found


def _bare(lesson: Lesson) -> Lesson:
    kept = tuple(effect for effect in lesson.effects if effect.kind in _OF_TENANT)
    return replace(lesson, effects=kept, decision=None, reason="", transcript=None)
