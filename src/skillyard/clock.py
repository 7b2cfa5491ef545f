"""The time, as something that can be given."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Answers the present moment, with its time zone."""
Pause: TypeAlias = Callable[[float], Awaitable[None]]
"""Lets so many seconds go by."""


def utc_now() -> datetime:
    return datetime.now(UTC)
