"""Skills that a connected agent writes itself, while it learns."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from skillyard.learning.committing import Pupil
from skillyard.learning.drafts import CommitResult
from skillyard.learning.skill_wish import SkillCommitter, SkillWish
from skillyard.llm.budget import Budget
from skillyard.llm.transcripts import Transcript

ARTIFACT: Final = "skill_artifact"
"""The argument of `commit_to_skill` that only those have who write skills themselves."""
SHAPE: Final = "{name, description, overview, steps, usage, body_markdown?, additional_files?}"


class WrittenSkills:
    """Makes skills of what was written, under the checks that every skill passes."""

    def __init__(self, skills: SkillCommitter) -> None:
        self._skills = skills
        self.artifact: Mapping[str, Any] | None = None
        """What the next commit is made of."""

    async def commit_to_skill(
        self,
        pupil: Pupil,
        wish: SkillWish,
        *,
        budget: Budget,
        transcript: Transcript,
        skill_artifact: Mapping[str, Any] | None = None,
    ) -> CommitResult:
        artifact = skill_artifact or self.artifact
        return await self._skills.commit_to_skill(
            pupil, wish, budget=budget, transcript=transcript, skill_artifact=artifact
        )

    async def attach(self, pupil: Pupil, skills: Sequence[str]) -> CommitResult:
        return await self._skills.attach(pupil, skills)
