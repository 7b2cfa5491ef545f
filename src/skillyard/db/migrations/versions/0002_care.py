"""Agents' skills, usage, sessions, blobs on their way out, and requests that were answered."""

import sqlalchemy as sa
from alembic import op

from skillyard.db.base import UtcTime

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "condemned_blobs",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_condemned_blobs"),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("principal", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("headers", sa.JSON(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "key", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_at", "idempotency_keys", ["at"], unique=False)
    op.create_table(
        "usage_days",
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version", sa.String(length=128), nullable=False),
        sa.Column("agent", sa.String(length=128), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("skill_id", "day", "version", "agent", "event", name="pk_usage_days"),
    )
    op.create_index("ix_usage_days_tenant", "usage_days", ["tenant_id", "day"], unique=False)
    op.create_table(
        "usage_events",
        sa.Column("reporter_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.String(length=128), nullable=False),
        sa.Column("agent", sa.String(length=128), nullable=False),
        sa.Column("session", sa.String(length=128), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("at", UtcTime(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("reporter_id", "id", name="pk_usage_events"),
    )
    op.create_index("ix_usage_events_at", "usage_events", ["at"], unique=False)
    op.create_index("ix_usage_events_skill", "usage_events", ["skill_id", "at"], unique=False)
    op.create_table(
        "discovery_artifacts",
        sa.Column("bundle_digest", sa.String(length=80), nullable=False),
        sa.Column("packing", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("sha256", sa.String(length=80), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bundle_digest"], ["bundles.digest"], name="fk_discovery_artifacts_bundle_digest_bundles"
        ),
        sa.PrimaryKeyConstraint("bundle_digest", "packing", name="pk_discovery_artifacts"),
    )
    op.create_table(
        "attachments",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("agent_key", sa.String(length=36), nullable=False),
        sa.Column("skill_id", sa.String(length=36), nullable=False),
        sa.Column("wanted", sa.String(length=256), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["skill_id"], ["skills.id"], name="fk_attachments_skill_id_skills"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_attachments_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("tenant_id", "agent_key", "skill_id", name="pk_attachments"),
    )
    op.create_index("ix_attachments_skill_id", "attachments", ["skill_id"], unique=False)
