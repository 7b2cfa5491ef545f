"""The `releases` toolset: know-how that was learned from runs, on its way into use, in use, and how it does."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from skillyard.agents.tool import Answer, Tool
from skillyard.agents.toolsets.bounds import MAX_TEXT, listed, picked, within
from skillyard.agents.toolsets.learned_skills import LearnedSkills
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.remote.client import YardClient

_CANDIDATE: Final = (
    *("id", "skill_key", "name", "skill_type", "status", "summary", "usage_notes", "payload_ref", "latest_score"),
    *("latest_pass", "promotion_release_id", "digest", "source_execution_ids", "auto_release_reason", "created_at"),
)
_RELEASE: Final = (
    *("id", "skill_key", "name", "version", "stage", "state", "is_active", "candidate_id", "change_summary"),
    *("upgrade_of_release_id", "rollback_of", "end_reason", "promoted_at"),
)
_EVALUATION: Final = ("id", "candidate_id", "kind", "state", "passed", "score", "verdict", "report", "error")

CandidateId = Annotated[str, Field(description="The id of a candidate.", min_length=1)]
ReleaseId = Annotated[str, Field(description="The id of a release.", min_length=1)]
SkillKey = Annotated[str | None, "Only of this skill."]
Reason = Annotated[str | None, "Why: kept in the history."]
Limit = Annotated[int, Field(ge=1, le=500)]
Offset = Annotated[int, Field(ge=0)]
Stage = Annotated[Literal["canary", "stable"], "`canary` for some, `stable` for all."]


def releases_tools(
    yard: YardClient, *, session: str = "", agent: str = "", settle: Callable[[], None] | None = None
) -> list[Tool]:
    """Learned skills of a yard. `session` and `agent` say whose outcomes are told.

    `settle` is called before that: what was loaded in the session must be counted first.
    """
    life, learned = SkillLifecycle(yard), LearnedSkills(yard, session=session, agent=agent, settle=settle)
    changes: Any = {"read_only": False, "idempotent": False}
    writes: Any = {"read_only": False, "destructive": True}
    return [
        *learned.tools(),
        yard_tool(life.create_skill_payload, read_only=False),
        yard_tool(life.get_skill_payload),
        yard_tool(life.create_skill_candidate, **changes),
        yard_tool(life.list_skill_candidates),
        yard_tool(life.evaluate_skill_candidate, **changes),
        yard_tool(life.replay_skill_candidate, **changes),
        yard_tool(life.get_skill_evaluation),
        yard_tool(life.promote_skill_candidate, **changes),
        yard_tool(life.delete_skill_candidate, **writes),
        yard_tool(life.list_skill_releases),
        yard_tool(life.get_skill_release_health),
        yard_tool(life.diff_skill_releases),
        yard_tool(life.rollback_skill_release, **writes),
        yard_tool(life.delete_skill_release, **writes),
    ]


class SkillLifecycle:
    """From executions to a release, and back out of use."""

    def __init__(self, yard: YardClient) -> None:
        self._releases = yard.releases

    def create_skill_payload(
        self,
        payload: Annotated[
            dict[str, Any] | list[Any],
            'The steps, such as {"variables": {"q": {"type": "string"}}, "steps": [{"type": "shell", "cmd": "ls"}]}.',
        ],
        kind: Annotated[str, "browser, code and hybrid_sequence can be replayed; others are only kept."] = "generic",
    ) -> Answer:
        """Keep the steps of a skill; the payload_ref in the answer names them."""
        return self._releases.payloads.create(payload, kind=kind)

    def get_skill_payload(self, payload_ref: Annotated[str, "As create_skill_payload answered."]) -> Answer:
        """Read the steps of a skill."""
        return within(self._releases.payloads.get(payload_ref), MAX_TEXT // 4)

    def create_skill_candidate(
        self,
        skill_key: Annotated[str, "What the skill is called: lower-case words joined by hyphens."],
        source_execution_ids: Annotated[list[str], "The executions that it is made of, in their order."],
        scenario_key: Annotated[str | None, "The case that it is for."] = None,
        payload_ref: Annotated[str | None, "Steps of your own instead of those of the executions."] = None,
        summary: Annotated[str | None, "What it does and when to use it."] = None,
        usage_notes: Annotated[str | None, "What to know when using it."] = None,
        preconditions: Annotated[dict[str, Any] | None, "What must hold before."] = None,
        postconditions: Annotated[dict[str, Any] | None, "What must hold after."] = None,
    ) -> Answer:
        """Make a candidate of what was run in your sandboxes. Evaluate it, then promote it."""
        made = self._releases.create_candidate(
            skill_key=skill_key,
            source_execution_ids=source_execution_ids,
            payload_ref=payload_ref,
            scenario_key=scenario_key,
            summary=summary,
            usage_notes=usage_notes,
            preconditions=preconditions,
            postconditions=postconditions,
        )
        return picked(made, *_CANDIDATE)

    def list_skill_candidates(
        self,
        status: Annotated[
            Literal["draft", "evaluating", "promoted", "rejected", "rolled_back"] | None, "Only those that stand there."
        ] = None,
        skill_key: SkillKey = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Answer:
        """Your candidates, the newest first."""
        found = self._releases.candidates(status=status, skill_key=skill_key, limit=limit, offset=offset)
        return _page(found, _CANDIDATE)

    def evaluate_skill_candidate(
        self,
        candidate_id: CandidateId,
        passed: Annotated[bool, "Whether it did what it should."],
        score: Annotated[float | None, "From 0 to 1."] = None,
        benchmark_id: Annotated[str | None, "What it was measured with."] = None,
        report: Annotated[str | None, "What was seen."] = None,
    ) -> Answer:
        """Tell a verdict from elsewhere. Better evidence: replay_skill_candidate, which runs it."""
        told = self._releases.evaluate(
            candidate_id, passed=passed, score=score, benchmark_id=benchmark_id, report=report
        )
        return picked(told, *_EVALUATION)

    def replay_skill_candidate(
        self,
        candidate_id: CandidateId,
        runs: Annotated[int, Field(description="How often.", ge=1, le=100)] = 5,
        variables: Annotated[dict[str, Any] | None, "Values for its variables."] = None,
        secrets: Annotated[dict[str, str] | None, "Values for its secret variables; kept nowhere."] = None,
        benchmark: Annotated[str | None, "A named set of cases to replay with."] = None,
    ) -> Answer:
        """Have a candidate replayed in fresh sandboxes. It takes a while: ask get_skill_evaluation for the result."""
        begun = self._releases.replay(
            candidate_id, runs=runs, variables=variables, secrets=secrets, benchmark=benchmark
        )
        return picked(begun, *_EVALUATION)

    def get_skill_evaluation(self, evaluation_id: Annotated[str, "As replay_skill_candidate answered."]) -> Answer:
        """How far an evaluation is, and what its runs came to."""
        found = self._releases.evaluation(evaluation_id)
        runs = [picked(run, "number", "verdict", "step", "reason", "milliseconds") for run in found["runs"]]
        told: dict[str, Any] = {"runs": listed(runs)["items"]}
        return picked(found, *_EVALUATION, "wanted_runs", "compared_with") | told

    def promote_skill_candidate(
        self,
        candidate_id: CandidateId,
        stage: Stage = "canary",
        upgrade_of_release_id: Annotated[str | None, "The release that it replaces."] = None,
        upgrade_reason: Reason = None,
        change_summary: Annotated[str | None, "What is new in it."] = None,
        allow_risky: Annotated[bool, "Accept serious findings and unproven values, for the upgrade_reason."] = False,
    ) -> Answer:
        """Release a candidate whose last evaluation passed, and in which the scan finds nothing serious."""
        released = self._releases.promote(
            candidate_id,
            stage=stage,
            upgrade_of_release_id=upgrade_of_release_id,
            upgrade_reason=upgrade_reason,
            change_summary=change_summary,
            allow_risky=allow_risky,
        )
        return picked(released, *_RELEASE)

    def delete_skill_candidate(self, candidate_id: CandidateId, reason: Reason = None) -> Answer:
        """Take a candidate away."""
        return self._releases.delete_candidate(candidate_id, reason=reason)

    def list_skill_releases(
        self,
        skill_key: SkillKey = None,
        active_only: Annotated[bool, "Only what is in use."] = False,
        stage: Annotated[Literal["canary", "stable"] | None, "Only of this stage."] = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Answer:
        """Learned skills that were released, the newest first."""
        asked: Any = {"skill_key": skill_key, "active_only": active_only, "stage": stage}
        return _page(self._releases.releases(**asked, limit=limit, offset=offset), _RELEASE)

    def get_skill_release_health(self, release_id: ReleaseId) -> Answer:
        """How a release does in use, beside the one that it is held against, and what is to be done with it."""
        return within(self._releases.health(release_id))

    def diff_skill_releases(
        self,
        old_release_id: Annotated[str, Field(description="The older one.", min_length=1)],
        new_release_id: Annotated[str, Field(description="The newer one.", min_length=1)],
    ) -> Answer:
        """What differs between two releases: their steps and variables."""
        found = self._releases.diff(old_release_id, new_release_id)
        steps = [picked(step, "change", "old", "new") for step in found["steps"] if step["change"] != "same"]
        variables = [each for each in found["variables"] if each["change"] != "same"]
        told: dict[str, Any] = {"changed": found["changed"], "steps": listed(steps), "variables": listed(variables)}
        return told

    def rollback_skill_release(self, release_id: ReleaseId, reason: Reason = None) -> Answer:
        """Take a release back; the answer is what takes its place, or the release itself, in use no more."""
        return picked(self._releases.rollback(release_id, reason=reason), *_RELEASE)

    def delete_skill_release(self, release_id: ReleaseId, reason: Reason = None) -> Answer:
        """Take a release away that is not in use."""
        return self._releases.delete_release(release_id, reason=reason)


def _page(found: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    rows = [picked(each, *fields) for each in found["items"]]
    return listed(rows, total=found["total"], more="; use offset to see others")
