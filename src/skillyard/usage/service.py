"""Usage: how often skills are shown, loaded, activated, and how that ends.

It is no history: nothing here takes a change number or can be undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import InputError, LimitError
from skillyard.usage.events import MAX_DAYS, Totals, UsageDay, UsageEvent
from skillyard.usage.store import add_events, days_of, delete_events, known_ids, loads_in, totals_of

MAX_EVENTS: Final = 1_000
"""Events that can be reported at once."""
KEPT: Final = timedelta(days=90)
"""How long single events are kept; their daily counts stay."""
_AHEAD: Final = timedelta(minutes=10)
"""How far a reporter's clock may be ahead of ours."""
_SWEPT: Final = 1_000
"""Events that one write removes: others are waiting to write."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What became of reported events."""

    recorded: int
    """All that were written."""
    repeated: int
    """Those that were reported before, which count once."""
    uncounted: int = 0
    """Those that were written, and are more outcomes than are counted of one person."""


class Usage:
    """Counts uses of skills; who may report or ask is the caller's to decide."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    @property
    def now(self) -> datetime:
        return self._clock()

    async def record(self, reporter_id: str, events: Sequence[UsageEvent]) -> Recorded:
        """Write events and their daily counts in one go; an event that was reported before changes nothing."""
        require_batch(len(events))
        first = {event.id: event for event in reversed(events)}
        for event in first.values():
            self._require_time(event)
        if not first:
            return Recorded(recorded=0, repeated=0)
        async with self._database.write() as transaction:
            known = await known_ids(transaction.session, reporter_id, list(first))
            new = [event for event_id, event in first.items() if event_id not in known]
            uncounted = 0
            if new:
                today = self._clock().astimezone(UTC).date()
                uncounted = await add_events(transaction.session, reporter_id, new, today=today)
        return Recorded(recorded=len(new), repeated=len(events) - len(new), uncounted=uncounted)

    async def days(self, skill_id: str, *, days: int) -> list[UsageDay]:
        """The daily counts of one skill, the newest day first."""
        async with self._database.read() as session:
            return await days_of(session, skill_id, since=self._since(days))

    async def totals(self, tenant_id: str, *, days: int) -> dict[str, Totals]:
        """The counts of each skill in a tenant that was used at all."""
        async with self._database.read() as session:
            return await totals_of(session, tenant_id, since=self._since(days))

    async def loads(self, reporter_id: str, skill_id: str, in_session: str) -> dict[str, int]:
        """How often a reporter loaded, or activated, each version of a skill in a session, the last loaded first."""
        async with self._database.read() as session:
            return await loads_in(session, reporter_id, skill_id, in_session)

    async def sweep(self) -> int:
        """Remove the events that are past their time, some at each write; called now and then."""
        before = self._clock() - KEPT
        removed = 0
        while True:
            async with self._database.write() as transaction:
                some = await delete_events(transaction.session, before=before, limit=_SWEPT)
            removed += some
            if some < _SWEPT:
                return removed

    def takes(self, at: datetime) -> bool:
        """Whether an event of that moment can be counted."""
        now = self._clock()
        return now - KEPT < at <= now + _AHEAD

    def _require_time(self, event: UsageEvent) -> None:
        # An event past its time would be counted again when it is sent again: its id is no longer known.
        if not self.takes(event.at):
            raise InputError(
                f"The event {event.id!r} is of {event.at.isoformat()}, which is ahead of now or too long ago.",
                hint=f"Report events of the last {KEPT.days} days, with their time zone.",
                details={"field": "at", "value": event.at.isoformat(), "limit": KEPT.days},
            )

    def _since(self, days: int) -> date:
        if not 1 <= days <= MAX_DAYS:
            raise InputError(
                f"{days} is no number of days to look back.",
                hint=f"Use 1 to {MAX_DAYS}.",
                details={"field": "days", "value": days, "limit": MAX_DAYS},
            )
        return (self._clock().astimezone(UTC) - timedelta(days=days - 1)).date()


def require_batch(count: int) -> None:
    if count > MAX_EVENTS:
        raise LimitError(
            f"{count:,} events are reported at once; at most {MAX_EVENTS:,} are allowed.",
            hint="Send them in several requests.",
            details={"field": "events", "limit": MAX_EVENTS},
        )
