"""Naming blobs in rows, safe from whoever collects the blobs that no row names.

Bytes are put before the write that names them, and the same bytes may be on their way out at that moment. So that write
claims what it names: a claim takes blobs off the list of the condemned, and fails when one may be gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from sqlalchemy import bindparam, delete, select

from skillyard.blobs.models import CONDEMNED, DELETING, CondemnedBlobRow
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, Pause, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import UnavailableError

Result = TypeVar("Result")
Register = Callable[[Transaction, list[str]], Awaitable[Result]]

LEASE: Final = timedelta(minutes=10)
"""Who marked a blob as being deleted is done with it by then, or was killed."""
_CONDEMNED: Final = select(CondemnedBlobRow.sha256, CondemnedBlobRow.state, CondemnedBlobRow.at).where(
    CondemnedBlobRow.sha256.in_(bindparam("hashes", expanding=True))
)
_PAUSES: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds between tries. Two are needed when bytes are gone; more only while they are being removed."""


class BlobsVanishingError(Exception):
    """Bytes that were there when they were put may be gone: put them again and claim again.

    `gone` are those that nobody is removing any more, with the moment of their row: after they are put again, a claim
    that is given these finds them in order.
    """

    def __init__(self, hashes: Collection[str], gone: Mapping[str, datetime]) -> None:
        super().__init__(f"Blobs were collected while they were being named: {', '.join(sorted(hashes))}")
        self.hashes = frozenset(hashes)
        self.gone = dict(gone)


async def claim(
    transaction: Transaction,
    hashes: Collection[str],
    *,
    put_again: Mapping[str, datetime] | None = None,
    clock: Clock = utc_now,
) -> None:
    """Keep blobs that rows of this write will name; `BlobsVanishingError` when some may not be there any more."""
    rows = (await transaction.session.execute(_CONDEMNED, {"hashes": sorted(set(hashes))})).all()
    known = put_again or {}
    # The moment must be the one that was seen: since then, someone may have removed the bytes once more.
    vanishing = [row for row in rows if row.state != CONDEMNED and known.get(row.sha256) != row.at]
    if vanishing:
        expired = clock() - LEASE
        gone = {row.sha256: row.at for row in vanishing if row.state != DELETING or row.at <= expired}
        raise BlobsVanishingError([row.sha256 for row in vanishing], gone)
    if rows:
        await transaction.session.execute(delete(CondemnedBlobRow).where(CondemnedBlobRow.sha256.in_(set(hashes))))


async def put_and_claim(
    database: Database,
    blobs: Blobs,
    contents: Sequence[bytes],
    register: Register[Result],
    *,
    clock: Clock = utc_now,
    pause: Pause = asyncio.sleep,
) -> Result:
    """Keep bytes and, in one write, the rows that name them.

    `register` is given the transaction and the names of the contents in their order. It may be called again when the
    write could not be made, so it does nothing but make rows; its answer is the answer.
    """
    put_again: dict[str, datetime] = {}
    vanishing: frozenset[str] = frozenset()
    for seconds in _PAUSES:
        hashes = await blobs.put_all(contents)
        try:
            async with database.write() as transaction:
                await claim(transaction, hashes, put_again=put_again, clock=clock)
                return await register(transaction, hashes)
        except BlobsVanishingError as error:
            put_again = error.gone
            vanishing = error.hashes
        await pause(seconds)
    raise UnavailableError(
        f"{len(vanishing)} of the files are being removed from the store of blobs, and this takes unusually long.",
        hint=f"Try again; at the latest it works {LEASE.total_seconds() / 60:.0f} minutes after the removal began.",
        details={"sha256": sorted(vanishing)},
    )
