"""Learned skills: their payloads, candidates, evaluations, releases and runs."""

import sqlalchemy as sa
from alembic import op

from skillyard.db.base import UtcTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None
_KEY = sa.String(length=256).with_variant(sa.String(length=256, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_index("ix_execution_notes_learn_status", "execution_notes", ["learn_status"], unique=False)
    op.create_table(
        "skill_benchmarks",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("cases", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_benchmarks_owner_id_people"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_benchmarks"),
        sa.UniqueConstraint("owner_id", "name", name="uq_skill_benchmarks_owner_id_name"),
    )
    op.create_table(
        "skill_candidates",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("skill_key", _KEY, nullable=False),
        sa.Column("scenario_key", sa.String(length=256), nullable=True),
        sa.Column("payload_ref", sa.Text(), nullable=True),
        sa.Column("skill_type", sa.String(length=32), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("usage_notes", sa.Text(), nullable=True),
        sa.Column("preconditions", sa.JSON(), nullable=True),
        sa.Column("postconditions", sa.JSON(), nullable=True),
        sa.Column("source_execution_ids", sa.JSON(), nullable=False),
        sa.Column("canonical", sa.String(length=64), nullable=True),
        sa.Column("mined", sa.Boolean(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=True),
        sa.Column("digest", sa.String(length=80), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("auto_release_eligible", sa.Boolean(), nullable=False),
        sa.Column("auto_release_reason", sa.Text(), nullable=True),
        sa.Column("latest_score", sa.Float(), nullable=True),
        sa.Column("latest_pass", sa.Boolean(), nullable=True),
        sa.Column("last_evaluated_at", UtcTime(), nullable=True),
        sa.Column("promotion_release_id", sa.String(length=32), nullable=True),
        sa.Column("rolled_back_at", UtcTime(), nullable=True),
        sa.Column("created_by", sa.String(length=36), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.Column("deleted_by", sa.String(length=36), nullable=True),
        sa.Column("delete_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_candidates_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_skill_candidates_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_candidates"),
    )
    op.create_index("ix_skill_candidates_canonical", "skill_candidates", ["owner_id", "canonical"], unique=False)
    op.create_index("ix_skill_candidates_key", "skill_candidates", ["owner_id", "skill_key"], unique=False)
    op.create_index("ix_skill_candidates_owner", "skill_candidates", ["owner_id", "created_at"], unique=False)
    op.create_table(
        "skill_mining",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("asked", sa.JSON(), nullable=False),
        sa.Column("found", sa.JSON(), nullable=True),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcTime(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_mining_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_skill_mining_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_mining"),
    )
    op.create_index("ix_skill_mining_state", "skill_mining", ["state", "created_at"], unique=False)
    op.create_table(
        "skill_payloads",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_payloads_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_skill_payloads_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_payloads"),
        sa.UniqueConstraint("owner_id", "kind", "sha256", name="uq_skill_payloads_owner_id_kind_sha256"),
    )
    op.create_index("ix_skill_payloads_sha256", "skill_payloads", ["sha256"], unique=False)
    op.create_table(
        "skill_evaluations",
        sa.Column("candidate_id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("benchmark_id", sa.String(length=256), nullable=True),
        sa.Column("digest", sa.String(length=80), nullable=True),
        sa.Column("wanted_runs", sa.Integer(), nullable=True),
        sa.Column("cases", sa.JSON(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("compared_with", sa.String(length=32), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("evaluated_by", sa.String(length=36), nullable=True),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcTime(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["skill_candidates.id"], name="fk_skill_evaluations_candidate_id_skill_candidates"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_evaluations_owner_id_people"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_evaluations"),
    )
    op.create_index("ix_skill_evaluations_candidate", "skill_evaluations", ["candidate_id", "created_at"], unique=False)
    op.create_index("ix_skill_evaluations_state", "skill_evaluations", ["state", "created_at"], unique=False)
    op.create_table(
        "skill_releases",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("skill_key", _KEY, nullable=False),
        sa.Column("candidate_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=True),
        sa.Column("digest", sa.String(length=80), nullable=True),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("release_mode", sa.String(length=16), nullable=False),
        sa.Column("external", sa.Boolean(), nullable=False),
        sa.Column("promoted_by", sa.String(length=36), nullable=True),
        sa.Column("promoted_at", UtcTime(), nullable=False),
        sa.Column("ended_at", UtcTime(), nullable=True),
        sa.Column("end_reason", sa.Text(), nullable=True),
        sa.Column("rollback_of", sa.String(length=32), nullable=True),
        sa.Column("auto_promoted_from", sa.String(length=32), nullable=True),
        sa.Column("health_window_end_at", UtcTime(), nullable=True),
        sa.Column("upgrade_of_release_id", sa.String(length=32), nullable=True),
        sa.Column("upgrade_reason", sa.Text(), nullable=True),
        sa.Column("change_summary", sa.Text(), nullable=True),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.Column("deleted_by", sa.String(length=36), nullable=True),
        sa.Column("delete_reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["skill_candidates.id"], name="fk_skill_releases_candidate_id_skill_candidates"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_releases_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_skill_releases_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_releases"),
        sa.UniqueConstraint("owner_id", "skill_key", "version", name="uq_skill_releases_owner_id_skill_key_version"),
    )
    op.create_index("ix_skill_releases_active", "skill_releases", ["owner_id", "is_active"], unique=False)
    op.create_index("ix_skill_releases_candidate", "skill_releases", ["candidate_id"], unique=False)
    op.create_index("ix_skill_releases_owner", "skill_releases", ["owner_id", "promoted_at"], unique=False)
    op.create_table(
        "skill_runs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("release_id", sa.String(length=32), nullable=True),
        sa.Column("candidate_id", sa.String(length=32), nullable=False),
        sa.Column("evaluation_id", sa.String(length=36), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("sandbox_id", sa.String(length=32), nullable=True),
        sa.Column("execution_ids", sa.JSON(), nullable=False),
        sa.Column("verdict", sa.String(length=24), nullable=False),
        sa.Column("step", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("total_steps", sa.Integer(), nullable=False),
        sa.Column("variables", sa.JSON(), nullable=False),
        sa.Column("screenshot", sa.String(length=64), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["skill_candidates.id"], name="fk_skill_runs_candidate_id_skill_candidates"
        ),
        sa.ForeignKeyConstraint(
            ["evaluation_id"], ["skill_evaluations.id"], name="fk_skill_runs_evaluation_id_skill_evaluations"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_skill_runs_owner_id_people"),
        sa.ForeignKeyConstraint(["release_id"], ["skill_releases.id"], name="fk_skill_runs_release_id_skill_releases"),
        sa.PrimaryKeyConstraint("id", name="pk_skill_runs"),
        sa.UniqueConstraint("evaluation_id", "number", name="uq_skill_runs_evaluation_id_number"),
    )
    op.create_index("ix_skill_runs_owner", "skill_runs", ["owner_id", "created_at"], unique=False)
    op.create_index("ix_skill_runs_release", "skill_runs", ["release_id", "created_at"], unique=False)
    op.create_index("ix_skill_runs_screenshot", "skill_runs", ["screenshot"], unique=False)
