"""Versions that wait for a review are found without reading all versions of a namespace."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_versions_state", "versions", ["namespace_id", "state"], unique=False)
