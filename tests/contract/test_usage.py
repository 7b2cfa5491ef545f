"""Usage: counted once, by day, for those who may see the skill, and no part of the history."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select

from skillyard.errors import InputError, LimitError, NotFoundError
from skillyard.history.entries import Why
from skillyard.registry.skills import Visibility
from skillyard.registry.usage import SkillUsage, UsageReport
from skillyard.usage.events import MAX_OUTCOMES, MAX_VISITOR_OUTCOMES, Totals, UsageEvent, UsageKind
from skillyard.usage.models import UsageEventRow
from skillyard.usage.service import KEPT, MAX_EVENTS, Usage
from skillyard.usage.store import MAX_NAMED, MAX_ROWS

pytestmark = pytest.mark.anyio

WHY = Why(reason="a test asked for it")
NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)
TODAY = NOON.date()


class Desk:
    """Usage with a clock that is moved by hand."""

    def __init__(self, world):
        self.now = NOON
        self.world = world
        self.room = SkillUsage(world.yard.database, Usage(world.yard.database, clock=lambda: self.now))

    async def report(self, *events, principal=None):
        """Each event is a skill and what happened to it, and perhaps more fields."""
        made = [
            UsageReport(skill=getattr(skill, "full_name", skill), event=UsageKind(kind), **(more[0] if more else {}))
            for skill, kind, *more in events
        ]
        return await self.room.report(principal or self.world.viewer, made)

    async def days(self, skill, principal=None, **kwargs):
        found = await self.room.of_skill(principal or self.world.viewer, skill.id, **kwargs)
        return [(day.day, day.version, day.agent, day.event.value, day.count) for day in found]


@pytest.fixture
def desk(world):
    return Desk(world)


async def test_uses_are_counted_by_day_version_agent_and_event(world, desk):
    skill = await world.create(world.editor, "tool")
    one = {"version": "1.0.0", "agent": "helper"}
    receipt = await desk.report(
        (skill, "shown", one), (skill, "shown", one), (skill, "failed", one), (skill.id, "shown")
    )
    assert (receipt.recorded, receipt.repeated, receipt.refused) == (4, 0, ())
    await desk.report((skill, "shown", one))
    desk.now += timedelta(days=1)
    await desk.report((skill, "shown", one))
    assert await desk.days(skill) == [
        (TODAY + timedelta(days=1), "1.0.0", "helper", "shown", 1),
        (TODAY, "", "", "shown", 1),
        (TODAY, "1.0.0", "helper", "failed", 1),
        (TODAY, "1.0.0", "helper", "shown", 3),
    ]
    assert len(await desk.days(skill, days=1)) == 1


async def test_an_event_sent_again_counts_once(world, desk):
    skill = await world.create(world.editor, "tool")
    batch = [(skill, "loaded", {"id": "e1"}), (skill, "loaded", {"id": "e2"}), (skill, "failed", {"id": "e1"})]
    first = await desk.report(*batch)
    assert (first.recorded, first.repeated) == (2, 1)
    again = await desk.report(*batch, (skill, "loaded", {"id": "e3"}))
    assert (again.recorded, again.repeated) == (1, 3)
    assert await desk.days(skill) == [(TODAY, "", "", "loaded", 3)]


async def test_the_ids_of_one_reporter_do_not_stand_in_the_way_of_another(world, desk):
    skill = await world.create(world.editor, "tool")
    for principal in (world.viewer, world.editor):
        receipt = await desk.report((skill, "loaded", {"id": "same"}), principal=principal)
        assert receipt.recorded == 1


async def test_a_day_is_one_of_utc(world, desk):
    skill = await world.create(world.editor, "tool")
    late = datetime.fromisoformat("2026-05-20T01:30:00+09:00")
    await desk.report((skill, "loaded", {"at": late}))
    assert await desk.days(skill) == [(date(2026, 5, 19), "", "", "loaded", 1)]


async def test_usage_is_no_change(world, desk):
    skill = await world.create(world.editor, "tool")
    number = await world.yard.database.number()
    await desk.report((skill, "activated"))
    assert await world.yard.database.number() == number


async def test_only_skills_that_one_may_see_are_counted_and_the_rest_of_a_batch_is(world, desk):
    hidden = await world.create(world.editor, "hidden")
    shown = await world.create(world.publisher, "shown", visibility=Visibility.PUBLIC)
    for outsider in (world.stranger, world.foreigner):
        receipt = await desk.report(
            (hidden, "loaded"), (hidden.id, "loaded"), ("no/where", "loaded"), ("", "loaded"), principal=outsider
        )
        assert receipt.recorded == 0
        assert [each.position for each in receipt.refused] == [0, 1, 2, 3]
    receipt = await desk.report((hidden, "loaded"), (shown, "loaded"), principal=world.stranger)
    assert (receipt.recorded, [each.position for each in receipt.refused]) == (1, [0])
    assert await desk.days(hidden) == []
    with pytest.raises(NotFoundError):
        await desk.days(hidden, principal=world.stranger)
    assert [each.full_name for each in await desk.room.totals(world.stranger)] == ["team/shown"]


async def test_an_event_that_is_too_old_or_of_the_future_is_not_counted(world, desk):
    skill = await world.create(world.editor, "tool")
    receipt = await desk.report(
        (skill, "loaded", {"at": NOON - KEPT}),
        (skill, "loaded", {"at": NOON + timedelta(hours=1)}),
        (skill, "loaded", {"at": NOON - KEPT + timedelta(minutes=1)}),
    )
    assert (receipt.recorded, [each.position for each in receipt.refused]) == (1, [0, 1])
    usage = Usage(world.yard.database, clock=lambda: NOON)
    old = UsageEvent(id="x", tenant_id="t", skill_id=skill.id, event=UsageKind.SHOWN, at=NOON - KEPT)
    with pytest.raises(InputError, match="too long ago"):
        await usage.record("someone", [old])


async def test_a_thousand_events_go_at_once_and_no_more(world, desk):
    skill = await world.create(world.editor, "tool")
    receipt = await desk.report(*[(skill, "shown", {"agent": str(number % 7)}) for number in range(MAX_EVENTS)])
    assert receipt.recorded == MAX_EVENTS
    assert sum(day[-1] for day in await desk.days(skill)) == MAX_EVENTS
    with pytest.raises(LimitError, match="1,001 events"):
        await desk.report(*[(skill, "shown")] * (MAX_EVENTS + 1))
    assert (await desk.report()).recorded == 0


async def test_names_beyond_a_number_for_each_day_are_counted_without(world, desk):
    skill, other = await world.create(world.editor, "tool"), await world.create(world.editor, "other")
    await desk.report(*[(skill, "shown", {"version": f"1.{number:03}.0"}) for number in range(MAX_NAMED - 1)])
    late = [(skill, "shown", {"version": "2.0.0", "agent": f"a{number}"}) for number in range(3)]
    await desk.report(late[0])
    await desk.report(*late[1:], (skill, "failed", {"version": "1.000.0"}), (other, "shown", {"version": "3.0.0"}))
    counted = await desk.days(skill)
    assert len(counted) == MAX_NAMED + 2
    assert counted[0] == (TODAY, "", "", "shown", 2)
    assert counted[1] == (TODAY, "1.000.0", "", "failed", 1)
    assert counted[-1] == (TODAY, "2.0.0", "a0", "shown", 1)
    assert await desk.days(other) == [(TODAY, "3.0.0", "", "shown", 1)]
    desk.now += timedelta(days=1)
    await desk.report(late[-1])
    assert (await desk.days(skill))[0] == (TODAY + timedelta(days=1), "2.0.0", "a2", "shown", 1)


async def test_an_answer_holds_the_newest_counts_and_no_more_than_its_limit(world, desk):
    skill = await world.create(world.editor, "tool")
    for _ in range(MAX_ROWS // MAX_NAMED + 1):
        await desk.report(*[(skill, "shown", {"agent": str(number)}) for number in range(MAX_NAMED)])
        desk.now += timedelta(days=1)
    counted = await desk.days(skill)
    assert len(counted) == MAX_ROWS
    assert {day[0] for day in counted} == {TODAY + timedelta(days=n + 1) for n in range(MAX_ROWS // MAX_NAMED)}


async def test_single_events_are_swept_and_their_counts_stay(world, desk):
    skill = await world.create(world.editor, "tool")
    desk.now += 2 * KEPT
    await desk.room.sweep()  # what other tests left
    await desk.report(*[(skill, "shown")] * MAX_EVENTS)
    await desk.report((skill, "shown"))
    desk.now += KEPT - timedelta(hours=1)
    assert await desk.room.sweep() == 0
    await desk.report((skill, "loaded"))
    desk.now += timedelta(hours=2)
    assert await desk.room.sweep() == MAX_EVENTS + 1
    async with world.yard.database.read() as session:
        left = select(func.count()).select_from(UsageEventRow).where(UsageEventRow.skill_id == skill.id)
        assert await session.scalar(left) == 1
    assert [day[3:] for day in await desk.days(skill, days=100)] == [("loaded", 1), ("shown", MAX_EVENTS + 1)]


async def test_the_report_names_what_nobody_uses_and_what_often_fails(world, desk):
    unused = await world.create(world.editor, "unused")
    listed = await world.create(world.editor, "listed")
    failing = await world.create(world.editor, "failing")
    worse = await world.create(world.editor, "worse")
    rarely = await world.create(world.editor, "rarely")
    await desk.report((listed, "shown"), (rarely, "failed"))
    await desk.report(*[(failing, "failed")] * 3, *[(failing, "succeeded")] * 3, *[(worse, "failed")] * 5)
    summary = await desk.room.summary(world.viewer)
    assert [each.full_name for each in summary.never_used] == [listed.full_name, unused.full_name]
    assert [(each.full_name, each.totals.failure_rate) for each in summary.often_failing] == [
        ("team/worse", 1.0),
        ("team/failing", 0.5),
    ]
    strict = await desk.room.summary(world.viewer, least=1, rate=0.6)
    assert [each.full_name for each in strict.often_failing] == ["team/worse", "team/rarely"]
    assert len((await desk.room.summary(world.viewer, limit=1)).never_used) == 1
    desk.now += timedelta(days=31)
    later = await desk.room.summary(world.viewer)
    assert len(later.never_used) == 5
    assert later.often_failing == ()


async def test_the_usage_of_one_skill_can_be_asked_for(world, desk):
    tool, other = await world.create(world.editor, "tool"), await world.create(world.editor, "other")
    await desk.report((tool, "loaded"), (other, "loaded"))
    for skill in (tool.id, "Team/Tool"):
        assert [each.id for each in await desk.room.totals(world.viewer, skill=skill)] == [tool.id]
    assert await desk.room.totals(world.foreigner, skill=tool.id) == []


@pytest.mark.parametrize("days", [0, -1, 4000])
async def test_a_time_that_cannot_be_looked_at_is_refused(world, desk, days):
    with pytest.raises(InputError, match="no number of days"):
        await desk.room.totals(world.viewer, days=days)


def test_a_skill_without_outcomes_fails_at_no_rate():
    assert Totals(counts={UsageKind.LOADED: 3}).failure_rate == 0.0


async def test_a_visitor_alone_has_no_skill_listed_as_often_failing(world, desk):
    shown = await world.create(world.publisher, "shown", visibility=Visibility.PUBLIC)
    of_days = [(shown, "failed", {"at": NOON - timedelta(days=ago), "version": f"1.0.{ago}"}) for ago in range(30)]
    receipt = await desk.report(*of_days, *[(shown, "failed")] * 30, (shown, "loaded"), principal=world.stranger)
    assert (receipt.recorded, receipt.uncounted) == (61, 60 - MAX_VISITOR_OUTCOMES)
    again = await desk.report((shown, "succeeded"), principal=world.stranger)
    assert (again.recorded, again.uncounted) == (1, 1)
    (totals,) = await desk.room.totals(world.stranger)
    assert (totals.totals.outcomes, totals.totals.of(UsageKind.LOADED)) == (MAX_VISITOR_OUTCOMES, 1)
    assert (await desk.room.summary(world.viewer)).often_failing == ()
    desk.now += timedelta(days=1)
    assert (await desk.report((shown, "failed"), principal=world.stranger)).uncounted == 0


async def test_the_outcomes_of_those_whose_skill_it_is_count_up_to_a_generous_number_for_each_day(world, desk):
    skill = await world.create(world.editor, "tool")
    assert (await desk.report(*[(skill, "failed")] * (MAX_OUTCOMES - 1))).uncounted == 0
    assert (await desk.report(*[(skill, "succeeded")] * 3)).uncounted == 2
    assert (await desk.report((skill, "failed", {"at": NOON - timedelta(days=1)}))).uncounted == 0
    assert (await desk.report((skill, "failed"), principal=world.editor)).uncounted == 0
    (totals,) = await desk.room.totals(world.viewer)
    assert totals.totals.outcomes == MAX_OUTCOMES + 2
