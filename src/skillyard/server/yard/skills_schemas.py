"""The JSON of candidates, evaluations and releases."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from skillyard.releases.candidate_spec import MAX_EXECUTIONS, MAX_KEY, MAX_TEXT, CandidateSpec
from skillyard.releases.payload_store import MAX_KIND
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Candidate, Evaluation, Release, Stage
from skillyard.server.yard.caller import Body

Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY)]
Id = Annotated[str, StringConstraints(max_length=128)]


class SkillPayloadCreateRequest(Body):
    payload: dict[str, Any] | list[Any]
    kind: str = Field(
        default="generic",
        min_length=1,
        max_length=MAX_KIND,
        description="`browser`, `code` and `hybrid_sequence` can be replayed, and are checked; others are only kept.",
    )


class SkillPayloadCreateResponse(BaseModel):
    payload_ref: str
    kind: str


class SkillPayloadResponse(BaseModel):
    payload_ref: str
    kind: str
    payload: dict[str, Any] | list[Any]


class SkillCandidateCreateRequest(Body):
    skill_key: Key
    source_execution_ids: list[Id] = Field(max_length=MAX_EXECUTIONS)
    scenario_key: Annotated[str, StringConstraints(max_length=MAX_KEY)] | None = None
    payload_ref: Text | None = Field(
        default=None, description="A payload that is kept here, or a reference of your own, which stays as it is."
    )
    summary: Text | None = None
    usage_notes: Text | None = None
    preconditions: dict[str, Any] | None = None
    postconditions: dict[str, Any] | None = None

    @property
    def spec(self) -> CandidateSpec:
        return CandidateSpec(**dict(self))


class _Told(BaseModel):
    """Told of a value whose fields have the same names."""

    model_config = ConfigDict(from_attributes=True)


class SkillCandidateResponse(_Told):
    id: str
    skill_key: str
    scenario_key: str | None
    payload_ref: str | None
    skill_type: str
    auto_release_eligible: bool
    auto_release_reason: str | None
    summary: str | None
    usage_notes: str | None
    preconditions: dict[str, Any] | None
    postconditions: dict[str, Any] | None
    source_execution_ids: list[str]
    status: str
    latest_score: float | None
    latest_pass: bool | None
    last_evaluated_at: datetime | None
    promotion_release_id: str | None
    created_by: str | None
    created_at: datetime
    updated_at: datetime
    is_deleted: bool
    deleted_at: datetime | None
    deleted_by: str | None
    delete_reason: str | None
    name: str | None = Field(description="The name of the rendered skill.")
    digest: str | None = Field(description="The rendered files: what is evaluated, published and injected.")
    mined: bool = Field(description="Whether it was found in the executions, and not made by hand.")
    canonical: str | None = Field(description="The task that it is, whatever the values.")
    rolled_back_at: datetime | None = Field(description="When it was last taken back.")

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        return cls.model_validate(candidate)


class SkillCandidateListResponse(BaseModel):
    items: list[SkillCandidateResponse]
    total: int


class SkillDeleteRequest(Body):
    reason: Text | None = None


class SkillDeleteResponse(_Told):
    id: str
    deleted_at: datetime
    deleted_by: str | None
    delete_reason: str | None

    @classmethod
    def of(cls, gone: Candidate | Release) -> Self:
        return cls.model_validate(gone)


class SkillEvaluationRequest(Body):
    passed: bool
    score: float | None = Field(default=None, allow_inf_nan=False)
    benchmark_id: Annotated[str, StringConstraints(max_length=MAX_KEY)] | None = None
    report: Text | None = None


class SkillEvaluationResponse(_Told):
    id: str
    candidate_id: str
    benchmark_id: str | None
    score: float | None
    passed: bool | None
    report: str | None
    evaluated_by: str | None
    created_at: datetime
    kind: str = Field(description="`replay`, or `external` for a verdict from elsewhere.")
    state: str = Field(description="`queued`, `running`, `done` or `failed`.")
    digest: str | None
    wanted_runs: int | None
    verdict: str | None
    compared_with: str | None = Field(description="The release that it would replace.")
    error: str | None = Field(description="Why it could not be done.")
    finished_at: datetime | None

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        return cls.model_validate(evaluation)


class SkillEvaluationListResponse(BaseModel):
    items: list[SkillEvaluationResponse]
    total: int


class SkillPromotionRequest(Body):
    stage: Stage = Stage.CANARY
    upgrade_of_release_id: Id | None = None
    upgrade_reason: Text | None = None
    change_summary: Text | None = None
    allow_risky: bool = Field(
        default=False,
        description="Accept serious findings, and values that replays do not prove, for the `upgrade_reason`.",
    )

    @property
    def promotion(self) -> Promotion:
        return Promotion(**dict(self))


class SkillReleaseResponse(_Told):
    id: str
    skill_key: str
    candidate_id: str
    version: int
    stage: str
    is_active: bool
    release_mode: str
    promoted_by: str | None
    promoted_at: datetime
    rollback_of: str | None
    auto_promoted_from: str | None
    health_window_end_at: datetime | None
    upgrade_of_release_id: str | None
    upgrade_reason: str | None
    change_summary: str | None
    is_deleted: bool
    deleted_at: datetime | None
    deleted_by: str | None
    delete_reason: str | None
    name: str | None
    digest: str | None
    state: str = Field(description="`active`, `superseded`, `rolled_back`, `retired` or `killed`.")
    external: bool = Field(description="Whether only a verdict from elsewhere speaks for it.")
    skill_id: str | None = Field(description="The skill of the registry that it is a version of, if it is one.")
    ended_at: datetime | None
    end_reason: str | None

    @classmethod
    def of(cls, release: Release) -> Self:
        return cls.model_validate(release)


class SkillReleaseListResponse(BaseModel):
    items: list[SkillReleaseResponse]
    total: int
