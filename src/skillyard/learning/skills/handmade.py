"""Skills that somebody makes without a lesson: from words of their own, or from an artifact that they wrote."""

from collections.abc import Mapping
from typing import Any

from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.learning.drafts import Author, CommitResult
from skillyard.learning.skill_wish import SkillWish
from skillyard.learning.skills.committer import SkillCommits
from skillyard.learning.states import MergeMode, Operation


class HandmadeSkills:
    """What one person can do with skills directly, under the same checks as lessons."""

    def __init__(self, commits: SkillCommits, principal: Principal) -> None:
        self._commits = commits
        self._principal = principal

    async def commit_to_skill(
        self,
        agent_id: str,
        skill_artifact: Mapping[str, Any] | None = None,
        *,
        operation: str = "CREATE",
        skill_id: str = "",
        feedback_content: str = "",
        merge_mode: str = "EXTEND",
        relationship_analysis: str = "",
        related_skill_ids: str = "",
    ) -> CommitResult:
        """Make, change or delete a skill for an agent, or for every agent, by the way that the settings say."""
        wish = _wish(operation, skill_id, merge_mode, relationship_analysis, related_skill_ids)
        return await self._commits.by_hand(self._author(agent_id, feedback_content), wish, skill_artifact)

    async def commit_to_skill_via_skill_creator(
        self,
        agent_id: str,
        skill_artifact: Mapping[str, Any] | None = None,
        *,
        operation: str = "CREATE",
        skill_id: str = "",
        feedback_content: str = "",
        merge_mode: str = "EXTEND",
        relationship_analysis: str = "",
        related_skill_ids: str = "",
    ) -> CommitResult:
        """The same by way of skill-creator, whatever the settings say. What fails there fails."""
        wish = _wish(operation, skill_id, merge_mode, relationship_analysis, related_skill_ids)
        author = self._author(agent_id, feedback_content)
        return await self._commits.by_hand(author, wish, skill_artifact, via_creator=True)

    def _author(self, agent_id: str, feedback: str) -> Author:
        why = Why(reason="Made by hand.", feedback=feedback)
        return Author(principal=self._principal, lesson_id=None, agent_id=agent_id or None, feedback=feedback, why=why)


def _wish(
    operation: str, skill_id: str, merge_mode: str, relationship_analysis: str, related_skill_ids: str
) -> SkillWish:
    return SkillWish(
        operation=Operation(operation),
        skill_id=skill_id or None,
        merge_mode=MergeMode(merge_mode),
        relationship_analysis=relationship_analysis,
        related_skill_ids=[each.strip() for each in related_skill_ids.split(",") if each.strip()],
    )
