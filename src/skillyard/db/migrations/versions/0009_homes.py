"""Where the files of cargos are: several homes may share a database."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cargos", sa.Column("home", sa.String(length=32), nullable=True))
    op.add_column("sandbox_hosts", sa.Column("home", sa.String(length=32), nullable=True))
    op.execute("UPDATE cargos SET home = 'unknown'")
