"""Why findings of the scan were accepted for a version, and whether a tenant shows skills to the world."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("versions", sa.Column("waiver", sa.Text(), nullable=True))
    op.add_column("tenants", sa.Column("shows_world", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute(
        "UPDATE tenants SET shows_world = true WHERE id IN "
        "(SELECT tenant_id FROM skills WHERE visibility = 'discoverable' AND deleted_at IS NULL)"
    )
