"""Queries over the uses of skills."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from sqlalchemy import delete, func, insert, select, tuple_
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.usage.events import MAX_OUTCOMES, MAX_VISITOR_OUTCOMES, Totals, UsageDay, UsageEvent, UsageKind
from skillyard.usage.models import UsageDayRow, UsageEventRow

_DAY_KEYS: Final = ("skill_id", "day", "version", "agent", "event")
_OUTCOMES: Final = tuple(kind.value for kind in UsageKind if kind.is_outcome)
_NO_NAMES: Final = ("", "")
MAX_ROWS: Final = 1_000
"""Daily counts that one answer holds."""
MAX_NAMED: Final = 200
"""Pairs of version and agent, as they are reported, that are told apart for a skill on one day."""


async def known_ids(session: AsyncSession, reporter_id: str, ids: Sequence[str]) -> set[str]:
    """Those of the ids that this reporter used for an event already."""
    query = select(UsageEventRow.id).where(UsageEventRow.reporter_id == reporter_id, UsageEventRow.id.in_(ids))
    return set(await session.scalars(query))


async def add_events(session: AsyncSession, reporter_id: str, events: Sequence[UsageEvent], *, today: date) -> int:
    """Write events that are not there yet, and count each on its day; the number of outcomes that are not counted.

    Of one person, `MAX_OUTCOMES` outcomes of a skill are counted on one day; of a visitor `MAX_VISITOR_OUTCOMES`, and
    none of days before today, which could otherwise be filled one by one.

    Beyond `MAX_NAMED` versions and agents of a skill on one day, others are counted under none: their names are the
    reporters' own, and counts are kept for good.
    """
    told = await _outcomes_told(session, reporter_id, events)
    rows = [
        {
            "reporter_id": reporter_id,
            "id": event.id,
            "tenant_id": event.tenant_id,
            "skill_id": event.skill_id,
            "version": event.version,
            "agent": event.agent,
            "session": event.session,
            "event": event.event.value,
            "at": event.at,
            "detail": event.detail,
        }
        for event in events
    ]
    await session.execute(insert(UsageEventRow), rows)
    named = await _named(session, {(event.skill_id, _day(event)) for event in events})
    counted: Counter[tuple[str, date, str, str, UsageKind, str]] = Counter()
    uncounted = 0
    for event in events:
        if event.event.is_outcome:
            told[event.skill_id, _day(event)] += 1
            if told[event.skill_id, _day(event)] > _most_outcomes(event, today):
                uncounted += 1
                continue
        pairs, pair = named[event.skill_id, _day(event)], (event.version, event.agent)
        if pair not in pairs and len(pairs) >= MAX_NAMED:
            pair = _NO_NAMES
        pairs.add(pair)
        counted[event.skill_id, _day(event), *pair, event.event, event.tenant_id] += 1
    days = [
        {
            "skill_id": skill_id,
            "day": day,
            "version": version,
            "agent": agent,
            "event": kind.value,
            "tenant_id": tenant_id,
            "count": count,
        }
        for (skill_id, day, version, agent, kind, tenant_id), count in counted.items()
    ]
    if days:
        await session.execute(_add_to_day(session), days)
    return uncounted


async def loads_in(session: AsyncSession, reporter_id: str, skill_id: str, in_session: str) -> dict[str, int]:
    """How often each version of a skill was loaded, or activated, in a session of a reporter, the last one first.

    An agent may report both of one use: the more frequent of them counts.
    """
    kinds = (UsageKind.LOADED.value, UsageKind.ACTIVATED.value)
    query = (
        select(UsageEventRow.version, func.count(), func.max(UsageEventRow.at).label("last"))
        .where(
            UsageEventRow.skill_id == skill_id,
            UsageEventRow.reporter_id == reporter_id,
            UsageEventRow.session == in_session,
            UsageEventRow.event.in_(kinds),
        )
        .group_by(UsageEventRow.version, UsageEventRow.event)
        .order_by(func.max(UsageEventRow.at).desc(), UsageEventRow.version)
    )
    loads: dict[str, int] = {}
    for version, count, _ in await session.execute(query):
        loads[version] = max(loads.get(version, 0), count)
    return loads


async def outcomes_in(session: AsyncSession, reporter_id: str, skill_id: str, in_session: str) -> list[str]:
    """The ids of the outcomes that a reporter told of a skill in a session."""
    query = select(UsageEventRow.id).where(
        UsageEventRow.skill_id == skill_id,
        UsageEventRow.reporter_id == reporter_id,
        UsageEventRow.session == in_session,
        UsageEventRow.event.in_(_OUTCOMES),
    )
    return list(await session.scalars(query))


async def days_of(session: AsyncSession, skill_id: str, *, since: date) -> list[UsageDay]:
    """What happened to a skill from that day on, the newest day first; of many counts, the `MAX_ROWS` newest."""
    query = (
        select(UsageDayRow)
        .where(UsageDayRow.skill_id == skill_id, UsageDayRow.day >= since)
        .order_by(UsageDayRow.day.desc(), UsageDayRow.version, UsageDayRow.agent, UsageDayRow.event)
        .limit(MAX_ROWS)
    )
    return [
        UsageDay(
            day=row.day,
            skill_id=row.skill_id,
            version=row.version,
            agent=row.agent,
            event=UsageKind(row.event),
            count=row.count,
        )
        for row in await session.scalars(query)
    ]


async def totals_of(session: AsyncSession, tenant_id: str, *, since: date) -> dict[str, Totals]:
    """What happened to each skill of a tenant from that day on; one without any use is not among them."""
    query = (
        select(UsageDayRow.skill_id, UsageDayRow.event, func.sum(UsageDayRow.count))
        .where(UsageDayRow.tenant_id == tenant_id, UsageDayRow.day >= since)
        .group_by(UsageDayRow.skill_id, UsageDayRow.event)
    )
    counts: dict[str, dict[UsageKind, int]] = {}
    for skill_id, event, count in await session.execute(query):
        counts.setdefault(skill_id, {})[UsageKind(event)] = int(count)
    return {skill_id: Totals(counts=each) for skill_id, each in counts.items()}


async def delete_events(session: AsyncSession, *, before: datetime, limit: int) -> int:
    """Remove some of the events from before that moment, and answer how many."""
    keys = select(UsageEventRow.reporter_id, UsageEventRow.id).where(UsageEventRow.at < before).limit(limit)
    found = list(await session.execute(keys))
    by_reporter: dict[str, list[str]] = {}
    for reporter_id, event_id in found:
        by_reporter.setdefault(reporter_id, []).append(event_id)
    for reporter_id, ids in by_reporter.items():
        gone = (UsageEventRow.reporter_id == reporter_id) & UsageEventRow.id.in_(ids)
        await session.execute(delete(UsageEventRow).where(gone))
    return len(found)


async def _named(
    session: AsyncSession, keys: Collection[tuple[str, date]]
) -> dict[tuple[str, date], set[tuple[str, str]]]:
    """The versions and agents that were counted already, by skill and day."""
    named: dict[tuple[str, date], set[tuple[str, str]]] = {key: set() for key in keys}
    of_keys = tuple_(UsageDayRow.skill_id, UsageDayRow.day).in_(sorted(keys))
    query = select(UsageDayRow.skill_id, UsageDayRow.day, UsageDayRow.version, UsageDayRow.agent)
    for skill_id, day, version, agent in await session.execute(query.where(of_keys).distinct()):
        named[skill_id, day].add((version, agent))
    return named


async def _outcomes_told(
    session: AsyncSession, reporter_id: str, events: Sequence[UsageEvent]
) -> Counter[tuple[str, date]]:
    """How many outcomes a reporter told before, of the skills and on the days of those that are told now."""
    now = [event for event in events if event.event.is_outcome]
    told: Counter[tuple[str, date]] = Counter()
    if now:
        query = select(UsageEventRow.skill_id, UsageEventRow.at).where(
            UsageEventRow.reporter_id == reporter_id,
            UsageEventRow.event.in_(_OUTCOMES),
            UsageEventRow.skill_id.in_({event.skill_id for event in now}),
            UsageEventRow.at >= min(_midnight(event) for event in now),
            UsageEventRow.at < max(_midnight(event) for event in now) + timedelta(days=1),
        )
        for skill_id, at in await session.execute(query):
            told[skill_id, at.astimezone(UTC).date()] += 1
    return told


def _most_outcomes(event: UsageEvent, today: date) -> int:
    if not event.visitor:
        return MAX_OUTCOMES
    return MAX_VISITOR_OUTCOMES if _day(event) >= today else 0


def _midnight(event: UsageEvent) -> datetime:
    return datetime.combine(_day(event), time(), UTC)


def _day(event: UsageEvent) -> date:
    return event.at.astimezone(UTC).date()


def _add_to_day(session: AsyncSession) -> sqlite.Insert | postgresql.Insert:
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    row = dialect.insert(UsageDayRow)
    return row.on_conflict_do_update(index_elements=_DAY_KEYS, set_={"count": UsageDayRow.count + row.excluded.count})
