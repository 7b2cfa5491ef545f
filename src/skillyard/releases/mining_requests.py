"""Requests to look through executions; a job does so."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.errors import LimitError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.jobs.rows import JobState
from skillyard.jobs.service import Jobs
from skillyard.releases.ids import new_id
from skillyard.releases.models import MiningRow
from skillyard.releases.store import aware
from skillyard.releases.values import Mining, columns_of, value_of

MINING: Final = "mining"
"""The kind of its jobs."""
MAX_NAMED: Final = 5_000


class MiningRequests:
    """What was asked for, and what came of it."""

    def __init__(self, database: Database, jobs: Jobs, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._jobs = jobs
        self._clock = clock

    async def begin(
        self,
        caller: Principal,
        *,
        sandbox_ids: Sequence[str] | None = None,
        execution_ids: Sequence[str] | None = None,
        since: datetime | None = None,
    ) -> Mining:
        """Ask for the caller's executions to be looked through: those named, those of sandboxes, or all since then."""
        caller.require_scope(Scope.WRITE)
        asked: dict[str, Any] = {}
        for name, ids in (("sandbox_ids", sandbox_ids), ("execution_ids", execution_ids)):
            if ids is not None:
                if len(ids) > MAX_NAMED:
                    raise LimitError(
                        f"{name} has {len(ids):,} entries; at most {MAX_NAMED:,} are looked through at once.",
                        hint="Ask several times.",
                        details={"field": name, "value": len(ids), "limit": MAX_NAMED},
                    )
                asked[name] = list(ids)
        if since is not None:
            asked["since"] = aware(since).isoformat()
        mining = Mining(
            id=new_id("mine"),
            tenant_id=caller.tenant_id,
            owner_id=caller.person_id,
            asked=asked,
            state=JobState.QUEUED.value,
            created_at=self._clock(),
        )
        async with self._database.write() as transaction:
            transaction.once = True
            transaction.session.add(MiningRow(**columns_of(mining)))
        self._jobs.wake(MINING, mining.id)
        return mining

    async def get(self, caller: Principal, mining_id: str) -> Mining:
        async with self._database.read() as session:
            row = await session.get(MiningRow, mining_id)
        if row is None or row.owner_id != caller.person_id:
            raise NotFoundError(
                f"There is no request {mining_id[:100]!r} to look through executions.",
                hint="Ask for one: skillyard release mine",
                details={"mining_id": mining_id[:100]},
            )
        return value_of(Mining, row)
