"""Feedback that an agent took is held by a person and a token, not by a name."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("feedback", sa.Column("holder_id", sa.String(length=36), nullable=True))
    op.add_column("feedback", sa.Column("holder_token", sa.String(length=36), nullable=True))
