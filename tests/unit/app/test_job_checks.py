import asyncio
from datetime import timedelta

import pytest

from skillyard.app.job_checks import examine_jobs
from skillyard.app.yard import open_yard
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.releases.ids import new_id
from skillyard.releases.models import MiningRow


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path)


def keep(settings, *rows):
    """Write down requests as if they had been made."""

    async def scenario():
        async with open_yard(settings) as yard:
            caller = await yard.access.operator("boss")
            async with yard.database.write(bookkeeping=True) as transaction:
                for row in rows:
                    whose = {"tenant_id": caller.tenant_id, "owner_id": caller.person_id, "asked": {}}
                    transaction.session.add(MiningRow(id=new_id("mine"), attempts=0, **whose, **row))

    asyncio.run(scenario())


def test_where_nothing_was_ever_kept_there_is_nothing_to_tell(settings):
    assert list(examine_jobs(settings)) == []
    assert list(settings.home.iterdir()) == []


def test_what_waits_and_what_is_being_done_is_told(settings):
    now = utc_now()
    keep(settings, {"state": "queued", "created_at": now}, {"state": "running", "created_at": now})
    [check] = examine_jobs(settings)
    assert (check.status, check.message) == ("ok", "1 waiting, 1 being done")


def test_a_job_that_nobody_begins_with_needs_a_server(settings):
    keep(settings, {"state": "queued", "created_at": utc_now() - timedelta(minutes=5)})
    [check] = examine_jobs(settings)
    assert (check.status, check.fix) == ("warning", "skillyard serve")


def test_what_failed_lately_is_told_with_its_reason(settings):
    failed = {"state": "failed", "created_at": utc_now()}
    keep(
        settings,
        {**failed, "finished_at": utc_now(), "error": "The disk is full."},
        {**failed, "finished_at": utc_now() - timedelta(days=2), "error": "It is long ago."},
    )
    told, _ = examine_jobs(settings)
    assert told.status == "warning"
    assert told.message == "1 of mining failed in the last 24 hours, the last one: The disk is full."
