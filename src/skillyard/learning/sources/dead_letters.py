"""What came from a source and could not be taken in, kept with the reason."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.db.transaction import Transaction
from skillyard.errors import LimitError
from skillyard.learning.ids import id_of
from skillyard.learning.kept_texts import kept, kept_json
from skillyard.learning.models import DeadLetterRow

MAX_KEPT: Final = 10_000
"""Of one source. One that gives more rubbish is not read until somebody has looked at it."""
_MAX_ITEM: Final = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class DeadLetter:
    id: str
    item: Any
    reason: str
    created_at: datetime


async def bury(
    transaction: Transaction, source_id: str, letters: Sequence[tuple[object, str]], *, now: datetime
) -> int:
    """Keep some, each once; how many are new."""
    session = transaction.session
    count = await session.scalar(select(func.count()).where(DeadLetterRow.source_id == source_id)) or 0
    if letters and count + len(letters) > MAX_KEPT:
        raise LimitError(
            f"There are {count:,} dead letters of this source, and {len(letters):,} more came.",
            hint="Look at them, mend the source, and delete them.",
            details={"limit": MAX_KEPT, "value": count},
        )
    new = 0
    for item, reason in letters:
        text = json.dumps(item, sort_keys=True, default=str)
        hashed = hashlib.sha256(text.encode()).hexdigest()
        letter_id = id_of("dead", source_id, hashed)
        if await session.get(DeadLetterRow, letter_id) is None:
            new += 1
            # What cannot be kept as it is, is kept as a text.
            shown = kept_json(json.loads(text)) if len(text) <= _MAX_ITEM else kept(text[:_MAX_ITEM])
            session.add(
                DeadLetterRow(
                    id=letter_id,
                    source_id=source_id,
                    item=shown,
                    item_hash=hashed,
                    reason=kept(reason),
                    created_at=now,
                )
            )
            await session.flush()
    return new


async def buried(session: AsyncSession, source_id: str, limit: int, offset: int) -> tuple[list[DeadLetter], int]:
    """The newest first, and how many there are."""
    query = select(DeadLetterRow).where(DeadLetterRow.source_id == source_id)
    total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
    newest = query.order_by(DeadLetterRow.created_at.desc(), DeadLetterRow.id).limit(limit).offset(offset)
    rows = await session.scalars(newest)
    return [DeadLetter(id=row.id, item=row.item, reason=row.reason, created_at=row.created_at) for row in rows], total


async def forget(transaction: Transaction, source_id: str) -> int:
    """Delete those of a source; how many there were."""
    gone = await transaction.session.scalars(
        delete(DeadLetterRow).where(DeadLetterRow.source_id == source_id).returning(DeadLetterRow.id)
    )
    return len(gone.all())
