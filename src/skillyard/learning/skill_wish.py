"""What is asked of whoever makes skills: storage and relation, never the text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from skillyard.learning.committing import Pupil
from skillyard.learning.drafts import CommitResult, Related
from skillyard.learning.states import MergeMode, Operation
from skillyard.llm.budget import Budget
from skillyard.llm.transcripts import Transcript

ARTIFACT: Final = "skill_artifact"
"""The argument of `commit_to_skill` that only those have who write skills themselves."""
SHAPE: Final = "{name, description, overview, steps, usage, body_markdown?, additional_files?}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillWish:
    """What is to become of a skill. What it then says is worked out from the feedback."""

    operation: Operation
    skill_id: str | None = None
    merge_mode: MergeMode = MergeMode.EXTEND
    relationship_analysis: str = ""
    related_skill_ids: Sequence[str] = ()
    relations: Sequence[Related] = ()


class SkillCommitter(Protocol):
    """Makes, changes and deletes skills for lessons."""

    async def commit_to_skill(
        self,
        pupil: Pupil,
        wish: SkillWish,
        *,
        budget: Budget,
        transcript: Transcript,
        skill_artifact: Mapping[str, Any] | None = None,
    ) -> CommitResult:
        """Do what was decided. Whoever has written the skill already gives it as the artifact."""
        ...

    async def attach(self, pupil: Pupil, skills: Sequence[str]) -> CommitResult:
        """Give an agent skills that exist."""
        ...
