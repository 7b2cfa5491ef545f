"""Moments as people speak of them."""

from datetime import UTC, datetime, timedelta
from typing import Final

from skillyard.server.web.texts import Texts

_MINUTE: Final = timedelta(minutes=1)
_SPANS: Final = (
    (timedelta(days=365), "years"),
    (timedelta(days=30), "months"),
    (timedelta(days=1), "days"),
    (timedelta(hours=1), "hours"),
    (_MINUTE, "minutes"),
)


def ago(when: datetime, now: datetime, texts: Texts) -> str:
    """How far a moment is from now: `3 hours ago`, `in 5 minutes`."""
    distance = now - when
    direction = "ago" if distance >= timedelta() else "ahead"
    if -distance >= _MINUTE:
        # What was given two hours a moment ago has two hours, not one.
        distance = distance // _MINUTE * _MINUTE
    for span, name in _SPANS:
        count = abs(distance) // span
        if count:
            return texts(f"moments.{direction}.{name}", n=count)
    return texts("moments.now")


def parsed(moment: datetime | str | None) -> datetime | None:
    """A moment that may have been written down; without a time zone it is one of ours, in UTC."""
    if not moment:
        return None
    when = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
