"""Learned skills in use: found, run, and told how it went."""

from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import Field

from skillyard.agents.tool import Answer, Tool
from skillyard.agents.toolsets.bounds import MAX_TEXT, cut, listed, picked, within
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.remote.client import YardClient

_RUN: Final = ("verdict", "reason", "step", "total_steps", "skill_key", "version", "stage", "release_id", "sandbox_id")
_STEP: Final = ("index", "type", "text", "success", "output", "error", "recovered")
_HYBRID: Final = "execute_hybrid_skill"

Skill = Annotated[str, Field(description="Its name, `namespace/name` or id, as it was loaded.", min_length=1)]


class LearnedSkills:
    """Skills that were released from runs, and the outcomes of tasks that any skill was used for."""

    def __init__(
        self, yard: YardClient, *, session: str = "", agent: str = "", settle: Callable[[], None] | None = None
    ) -> None:
        self._yard = yard
        self._settle = settle
        self._session = session
        self._agent = agent

    def tools(self) -> list[Tool]:
        changes: Any = {"read_only": False, "idempotent": False}
        same_as = f"The same as run_skill, by another name.\n\n{LearnedSkills.run_skill.__doc__}"
        return [
            yard_tool(self.search_learned_skills),
            yard_tool(self.run_skill, **changes, destructive=True),
            yard_tool(self.run_skill, name=_HYBRID, description=same_as, **changes, destructive=True),
            yard_tool(self.list_skill_runs),
            yard_tool(self.report_skill_outcome, **changes),
        ]

    def search_learned_skills(
        self,
        query: Annotated[str, Field(description="The task, in any language.", min_length=1)],
        limit: Annotated[int, Field(ge=1, le=50)] = 5,
    ) -> Answer:
        """Learned skills that fit a task, best first. Those with a release can be run with run_skill."""
        rows = (
            {**picked(each["candidate"], "skill_key", "summary", "usage_notes"), **_released(each["release"])}
            for each in self._yard.releases.search(query, limit=limit)["items"]
        )
        return listed(rows)

    def run_skill(
        self,
        skill_key: Annotated[str, Field(description="A learned skill that is in use.", min_length=1)],
        variables: Annotated[dict[str, str | int | float | bool] | None, "Values for its variables."] = None,
        secrets: Annotated[dict[str, str] | None, "Values for its secret variables; they are kept nowhere."] = None,
        sandbox_id: Annotated[str | None, "One of your sandboxes; without it, a fresh one."] = None,
        release_id: Annotated[str | None, "Another release than the one in use."] = None,
        timeout: Annotated[int, Field(description="Seconds it may take.", ge=1, le=600)] = 120,
    ) -> Answer:
        """Run a learned skill step by step; answers whether it did what it should, and where it ended if not."""
        ran = self._yard.releases.run_skill(
            skill_key, variables, secrets=secrets, sandbox_id=sandbox_id, release_id=release_id, timeout=timeout
        )
        room = MAX_TEXT // max(len(ran["steps"]), 1)
        steps = [within(picked(step, *_STEP) | {"success": step["success"]}, room) for step in ran["steps"]]
        told: dict[str, Any] = {"success": ran["success"], "run_id": ran["id"], "steps": steps[:100]}
        return picked(ran, *_RUN) | told

    def list_skill_runs(
        self,
        release_id: Annotated[str | None, "Only of this release."] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
    ) -> Answer:
        """Runs of learned skills, the newest first."""
        found = self._yard.releases.runs(release_id=release_id, limit=limit)
        fields = ("id", "release_id", "verdict", "step", "reason", "total_steps", "milliseconds", "created_at")
        return listed((picked(each, *fields) for each in found["items"]), total=found["total"])

    def report_skill_outcome(
        self,
        skill: Skill,
        succeeded: Annotated[bool, "Whether the task that it was used for went well."],
        detail: Annotated[str, "What went wrong, or what was missing in the skill."] = "",
        version: Annotated[str, "The version that was loaded, if you know it."] = "",
        execution_ids: Annotated[list[str], "What you ran for it in sandboxes."] = [],  # noqa: B006
    ) -> Answer:
        """Say how a task went that a skill was used for. Do this once per task: releases live by it."""
        if self._settle is not None:
            self._settle()
        return self._yard.report_outcome(
            skill,
            succeeded=succeeded,
            version=version,
            detail=cut(detail, 1_900),
            session=self._session,
            agent=self._agent,
            execution_ids=execution_ids,
        )


def _released(release: dict[str, Any] | None) -> dict[str, Any]:
    return {"release": None} if release is None else {"release": picked(release, "id", "version", "stage")}
