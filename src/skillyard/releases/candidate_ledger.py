"""Candidates as a transaction writes them, each change with its entry in the history."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.history.entries import Change, Why
from skillyard.history.service import History
from skillyard.identity.principals import Principal
from skillyard.registry.bundles import Bundles
from skillyard.releases.models import CandidateRow
from skillyard.releases.rendered import Rendered
from skillyard.releases.values import (
    CANDIDATE_CREATED,
    CANDIDATE_DELETED,
    Candidate,
    candidate_subject,
    columns_of,
)

Answer = TypeVar("Answer")


class CandidateLedger:
    """Writes candidates; who may is settled by then."""

    def __init__(self, database: Database, history: History, bundles: Bundles, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._history = history
        self._bundles = bundles
        self._clock = clock

    async def commit(self, rendered: Rendered | None, work: Callable[[Transaction], Awaitable[Answer]]) -> Answer:
        """Do some writing in a transaction that finds what was rendered stored."""
        if rendered is not None:
            return await self._bundles.commit(rendered.bundle, work)
        async with self._database.write() as transaction:
            return await work(transaction)

    def add(
        self, transaction: Transaction, caller: Principal, candidate: Candidate, rendered: Rendered | None
    ) -> Candidate:
        if rendered is not None:
            candidate = replace(candidate, name=rendered.name, digest=rendered.bundle.digest)
        transaction.session.add(CandidateRow(**columns_of(candidate)))
        change = Change(
            action=CANDIDATE_CREATED,
            subject=candidate_subject(candidate.id, candidate.skill_key, candidate.owner_id),
            after={"name": candidate.name, "payload_ref": candidate.payload_ref, "mined": candidate.mined},
            digest_after=candidate.digest,
        )
        self._history.record(transaction, caller.actor, change, Why())
        return candidate

    def delete(self, transaction: Transaction, caller: Principal, row: CandidateRow, reason: str | None) -> None:
        row.deleted_at = self._clock()
        row.deleted_by = caller.person_id
        row.delete_reason = reason
        change = Change(
            action=CANDIDATE_DELETED,
            subject=candidate_subject(row.id, row.skill_key, row.owner_id),
            before={"name": row.name, "payload_ref": row.payload_ref, "mined": row.mined},
            digest_before=row.digest,
        )
        self._history.record(transaction, caller.actor, change, Why(reason=reason or ""))
