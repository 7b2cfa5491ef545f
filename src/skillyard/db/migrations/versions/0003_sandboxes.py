"""Sandboxes, their cargos and the processes that hold them, and the executions in them."""

import sqlalchemy as sa
from alembic import op

from skillyard.db.base import UtcTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sandbox_hosts",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("started_at", UtcTime(), nullable=False),
        sa.Column("alive_until", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sandbox_hosts"),
    )
    op.create_table(
        "cargos",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("managed_by", sa.String(length=32), nullable=True),
        sa.Column("backend", sa.String(length=64), nullable=False),
        sa.Column("size_limit_mb", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("accessed_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.Column("maker", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_cargos_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_cargos_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_cargos"),
    )
    op.create_index("ix_cargos_owner", "cargos", ["owner_id", "created_at"], unique=False)
    op.create_index("ix_cargos_deleted_at", "cargos", ["deleted_at"], unique=False)
    op.create_table(
        "sandboxes",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("cargo_id", sa.String(length=32), nullable=False),
        sa.Column("profile", sa.String(length=64), nullable=False),
        sa.Column("backend", sa.String(length=64), nullable=False),
        sa.Column("capabilities", sa.JSON(), nullable=False),
        sa.Column("isolation", sa.JSON(), nullable=False),
        sa.Column("network", sa.JSON(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("idle_ttl", sa.Integer(), nullable=False),
        sa.Column("idle_expires_at", UtcTime(), nullable=True),
        sa.Column("active_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("holder", sa.String(length=32), nullable=True),
        sa.Column("session_id", sa.String(length=32), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("skills_injected_at", UtcTime(), nullable=True),
        sa.Column("hook_error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_sandboxes_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_sandboxes_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_sandboxes"),
    )
    op.create_index("ix_sandboxes_owner", "sandboxes", ["owner_id", "created_at"], unique=False)
    op.create_index("ix_sandboxes_cargo_id", "sandboxes", ["cargo_id"], unique=False)
    op.create_index("ix_sandboxes_holder", "sandboxes", ["holder"], unique=False)
    op.create_index("ix_sandboxes_expires_at", "sandboxes", ["expires_at"], unique=False)
    op.create_table(
        "executions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("sandbox_id", sa.String(length=32), nullable=False),
        sa.Column("session_id", sa.String(length=32), nullable=True),
        sa.Column("exec_type", sa.String(length=16), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("success", sa.Boolean(), nullable=False),
        sa.Column("ending", sa.String(length=16), nullable=False),
        sa.Column("exit_code", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("network", sa.JSON(), nullable=False),
        sa.Column("skills", sa.JSON(), nullable=False),
        sa.Column("trace_id", sa.String(length=32), nullable=True),
        sa.Column("learn", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_executions_owner_id_people"),
        sa.ForeignKeyConstraint(["sandbox_id"], ["sandboxes.id"], name="fk_executions_sandbox_id_sandboxes"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_executions_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_executions"),
    )
    op.create_index("ix_executions_sandbox", "executions", ["sandbox_id", "created_at", "id"], unique=False)
    op.create_index("ix_executions_owner", "executions", ["owner_id", "created_at"], unique=False)
    op.create_table(
        "execution_notes",
        sa.Column("execution_id", sa.String(length=32), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=True),
        sa.Column("tag_list", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("learn_status", sa.String(length=16), nullable=True),
        sa.Column("learn_error", sa.Text(), nullable=True),
        sa.Column("learn_processed_at", UtcTime(), nullable=True),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["execution_id"], ["executions.id"], name="fk_execution_notes_execution_id_executions"),
        sa.PrimaryKeyConstraint("execution_id", name="pk_execution_notes"),
    )
    op.create_table(
        "traces",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("sandbox_id", sa.String(length=32), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["sandbox_id"], ["sandboxes.id"], name="fk_traces_sandbox_id_sandboxes"),
        sa.PrimaryKeyConstraint("id", name="pk_traces"),
    )
    op.create_index("ix_traces_sha256", "traces", ["sha256"], unique=False)
