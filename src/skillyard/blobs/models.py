"""The table of blobs that nothing names."""

from datetime import datetime
from typing import Final

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import Base, UtcTime

CONDEMNED: Final = "condemned"
"""Nothing named it when it was looked at; the bytes are there, and a claim keeps them."""
DELETING: Final = "deleting"
"""Its bytes are being removed at this moment: whoever wants to name it must wait."""
DELETED: Final = "deleted"
"""Its bytes were removed a short while ago: whoever saw them before that must put them again."""


class CondemnedBlobRow(Base):
    __tablename__ = "condemned_blobs"

    sha256: Mapped[str] = mapped_column(String(64), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    at: Mapped[datetime] = mapped_column(UtcTime)
    """When it came into this state."""
