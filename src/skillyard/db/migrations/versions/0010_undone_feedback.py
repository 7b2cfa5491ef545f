"""Feedback of which all is undone says so, and its lessons count how often they were learned again."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("lessons", sa.Column("turn", sa.Integer(), nullable=False, server_default="0"))
    feedback = sa.table("feedback", sa.column("id", sa.String), sa.column("stage", sa.String))
    lessons = sa.table("lessons", sa.column("feedback_id", sa.String), sa.column("state", sa.String))
    of = sa.select(sa.literal(1)).where(lessons.c.feedback_id == feedback.c.id)
    undone = feedback.update().where(
        feedback.c.stage == "committed",
        sa.exists(of.where(lessons.c.state == "undone")),
        ~sa.exists(of.where(lessons.c.state == "committed")),
    )
    op.execute(undone.values(stage="undone"))
