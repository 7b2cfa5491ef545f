"""Releases of skills that the registry has, locks on them, and what it took to find whom feedback is for."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("skill_candidates", sa.Column("skill_id", sa.String(length=36), nullable=True))
    op.add_column("skill_releases", sa.Column("skill_id", sa.String(length=36), nullable=True))
    op.create_index("ix_skill_releases_skill", "skill_releases", ["skill_id"], unique=False)
    op.add_column("skills", sa.Column("locked", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("feedback", sa.Column("transcript", sa.String(length=64), nullable=True))
    op.add_column("feedback", sa.Column("spent", sa.JSON(), nullable=False, server_default="{}"))
