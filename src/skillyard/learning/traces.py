"""What a lesson did before, found again in the history: whoever goes on after a crash tells the same effects."""

from collections.abc import Callable
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.history.entries import Entry, Why
from skillyard.history.store import entries_of

_LOOKED_AT: Final = 50
"""Entries of one subject among which those of a lesson are."""


async def trace_of(
    session: AsyncSession, tenant_id: str, subject: tuple[str, str], action: str, fits: Callable[[Entry], bool]
) -> Entry | None:
    """The last change of a subject that fits and was made."""
    entries = await entries_of(session, None, tenant_id=tenant_id, subjects=[subject], action=action, limit=_LOOKED_AT)
    return next((entry for entry in entries if entry.done and fits(entry)), None)


def same_words(one: Why, other: Why) -> bool:
    """Whether two changes were made for the same feedback; without any, for the same reason."""
    return one.feedback == other.feedback and bool(one.feedback or one.reason == other.reason)
