"""Polling: a source is leased, read page by page, and what it gives is taken in once, however often it comes."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import or_, select, update

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN
from skillyard.errors import InputError, SkillyardError
from skillyard.identity.owners import owner_of
from skillyard.identity.principals import Principal, Scope
from skillyard.learning.batches import take_each
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.feedback_items import spec_of
from skillyard.learning.ids import new_id
from skillyard.learning.intake import Intake, Taken
from skillyard.learning.kept_texts import kept
from skillyard.learning.models import FeedbackRow, FeedbackSourceRow
from skillyard.learning.places import COMMON
from skillyard.learning.sources.addresses import Address, AddressReader
from skillyard.learning.sources.dead_letters import bury
from skillyard.learning.sources.readers import Reader
from skillyard.learning.sources.source import FeedbackSource, SourceKind, source_of
from skillyard.learning.sources.tables import TablePlace, TableReader

LEASE: Final = timedelta(minutes=10)
"""Longer than a page takes; whoever reads renews it with each."""
WHOLE_EVERY: Final = timedelta(days=1)
"""So often a source is read from its beginning: whatever came too late for the overlap is found then."""
LONGEST_WAIT: Final = timedelta(hours=1)
"""Between two attempts at a source that cannot be read, unless it is asked more seldom anyway."""
_AT_ONCE: Final = 500
_CHANGED: Final = "It was taken in before, and says something else now; what was said is never changed."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Polled:
    """What one look at a source gave."""

    read: int = 0
    created: int = 0
    known: int = 0
    """Those that had come before."""
    dead: int = 0
    """Those that could not be taken in, for the first time."""


class _LostError(Exception):
    """Somebody else has the source now."""


class Polling:
    """Reads sources. Several processes may try to; each source is read by one at a time."""

    def __init__(self, database: Database, intake: Intake, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._intake = intake
        self._clock = clock

    async def due(self) -> list[str]:
        """The sources that are to be read now."""
        now = self._clock()
        row = FeedbackSourceRow
        free = or_(row.leased_until.is_(None), row.leased_until < now)
        query = select(row.id).where(row.enabled.is_(True), row.due_at <= now, free).order_by(row.due_at)
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def poll(self, source_id: str) -> Polled | None:
        """Read a source. None: somebody else does. What goes wrong is kept with it, raised, and tried again later."""
        worker = new_id("poll")
        source = await self._lease(source_id, worker)
        if source is None:
            return None
        try:
            polled, cursor = await self._read(source, worker)
        except _LostError:
            return None
        except Exception as error:
            reason = error.message if isinstance(error, SkillyardError) else f"Nobody expected {type(error).__name__}."
            await self._let_go(source, worker, _wait(source), failures=source.failures + 1, error=kept(reason))
            raise
        every = timedelta(seconds=source.every_seconds)
        await self._let_go(source, worker, every, failures=0, error="", cursor=cursor)
        return polled

    async def _read(self, source: FeedbackSource, worker: str) -> tuple[Polled, dict[str, Any]]:
        async with self._database.read() as session:
            owner = await owner_of(session, source.owner_id, scope=Scope.PUBLISH)
        began = self._clock()
        cursor = dict(source.cursor)
        whole_at = cursor.get("whole_at")
        whole = whole_at is None or began - datetime.fromisoformat(whole_at) > WHOLE_EVERY
        polled = Polled()
        async for page in reader_of(source.kind, source.place).pages(None if whole else cursor.get("position")):
            for start in range(0, len(page.items), _AT_ONCE):
                polled = await self._take(source, owner, page.items[start : start + _AT_ONCE], polled)
            cursor["position"] = page.position
            await self._renew(source.id, worker, None if whole else cursor)
        if whole:
            cursor["whole_at"] = began.isoformat()
        return polled, cursor

    async def _take(self, source: FeedbackSource, owner: Principal, items: Sequence[object], before: Polled) -> Polled:
        specs: list[tuple[object, FeedbackSpec]] = []
        dead: list[tuple[object, str]] = []
        for item in items:
            try:
                specs.append((item, _spec(source, item)))
            except InputError as error:
                dead.append((item, error.message))
        known = await self._hashes(source, [spec for _, spec in specs])
        fresh: list[tuple[object, FeedbackSpec]] = []
        for item, spec in specs:
            said = known.get(_event_id(spec))
            if said is None:
                fresh.append((item, spec))
            elif said != spec.content_hash:
                dead.append((item, _CHANGED))
        outcomes = await take_each(self._intake, owner, [spec for _, spec in fresh], source=source.name, place=COMMON)
        created = sum(isinstance(outcome, Taken) and outcome.created for outcome in outcomes)
        for (item, _), outcome in zip(fresh, outcomes, strict=True):
            if not isinstance(outcome, Taken):
                dead.append((item, outcome.message))
        buried = 0
        if dead:
            async with self._database.write(bookkeeping=True) as transaction:
                buried = await bury(transaction, source.id, dead, now=self._clock())
        return Polled(
            read=before.read + len(items),
            created=before.created + created,
            known=before.known + len(items) - created - len(dead),
            dead=before.dead + buried,
        )

    async def _hashes(self, source: FeedbackSource, specs: Sequence[FeedbackSpec]) -> Mapping[str, str]:
        """What those said that were taken in already, by their ids."""
        row = FeedbackRow
        ids = [_event_id(spec) for spec in specs]
        query = select(row.event_id, row.content_hash).where(row.tenant_id == source.tenant_id, row.event_id.in_(ids))
        async with self._database.read() as session:
            return dict(iter(await session.execute(query)))

    async def _lease(self, source_id: str, worker: str) -> FeedbackSource | None:
        now = self._clock()
        row = FeedbackSourceRow
        free = or_(row.leased_until.is_(None), row.leased_until < now)
        statement = update(row).where(row.id == source_id, free).values(worker=worker, leased_until=now + LEASE)
        async with self._database.write(bookkeeping=True) as transaction:
            taken = await transaction.session.scalar(statement.returning(row.id), execution_options=UNSEEN)
            found = None if taken is None else await transaction.session.get(row, source_id)
            return found and source_of(found)

    async def _renew(self, source_id: str, worker: str, cursor: Mapping[str, Any] | None) -> None:
        values: dict[str, Any] = {"leased_until": self._clock() + LEASE}
        await self._update(source_id, worker, values if cursor is None else {**values, "cursor": dict(cursor)})

    async def _let_go(self, source: FeedbackSource, worker: str, wait: timedelta, **values: Any) -> None:  # noqa: ANN401
        free = {"worker": None, "leased_until": None, "due_at": self._clock() + wait}
        try:
            await self._update(source.id, worker, {**free, **values})
        except _LostError:
            _log.warning("The source %s was taken over by someone else.", source.id)

    async def _update(self, source_id: str, worker: str, values: Mapping[str, Any]) -> None:
        row = FeedbackSourceRow
        statement = update(row).where(row.id == source_id, row.worker == worker).values(**values).returning(row.id)
        async with self._database.write(bookkeeping=True) as transaction:
            if await transaction.session.scalar(statement, execution_options=UNSEEN) is None:
                raise _LostError


def reader_of(kind: SourceKind, place: Mapping[str, Any]) -> Reader:
    """Whoever reads such a place; one that is wrong is an `InputError`."""
    return AddressReader(Address.read(place)) if kind is SourceKind.URL else TableReader(TablePlace.read(place))


def _spec(source: FeedbackSource, item: object) -> FeedbackSpec:
    if not isinstance(item, Mapping):
        raise InputError("It is no JSON object.")
    spec = spec_of(cast("Mapping[str, Any]", item))
    # Ids of one source say nothing about those of another.
    return replace(spec, event_id=spec.event_id and f"{source.id}:{spec.event_id}")


def _event_id(spec: FeedbackSpec) -> str:
    return spec.event_id or f"sha256:{spec.content_hash}"


def _wait(source: FeedbackSource) -> timedelta:
    every = timedelta(seconds=source.every_seconds)
    return min(every * 2 ** min(source.failures + 1, 20), max(every, LONGEST_WAIT))
