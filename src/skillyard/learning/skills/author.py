"""The author of skills: a model that is asked for parts or edits, and asked again for what is not right."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel

from skillyard.errors import InputError
from skillyard.learning.skills.artifact import SkillArtifact
from skillyard.learning.skills.edits import Revision, SkillEdits, edited
from skillyard.learning.skills.known_skills import texts_of
from skillyard.learning.skills.prompts import AGAIN, CREATE, GUIDE, UPDATE
from skillyard.llm.asking import ask_shaped
from skillyard.llm.budget import Budget
from skillyard.llm.models import ModelSource
from skillyard.llm.transcripts import Transcript
from skillyard.skill.bundle import Bundle

TRIES: Final = 3
_MAX_ANSWER: Final = 20_000
_MAX_PROBLEMS: Final = 10
Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A skill as it was written."""

    name: str
    revision: Revision
    summary: str
    asks: Sequence[str] = ()
    """What its author asks a person to look at."""


Check: TypeAlias = Callable[[Written], Awaitable[Sequence[str]]]
"""What is wrong with it; nothing, if it can be kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What an author is told, beside the skill that there is."""

    told: Mapping[str, Any]
    """The lesson, the feedback, how it stands to what is known, and related skills."""
    guide: str = ""
    """Further requirements for the text, beside those for every author."""
    budget: Budget
    transcript: Transcript


class SkillAuthor:
    """Writes skills from feedback."""

    def __init__(self, models: ModelSource) -> None:
        self._models = models

    async def create(self, task: Task, check: Check) -> Written:
        """A new skill."""

        def made(answer: SkillArtifact) -> Written:
            return created(answer)

        return await self._write(task, SkillArtifact, CREATE, dict(task.told), made, check)

    async def update(self, task: Task, name: str, old: Bundle, check: Check) -> Written:
        """A skill with what the task adds to it."""
        told = {**task.told, "skill": {"name": name, "files": texts_of(old)}}

        def made(answer: SkillEdits) -> Written:
            return changed(name, old, answer)

        return await self._write(task, SkillEdits, UPDATE, told, made, check)

    async def _write(
        self,
        task: Task,
        shape: type[Shape],
        system: str,
        told: Mapping[str, Any],
        made: Callable[[Shape], Written],
        check: Check,
    ) -> Written:
        user = json.dumps(told, ensure_ascii=False, indent=1)
        again, problems = "", list[str]()
        for _ in range(TRIES):
            answer = await ask_shaped(
                self._models.chat,
                shape,
                system=system + (GUIDE + task.guide if task.guide else ""),
                user=user + again,
                budget=task.budget,
                transcript=task.transcript,
            )
            try:
                written = made(answer)
                problems = list(await check(written))
            except InputError as error:
                problems = [f"{error.message} {error.hint}".strip()]
            else:
                if not problems:
                    return written
            listed = "\n".join(f"- {problem}" for problem in problems[:_MAX_PROBLEMS])
            again = AGAIN.format(problems=listed, answer=answer.model_dump_json()[:_MAX_ANSWER])
        raise not_kept(problems)


def changed(name: str, old: Bundle, edits: SkillEdits) -> Written:
    """A skill with edits."""
    asks = [f"Its author says that this eval expects something else now: “{each}”." for each in edits.outdated_evals]
    return Written(name=name, revision=edited(old, edits), summary=edits.summary, asks=asks)


def created(artifact: SkillArtifact) -> Written:
    """A new skill of an artifact."""
    revision = Revision(bundle=artifact.bundle().require(), rewritten=frozenset())
    return Written(name=artifact.name, revision=revision, summary=artifact.description)


def not_kept(problems: Sequence[str]) -> InputError:
    """The error that a skill was not taken, with the reasons."""
    return InputError(
        f"The skill was not taken, and everything is as it was: {problems[0]}",
        hint="Say what the skill should hold in other words, or keep the lesson elsewhere.",
        details={"field": "skill", "problems": list(problems[:_MAX_PROBLEMS])},
    )
