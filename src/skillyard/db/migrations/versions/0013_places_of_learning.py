"""Feedback, memories and decision rules live in namespaces; what is there is on the common ground of its tenant."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("feedback", "memories", "decision_rules"):
        op.add_column(table, sa.Column("namespace_id", sa.String(length=36), nullable=True))
        op.add_column(table, sa.Column("namespace", sa.String(length=64), nullable=True))
        op.add_column(table, sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false()))
