"""Looking over the jobs of a yard: what waits, what is being done, and what failed lately."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from skillyard.app.checks import Check, Status, ok
from skillyard.clock import utc_now
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.db.migrate import revisions
from skillyard.db.revision import present_revision
from skillyard.errors import SkillyardError
from skillyard.jobs.overview import RECENT, Standing, standing_of
from skillyard.releases.evaluations import EVALUATION
from skillyard.releases.mining_requests import MINING
from skillyard.releases.models import EvaluationRow, MiningRow

_NAME: Final = "jobs"
_LONG: Final = timedelta(minutes=1)
"""A server begins with a job sooner, unless it has too many of them."""


def examine_jobs(settings: Settings) -> Iterator[Check]:
    """Every check of jobs, where there is a database that could hold any."""
    try:
        if present_revision(settings.database) != revisions()[-1]:
            return
        found = asyncio.run(_standings(settings))
    except SkillyardError:
        return  # the check of the database tells of it
    for kind, standing in found.items():
        if standing.failed:
            yield _failed(kind, standing)
    yield _waiting(found)


async def _standings(settings: Settings) -> Mapping[str, Standing]:
    database = await Database.open(settings.database)
    try:
        async with database.read() as session:
            rows = {MINING: MiningRow, EVALUATION: EvaluationRow}
            return {kind: await standing_of(session, each, now=utc_now()) for kind, each in rows.items()}
    finally:
        await database.close()


def _failed(kind: str, standing: Standing) -> Check:
    hours = int(RECENT.total_seconds() // 3600)
    return Check(
        name=_NAME,
        status=Status.WARNING,
        message=f"{standing.failed:,} of {kind} failed in the last {hours} hours, the last one: {standing.last_error}",
        fix="Ask for it again: skillyard release mine, or skillyard release replay CANDIDATE",
    )


def _waiting(found: Mapping[str, Standing]) -> Check:
    queued = sum(standing.queued for standing in found.values())
    running = sum(standing.running for standing in found.values())
    since = min((each.waiting_since for each in found.values() if each.waiting_since), default=None)
    if since is not None and utc_now() - since > _LONG:
        return Check(
            name=_NAME,
            status=Status.WARNING,
            message=f"{queued:,} waiting, the oldest since {since:%Y-%m-%d %H:%M} UTC: no server begins with them.",
            fix="skillyard serve",
        )
    return ok(_NAME, f"{queued:,} waiting, {running:,} being done")
