"""Outcomes that agents tell: runs of releases say where they come from, and in which session."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("skill_runs", sa.Column("origin", sa.String(length=16), nullable=False, server_default="replay"))
    op.add_column("skill_runs", sa.Column("session", sa.String(length=128), nullable=True))
    op.create_index("ix_skill_runs_session", "skill_runs", ["session", "release_id"], unique=False)
