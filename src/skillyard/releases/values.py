"""Learned skills as values: candidates, what was said of them, their releases and their runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from skillyard.db.base import Base
from skillyard.history.entries import Subject
from skillyard.identity.principals import person_audience

T = TypeVar("T")
CANDIDATE_CREATED: Final = "candidate.created"
CANDIDATE_DELETED: Final = "candidate.deleted"
PROMOTED: Final = "release.promoted"
"""What the history calls it."""


class Status(StrEnum):
    """How a candidate stands."""

    DRAFT = "draft"
    EVALUATING = "evaluating"
    """Being evaluated, or evaluated well and not released."""
    PROMOTED = "promoted"
    REJECTED = "rejected"
    ROLLED_BACK = "rolled_back"


class Stage(StrEnum):
    CANARY = "canary"
    """For some."""
    STABLE = "stable"
    """For all."""


class ReleaseState(StrEnum):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ROLLED_BACK = "rolled_back"
    RETIRED = "retired"
    KILLED = "killed"


class EvaluationKind(StrEnum):
    REPLAY = "replay"
    EXTERNAL = "external"
    """A verdict from elsewhere: nothing was replayed here."""


class RunOrigin(StrEnum):
    REPLAY = "replay"
    TOLD = "told"
    """An agent used it and said how its task went; nothing was checked here."""


class ReleaseMode(StrEnum):
    MANUAL = "manual"
    AUTO = "auto"
    """A policy did it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletable:
    """Something that is kept after it was deleted, with who did so and why."""

    deleted_at: datetime | None = None
    deleted_by: str | None = None
    delete_reason: str | None = None

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate(Deletable):
    """Know-how that may become a skill."""

    id: str
    tenant_id: str
    owner_id: str
    skill_key: str
    skill_type: str
    source_execution_ids: Sequence[str]
    created_by: str | None
    created_at: datetime
    updated_at: datetime
    skill_id: str | None = None
    """The skill of the registry that it is a version of; None for one that was made of executions."""
    scenario_key: str | None = None
    payload_ref: str | None = None
    summary: str | None = None
    usage_notes: str | None = None
    preconditions: Mapping[str, Any] | None = None
    postconditions: Mapping[str, Any] | None = None
    canonical: str | None = None
    mined: bool = False
    name: str | None = None
    digest: str | None = None
    status: str = Status.DRAFT.value
    auto_release_eligible: bool = False
    auto_release_reason: str | None = None
    latest_score: float | None = None
    latest_pass: bool | None = None
    last_evaluated_at: datetime | None = None
    promotion_release_id: str | None = None
    rolled_back_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """A verdict on a candidate."""

    id: str
    candidate_id: str
    owner_id: str
    kind: str
    state: str
    evaluated_by: str | None
    created_at: datetime
    benchmark_id: str | None = None
    digest: str | None = None
    wanted_runs: int | None = None
    cases: Sequence[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    seconds: int | None = None
    score: float | None = None
    passed: bool | None = None
    verdict: str | None = None
    compared_with: str | None = None
    report: str | None = None
    error: str | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Release(Deletable):
    """A candidate in use, or that was."""

    id: str
    tenant_id: str
    owner_id: str
    skill_key: str
    candidate_id: str
    version: int
    stage: str
    promoted_by: str | None
    promoted_at: datetime
    skill_id: str | None = None
    """As its candidate's."""
    name: str | None = None
    digest: str | None = None
    is_active: bool = True
    state: str = ReleaseState.ACTIVE.value
    release_mode: str = ReleaseMode.MANUAL.value
    external: bool = False
    ended_at: datetime | None = None
    end_reason: str | None = None
    rollback_of: str | None = None
    auto_promoted_from: str | None = None
    health_window_end_at: datetime | None = None
    upgrade_of_release_id: str | None = None
    upgrade_reason: str | None = None
    change_summary: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillRun:
    """One replay that is over, or one use that an agent told of."""

    id: str
    owner_id: str
    release_id: str | None
    candidate_id: str
    evaluation_id: str | None
    number: int | None
    sandbox_id: str | None
    execution_ids: Sequence[str]
    verdict: str
    step: int | None
    reason: str
    steps: Sequence[Mapping[str, Any]]
    total_steps: int
    variables: Mapping[str, Any]
    screenshot: str | None
    milliseconds: int
    created_at: datetime
    origin: str = RunOrigin.REPLAY.value
    session: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """A named set of variable values and checks."""

    id: str
    owner_id: str
    name: str
    cases: Sequence[Mapping[str, Any]]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Mining:
    """A request to look through executions."""

    id: str
    tenant_id: str
    owner_id: str
    asked: Mapping[str, Any]
    state: str
    created_at: datetime
    found: Mapping[str, Any] | None = None
    error: str | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[T]):
    items: Sequence[T]
    total: int


def value_of(kind: type[T], row: Base) -> T:
    """A row as a value, whose fields are named as its columns."""
    return kind(**{one.name: getattr(row, one.name) for one in fields(kind)})  # type: ignore[arg-type]


def columns_of(value: Candidate | Evaluation | Release | SkillRun | Benchmark | Mining) -> dict[str, Any]:
    """The columns of the row that keeps a value."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


def candidate_subject(candidate_id: str, skill_key: str, owner_id: str) -> Subject:
    """A candidate as the history speaks of it, to its owner."""
    return Subject(kind="candidate", id=candidate_id, label=skill_key, audience=person_audience(owner_id))


def release_subject(release_id: str, skill_key: str, version: int, owner_id: str) -> Subject:
    label = f"{skill_key} v{version}"
    return Subject(kind="release", id=release_id, label=label, audience=person_audience(owner_id))
