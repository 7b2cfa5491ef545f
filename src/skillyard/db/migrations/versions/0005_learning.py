"""Learning from feedback: feedback and its sources, lessons, proposals, memories and decision rules."""

import sqlalchemy as sa
from alembic import op

from skillyard.db.base import UtcTime

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
_KEY = sa.String(length=256).with_variant(sa.String(length=256, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "decision_rules",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("agent_id", sa.String(length=128), nullable=True),
        sa.Column("name", _KEY, nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("table", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_decision_rules_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_decision_rules"),
    )
    op.create_index("ix_decision_rules_tenant", "decision_rules", ["tenant_id", "name"], unique=False)
    op.create_table(
        "memories",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("agent_id", sa.String(length=128), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("lesson_id", sa.String(length=32), nullable=True),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("superseded_by", sa.String(length=32), nullable=True),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("harmful", sa.Integer(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=True),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.Column("deleted_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_memories_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_memories"),
    )
    op.create_index("ix_memories_agent", "memories", ["tenant_id", "agent_id", "created_at"], unique=False)
    op.create_table(
        "decision_rule_cases",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("rule_id", sa.String(length=32), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("inputs_hash", sa.String(length=64), nullable=False),
        sa.Column("outputs", sa.JSON(), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("last_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["decision_rules.id"], name="fk_decision_rule_cases_rule_id_decision_rules"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_decision_rule_cases"),
        sa.UniqueConstraint("rule_id", "inputs_hash", name="uq_decision_rule_cases_rule_id_inputs_hash"),
    )
    op.create_index("ix_decision_rule_cases_rule", "decision_rule_cases", ["rule_id", "last_at"], unique=False)
    op.create_table(
        "decision_rule_versions",
        sa.Column("rule_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.String(length=32), nullable=False),
        sa.Column("table", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("lesson_id", sa.String(length=32), nullable=True),
        sa.Column("created_by", sa.String(length=36), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["decision_rules.id"], name="fk_decision_rule_versions_rule_id_decision_rules"
        ),
        sa.PrimaryKeyConstraint("rule_id", "version", name="pk_decision_rule_versions"),
    )
    op.create_table(
        "feedback",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("event_id", sa.String(length=256), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=128), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("agents", sa.JSON(), nullable=False),
        sa.Column("said_by", sa.Text(), nullable=False),
        sa.Column("said_at", UtcTime(), nullable=False),
        sa.Column("stage", sa.String(length=24), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("taken_by", sa.String(length=64), nullable=True),
        sa.Column("taken_until", UtcTime(), nullable=True),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", UtcTime(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("finished_at", UtcTime(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_feedback_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_feedback_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.UniqueConstraint("tenant_id", "event_id", name="uq_feedback_tenant_id_event_id"),
    )
    op.create_index("ix_feedback_state", "feedback", ["state", "due_at"], unique=False)
    op.create_index("ix_feedback_tenant", "feedback", ["tenant_id", "created_at"], unique=False)
    op.create_table(
        "feedback_sources",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("place", sa.JSON(), nullable=False),
        sa.Column("every_seconds", sa.Integer(), nullable=False),
        sa.Column("cursor", sa.JSON(), nullable=False),
        sa.Column("worker", sa.String(length=64), nullable=True),
        sa.Column("leased_until", UtcTime(), nullable=True),
        sa.Column("due_at", UtcTime(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["people.id"], name="fk_feedback_sources_owner_id_people"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_feedback_sources_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_feedback_sources"),
        sa.UniqueConstraint("tenant_id", "name", name="uq_feedback_sources_tenant_id_name"),
    )
    op.create_table(
        "feedback_dead_letters",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("source_id", sa.String(length=32), nullable=False),
        sa.Column("item", sa.JSON(), nullable=False),
        sa.Column("item_hash", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["feedback_sources.id"], name="fk_feedback_dead_letters_source_id_feedback_sources"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_feedback_dead_letters"),
        sa.UniqueConstraint("source_id", "item_hash", name="uq_feedback_dead_letters_source_id_item_hash"),
    )
    op.create_index(
        "ix_feedback_dead_letters_source", "feedback_dead_letters", ["source_id", "created_at"], unique=False
    )
    op.create_table(
        "lessons",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("feedback_id", sa.String(length=36), nullable=False),
        sa.Column("agent_id", sa.String(length=128), nullable=False),
        sa.Column("meaning", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=24), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("target", sa.String(length=16), nullable=True),
        sa.Column("operation", sa.String(length=16), nullable=True),
        sa.Column("decision", sa.JSON(), nullable=True),
        sa.Column("effects", sa.JSON(), nullable=False),
        sa.Column("transcript", sa.String(length=64), nullable=True),
        sa.Column("spent", sa.JSON(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("updated_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["feedback_id"], ["feedback.id"], name="fk_lessons_feedback_id_feedback"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_lessons_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_lessons"),
        sa.UniqueConstraint("feedback_id", "agent_id", name="uq_lessons_feedback_id_agent_id"),
    )
    op.create_index("ix_lessons_tenant", "lessons", ["tenant_id", "created_at"], unique=False)
    op.create_table(
        "proposals",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("lesson_id", sa.String(length=32), nullable=True),
        sa.Column("target", sa.String(length=16), nullable=False),
        sa.Column("operation", sa.String(length=16), nullable=False),
        sa.Column("target_id", sa.String(length=128), nullable=True),
        sa.Column("target_name", sa.Text(), nullable=False),
        sa.Column("audience", sa.String(length=64), nullable=False),
        sa.Column("base", sa.String(length=80), nullable=True),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("relations", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("proposed_by", sa.String(length=36), nullable=True),
        sa.Column("decided_by", sa.String(length=36), nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.Column("decision_reason", sa.Text(), nullable=False),
        sa.Column("history_number", sa.BigInteger(), nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.ForeignKeyConstraint(["lesson_id"], ["lessons.id"], name="fk_proposals_lesson_id_lessons"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_proposals_tenant_id_tenants"),
        sa.PrimaryKeyConstraint("id", name="pk_proposals"),
    )
    op.create_index("ix_proposals_lesson", "proposals", ["lesson_id"], unique=False)
    op.create_index("ix_proposals_state", "proposals", ["tenant_id", "state", "created_at"], unique=False)
