"""The tables of learned skills: payloads, candidates, evaluations, releases and their runs."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Boolean, Float, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import ID_LENGTH, KEY, Base, UtcTime
from skillyard.jobs.rows import JobRow

OWN_ID: Final = 32
"""Ids of this room are a word and 12 hexadecimal digits."""
DIGEST: Final = 80
SHA256: Final = 64


class PayloadRow(Base):
    """A payload, kept as a blob; the same content of one owner is kept once."""

    __tablename__ = "skill_payloads"
    __table_args__ = (
        UniqueConstraint("owner_id", "kind", "sha256"),
        Index("ix_skill_payloads_sha256", "sha256"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(64))
    sha256: Mapped[str] = mapped_column(String(SHA256))
    size: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcTime)


class CandidateRow(Base):
    """Know-how that may become a skill. What it is never changes; how it stands does."""

    __tablename__ = "skill_candidates"
    __table_args__ = (
        Index("ix_skill_candidates_owner", "owner_id", "created_at"),
        Index("ix_skill_candidates_key", "owner_id", "skill_key"),
        Index("ix_skill_candidates_canonical", "owner_id", "canonical"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    skill_key: Mapped[str] = mapped_column(KEY)
    skill_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    """The skill of the registry that it is a version of; None for one that was made of executions."""
    scenario_key: Mapped[str | None] = mapped_column(String(256))
    payload_ref: Mapped[str | None] = mapped_column(Text)
    """`blob:<id>`, or a reference of the client's own."""
    skill_type: Mapped[str] = mapped_column(String(32))
    summary: Mapped[str | None] = mapped_column(Text)
    usage_notes: Mapped[str | None] = mapped_column(Text)
    preconditions: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    postconditions: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    source_execution_ids: Mapped[list[str]] = mapped_column(JSON)
    """All the evidence; it grows as the same task is done again."""
    canonical: Mapped[str | None] = mapped_column(String(SHA256))
    """The task that it is, whatever the values: what merges repeats. None for one made by hand."""
    mined: Mapped[bool] = mapped_column(Boolean)
    name: Mapped[str | None] = mapped_column(String(64))
    """The name of the rendered skill, settled when it was rendered."""
    digest: Mapped[str | None] = mapped_column(String(DIGEST))
    """The rendered bundle: what is evaluated, published and injected."""
    status: Mapped[str] = mapped_column(String(16))
    auto_release_eligible: Mapped[bool] = mapped_column(Boolean)
    auto_release_reason: Mapped[str | None] = mapped_column(Text)
    latest_score: Mapped[float | None] = mapped_column(Float)
    latest_pass: Mapped[bool | None] = mapped_column(Boolean)
    last_evaluated_at: Mapped[datetime | None] = mapped_column(UtcTime)
    promotion_release_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    rolled_back_at: Mapped[datetime | None] = mapped_column(UtcTime)
    """Not promoted again without evidence that is newer."""
    created_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)
    deleted_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    delete_reason: Mapped[str | None] = mapped_column(Text)


class EvaluationRow(JobRow):
    """A verdict on a candidate: of replays, or from elsewhere. Written once; a running one is completed."""

    __tablename__ = "skill_evaluations"
    __table_args__ = (
        Index("ix_skill_evaluations_candidate", "candidate_id", "created_at"),
        Index("ix_skill_evaluations_state", "state", "created_at"),
    )

    candidate_id: Mapped[str] = mapped_column(ForeignKey("skill_candidates.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(16))
    """`replay` or `external`."""
    benchmark_id: Mapped[str | None] = mapped_column(String(256))
    digest: Mapped[str | None] = mapped_column(String(DIGEST))
    wanted_runs: Mapped[int | None] = mapped_column(Integer)
    cases: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """What replays are given in turn, each `{variables, checks}`, without the values of secrets."""
    seconds: Mapped[int | None] = mapped_column(Integer)
    """That each replay may take."""
    score: Mapped[float | None] = mapped_column(Float)
    passed: Mapped[bool | None] = mapped_column(Boolean)
    verdict: Mapped[str | None] = mapped_column(String(16))
    """`pass`, `fail`, or, beside the release that it would replace, `better`, `same` or `worse`."""
    compared_with: Mapped[str | None] = mapped_column(String(OWN_ID))
    report: Mapped[str | None] = mapped_column(Text)
    evaluated_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))


class ReleaseRow(Base):
    """A candidate in use, as a canary for some or stable for all. A rollback makes a new one."""

    __tablename__ = "skill_releases"
    __table_args__ = (
        UniqueConstraint("owner_id", "skill_key", "version"),
        Index("ix_skill_releases_owner", "owner_id", "promoted_at"),
        Index("ix_skill_releases_active", "owner_id", "is_active"),
        Index("ix_skill_releases_candidate", "candidate_id"),
        Index("ix_skill_releases_skill", "skill_id"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    skill_key: Mapped[str] = mapped_column(KEY)
    skill_id: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    """As its candidate's."""
    candidate_id: Mapped[str] = mapped_column(ForeignKey("skill_candidates.id"))
    version: Mapped[int] = mapped_column(Integer)
    name: Mapped[str | None] = mapped_column(String(64))
    digest: Mapped[str | None] = mapped_column(String(DIGEST))
    stage: Mapped[str] = mapped_column(String(16))
    is_active: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(String(16))
    """`active`, `superseded`, `rolled_back`, `retired` or `killed`."""
    release_mode: Mapped[str] = mapped_column(String(16))
    """`manual`, or `auto` when a policy did it."""
    external: Mapped[bool] = mapped_column(Boolean)
    """Whether only a verdict from elsewhere speaks for it."""
    promoted_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    promoted_at: Mapped[datetime] = mapped_column(UtcTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcTime)
    end_reason: Mapped[str | None] = mapped_column(Text)
    rollback_of: Mapped[str | None] = mapped_column(String(OWN_ID))
    auto_promoted_from: Mapped[str | None] = mapped_column(String(OWN_ID))
    health_window_end_at: Mapped[datetime | None] = mapped_column(UtcTime)
    upgrade_of_release_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    upgrade_reason: Mapped[str | None] = mapped_column(Text)
    change_summary: Mapped[str | None] = mapped_column(Text)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcTime)
    deleted_by: Mapped[str | None] = mapped_column(String(ID_LENGTH))
    delete_reason: Mapped[str | None] = mapped_column(Text)


class SkillRunRow(Base):
    """One replay: of a release in use, or for an evaluation; or what an agent told. Written once and never changed."""

    __tablename__ = "skill_runs"
    __table_args__ = (
        Index("ix_skill_runs_release", "release_id", "created_at"),
        Index("ix_skill_runs_owner", "owner_id", "created_at"),
        UniqueConstraint("evaluation_id", "number"),
        Index("ix_skill_runs_screenshot", "screenshot"),
        Index("ix_skill_runs_session", "session", "release_id"),
    )

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    release_id: Mapped[str | None] = mapped_column(ForeignKey("skill_releases.id"))
    candidate_id: Mapped[str] = mapped_column(ForeignKey("skill_candidates.id"))
    evaluation_id: Mapped[str | None] = mapped_column(ForeignKey("skill_evaluations.id"))
    number: Mapped[int | None] = mapped_column(Integer)
    """Which of the runs of its evaluation."""
    sandbox_id: Mapped[str | None] = mapped_column(String(OWN_ID))
    execution_ids: Mapped[list[str]] = mapped_column(JSON)
    verdict: Mapped[str] = mapped_column(String(24))
    step: Mapped[int | None] = mapped_column(Integer)
    reason: Mapped[str] = mapped_column(Text)
    steps: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    total_steps: Mapped[int] = mapped_column(Integer)
    variables: Mapped[dict[str, Any]] = mapped_column(JSON)
    """Without the values of secrets."""
    screenshot: Mapped[str | None] = mapped_column(String(SHA256))
    milliseconds: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    origin: Mapped[str] = mapped_column(String(16), server_default="replay")
    """`replay`, or `told` by the agent that used it."""
    session: Mapped[str | None] = mapped_column(String(128))
    """Of one that was told: in which session of the agent."""


class BenchmarkRow(Base):
    """A named set of variable values and checks, to be used with any candidate."""

    __tablename__ = "skill_benchmarks"
    __table_args__ = (UniqueConstraint("owner_id", "name"),)

    id: Mapped[str] = mapped_column(String(OWN_ID), primary_key=True)
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    name: Mapped[str] = mapped_column(String(128))
    cases: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    """Each `{variables, checks}`."""
    created_at: Mapped[datetime] = mapped_column(UtcTime)
    updated_at: Mapped[datetime] = mapped_column(UtcTime)


class MiningRow(JobRow):
    """A request to look through executions; the truth about it, whoever works on it."""

    __tablename__ = "skill_mining"
    __table_args__ = (Index("ix_skill_mining_state", "state", "created_at"),)

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("people.id"))
    asked: Mapped[dict[str, Any]] = mapped_column(JSON)
    """`{sandbox_ids?, execution_ids?, since?}`."""
    found: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    """`{candidates: [id, …], examined, gaps}`."""
