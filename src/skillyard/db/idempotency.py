"""Requests that were carried out, by the key their client gave them, so that none is carried out twice."""

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import JSON, BigInteger, Index, LargeBinary, SmallInteger, String, delete
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from skillyard.clock import Clock, utc_now
from skillyard.db.base import Base, UtcTime
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import AlreadyDoneError

KEPT: Final = timedelta(hours=24)
_SWEPT_EVERY: Final = timedelta(minutes=10)
PRINCIPAL_LENGTH: Final = 128
KEY_LENGTH: Final = 255


class IdempotencyRow(Base):
    """A request that was answered or that changed something; without a status, its answer was not kept."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("ix_idempotency_keys_at", "at"),)

    principal: Mapped[str] = mapped_column(String(PRINCIPAL_LENGTH), primary_key=True)
    key: Mapped[str] = mapped_column(String(KEY_LENGTH), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(String(64))
    number: Mapped[int | None] = mapped_column(BigInteger)
    status: Mapped[int | None] = mapped_column(SmallInteger)
    headers: Mapped[list[list[str]] | None] = mapped_column(JSON)
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    at: Mapped[datetime] = mapped_column(UtcTime)


@dataclass(frozen=True, kw_only=True)
class StoredAnswer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, kw_only=True)
class KnownRequest:
    """What is known of a request that came before."""

    fingerprint: str
    number: int | None
    """The change it made, if it made one."""
    answer: StoredAnswer | None


@dataclass(kw_only=True)
class Attempt:
    """A request being carried out under a key."""

    principal: str
    key: str
    fingerprint: str
    number: int | None = None
    """The last change it made."""
    open: bool = True


_current: ContextVar[Attempt | None] = ContextVar("idempotent_attempt", default=None)


class IdempotencyStore:
    """Remembers requests for a day. One per database: it marks every change made under a key as it is committed."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock
        self._swept: datetime | None = None
        database.before_commit.append(self._mark)

    async def find(self, principal: str, key: str) -> KnownRequest | None:
        async with self._database.read() as session:
            row = await self._row(session, principal, key)
        if row is None:
            return None
        answer = None
        if row.status is not None:
            headers = tuple((name, value) for name, value in row.headers or ())
            answer = StoredAnswer(status=row.status, headers=headers, body=row.body or b"")
        return KnownRequest(fingerprint=row.fingerprint, number=row.number, answer=answer)

    def begin(self, attempt: Attempt) -> None:
        """From here on, what this task commits is marked with the attempt's key."""
        _current.set(attempt)

    def end(self, attempt: Attempt) -> None:
        attempt.open = False
        _current.set(None)

    async def save(self, attempt: Attempt, answer: StoredAnswer) -> None:
        """Keep the answer of an attempt for those who ask again."""
        async with self._database.write(bookkeeping=True) as tx:
            if attempt.number is None and await self._row(tx.session, attempt.principal, attempt.key) is not None:
                return  # another process carried the request out; its mark stays
            row = self._new_row(attempt)
            row.status, row.body = answer.status, answer.body
            row.headers = [[name, value] for name, value in answer.headers]
            await tx.session.merge(row)
            await self._sweep(tx.session)

    async def sweep(self) -> None:
        """Forget what is older than a day; done now and then by `save`, too."""
        async with self._database.write(bookkeeping=True) as tx:
            self._swept = None
            await self._sweep(tx.session)

    async def _mark(self, tx: Transaction) -> None:
        attempt = _current.get()
        if attempt is None or not attempt.open or not (tx.changed or tx.once):
            return
        if attempt.number is None:
            # Another process may have been given the same request while this one was at work.
            known = await self._row(tx.session, attempt.principal, attempt.key)
            if known is not None:
                raise already_done(known.number)
        row = self._new_row(attempt)
        row.number = tx.number
        await tx.session.merge(row)
        await tx.session.flush()

        def committed(number: int = tx.number) -> None:
            attempt.number = number

        tx.after_commit(committed)

    def _new_row(self, attempt: Attempt) -> IdempotencyRow:
        return IdempotencyRow(
            principal=attempt.principal,
            key=attempt.key,
            fingerprint=attempt.fingerprint,
            number=attempt.number,
            status=None,
            headers=None,
            body=None,
            at=self._clock(),
        )

    async def _row(self, session: AsyncSession, principal: str, key: str) -> IdempotencyRow | None:
        row = await session.get(IdempotencyRow, (principal, key))
        return None if row is None or row.at < self._clock() - KEPT else row

    async def _sweep(self, session: AsyncSession) -> None:
        now = self._clock()
        if self._swept is None or now - self._swept >= _SWEPT_EVERY:
            self._swept = now
            await session.execute(delete(IdempotencyRow).where(IdempotencyRow.at < now - KEPT))


def already_done(number: int | None) -> AlreadyDoneError:
    return AlreadyDoneError(
        "A request with this Idempotency-Key was carried out, and its answer is not kept.",
        hint="Read what is there now; to do it once more, send another key.",
        details={"change": number},
    )
