"""The table of what bundles look like when they are served for discovery."""

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import Base
from skillyard.registry.models import DIGEST_LENGTH


class ArtifactRow(Base):
    """The one file that a bundle is served as. It follows from the bundle; kept so that no index has to pack all."""

    __tablename__ = "discovery_artifacts"

    bundle_digest: Mapped[str] = mapped_column(ForeignKey("bundles.digest"), primary_key=True)
    packing: Mapped[str] = mapped_column(String(64), primary_key=True)
    """How it was packed: another compressor makes other bytes."""
    kind: Mapped[str] = mapped_column(String(16))
    sha256: Mapped[str] = mapped_column(String(DIGEST_LENGTH))
    size: Mapped[int] = mapped_column(BigInteger)
    description: Mapped[str] = mapped_column(Text)
    """As the bundle's own SKILL.md gives it; that of the working copy may say more than was published."""
