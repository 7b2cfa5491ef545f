"""The counter that orders every change."""

from typing import Final

from sqlalchemy import BigInteger, SmallInteger
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.db.base import Base

THE_COUNTER: Final = 1


class ChangeCounter(Base):
    """The number of the last committed change: one row, which every writing transaction holds."""

    __tablename__ = "change_counter"

    id: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(BigInteger)
