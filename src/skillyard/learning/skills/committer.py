"""Committing lessons to skills: which way they are made, and what came of it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillyard.errors import UsageError
from skillyard.learning.commits import Commits
from skillyard.learning.committing import Committing, Pupil
from skillyard.learning.drafts import Author, CommitResult
from skillyard.learning.kept_texts import kept
from skillyard.learning.matching import told_lesson
from skillyard.learning.skill_wish import SkillWish
from skillyard.learning.skills.author import Task
from skillyard.learning.skills.drafting import Route, SkillDrafting, SkillWork, attach_draft
from skillyard.learning.skills.known_skills import KnownSkills
from skillyard.learning.states import Operation
from skillyard.llm.budget import Budget
from skillyard.llm.transcripts import Transcript

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """By which way skills are made, as the settings say."""

    use_creator: bool
    """`USE_SKILL_CREATOR_WORKFLOW`."""
    direct: Route
    creator: Route | None
    """None: `COMPUTER_USE_MCP_URL` is not set."""

    def route(self, operation: Operation) -> Route:
        """The way of one change. Deleting needs no computer; a failing creator has no other way around it."""
        if operation is Operation.DELETE or not self.use_creator:
            return self.direct
        if self.creator is None:
            _log.warning("COMPUTER_USE_MCP_URL is not set: the skill is made directly, without skill-creator.")
            return self.direct
        return self.creator

    @property
    def required(self) -> Route:
        """The creator's way, and no other."""
        if self.creator is None:
            raise UsageError(
                "There is no computer for skill-creator.",
                hint="Set COMPUTER_USE_MCP_URL to the address of a computer-use server, or to 'local'.",
                details={"field": "computer_use_mcp_url"},
            )
        return self.creator


class SkillCommits:
    """Makes, changes, deletes and attaches skills."""

    def __init__(
        self,
        drafting: SkillDrafting,
        known: KnownSkills,
        workflow: Workflow,
        commits: Commits,
        committing: Committing,
    ) -> None:
        self._drafting = drafting
        self._known = known
        self._workflow = workflow
        self._commits = commits
        self._committing = committing

    async def commit_to_skill(
        self,
        pupil: Pupil,
        wish: SkillWish,
        *,
        budget: Budget,
        transcript: Transcript,
        skill_artifact: Mapping[str, Any] | None = None,
    ) -> CommitResult:
        """Do what was decided for a lesson. The text is the author's, unless an artifact or edits are given."""
        said = {"feedback": told_lesson(pupil.feedback, pupil.lesson.meaning)}
        work = await self._work(pupil.author, wish, said, budget, transcript, skill_artifact)
        return await self._committing.commit(pupil, await self._drafting.draft(work))

    async def attach(self, pupil: Pupil, skills: Sequence[str]) -> CommitResult:
        """Give an agent skills that exist, as all that a lesson comes to."""
        return await self._committing.commit(pupil, await attach_draft(self._known, pupil.author, skills))

    async def by_hand(
        self,
        author: Author,
        wish: SkillWish,
        skill_artifact: Mapping[str, Any] | None,
        *,
        via_creator: bool = False,
    ) -> CommitResult:
        """The same for somebody who has no lesson."""
        said = {"feedback": {"content": author.feedback}}
        transcript = Transcript(mask=kept)
        work = await self._work(author, wish, said, Budget(), transcript, skill_artifact, via_creator=via_creator)
        return await self._commits.commit(author, await self._drafting.draft(work))

    async def _work(
        self,
        author: Author,
        wish: SkillWish,
        said: Mapping[str, Any],
        budget: Budget,
        transcript: Transcript,
        artifact: Mapping[str, Any] | None,
        *,
        via_creator: bool = False,
    ) -> SkillWork:
        told = {
            **said,
            "operation": wish.operation.value,
            "merge_mode": wish.merge_mode.value,
            "relationship_analysis": wish.relationship_analysis,
            "relations": [each.as_dict() for each in wish.relations],
            "related_skills": await self._known.related(author.principal, wish.related_skill_ids),
        }
        if wish.operation is Operation.CREATE and wish.skill_id:
            told["name"] = wish.skill_id
        return SkillWork(
            author=author,
            wish=wish,
            task=Task(told=told, budget=budget, transcript=transcript),
            route=self._workflow.required if via_creator else self._workflow.route(wish.operation),
            artifact=artifact,
        )
