"""Candidates: made of chosen executions, listed, read and deleted, each by its owner."""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy import func, select

from skillyard.blobs.address import BlobMissingError
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.paging import total_of
from skillyard.db.transaction import Transaction
from skillyard.errors import ConflictError, InputError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.redact import storable
from skillyard.releases.candidate_ledger import CandidateLedger
from skillyard.releases.candidate_spec import CandidateSpec, clean_json, clean_text
from skillyard.releases.ids import new_id
from skillyard.releases.mining.findings import LoggedExecution, SessionLog
from skillyard.releases.mining.sequences import as_one, mine
from skillyard.releases.models import CandidateRow, ReleaseRow
from skillyard.releases.payload_store import BLOB, PayloadStore
from skillyard.releases.payloads import Payload
from skillyard.releases.rendered import Rendering
from skillyard.releases.store import candidates_of, own_candidate, own_executions, require_page
from skillyard.releases.values import Candidate, Page, Status, value_of
from skillyard.sandbox.executions import ExecType, Execution

_BROWSER: Final = frozenset({ExecType.BROWSER, ExecType.BROWSER_BATCH})


class Candidates:
    """The candidates of everyone, each for its owner."""

    def __init__(
        self,
        database: Database,
        payloads: PayloadStore,
        rendering: Rendering,
        ledger: CandidateLedger,
        *,
        clock: Clock = utc_now,
    ) -> None:
        self._database = database
        self._payloads = payloads
        self._rendering = rendering
        self._ledger = ledger
        self._clock = clock

    async def create(self, caller: Principal, spec: CandidateSpec) -> Candidate:
        """Make a candidate of chosen executions, and render it."""
        caller.require_scope(Scope.WRITE)
        executions = await self._executions(caller, spec.execution_ids)
        payload = await self._payload(caller, spec.payload_ref)
        payload_ref = clean_text(spec.payload_ref)
        if payload_ref is None:
            payload = await self._made_of(caller, executions)
            payload_ref = None if payload is None else (await self._payloads.put_parsed(caller, payload)).ref
        now = self._clock()
        candidate = Candidate(
            id=new_id("sc"),
            tenant_id=caller.tenant_id,
            owner_id=caller.person_id,
            skill_key=storable(spec.skill_key.strip()),
            skill_type=payload.skill_type if payload else _skill_type(executions),
            source_execution_ids=[each.id for each in executions],
            scenario_key=clean_text(spec.scenario_key),
            payload_ref=payload_ref,
            summary=clean_text(spec.summary),
            usage_notes=clean_text(spec.usage_notes),
            preconditions=clean_json(spec.preconditions),
            postconditions=clean_json(spec.postconditions),
            created_by=caller.person_id,
            created_at=now,
            updated_at=now,
        )
        rendered = await self._rendering.render(caller, candidate, payload, executions)

        async def work(transaction: Transaction) -> Candidate:
            return self._ledger.add(transaction, caller, candidate, rendered)

        return await self._ledger.commit(rendered, work)

    async def get(self, caller: Principal, candidate_id: str) -> Candidate:
        async with self._database.read() as session:
            return value_of(Candidate, await own_candidate(session, caller, candidate_id))

    async def page(
        self,
        caller: Principal,
        *,
        status: Status | None = None,
        skill_key: str | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> Page[Candidate]:
        """Some of the caller's candidates, the newest first, and how many there are."""
        require_page(limit, offset)
        query = candidates_of(caller, status=status, skill_key=skill_key)
        newest = query.order_by(CandidateRow.created_at.desc(), CandidateRow.id.desc()).limit(limit).offset(offset)
        async with self._database.read() as session:
            items = [value_of(Candidate, row) for row in await session.scalars(newest)]
            total = await total_of(session, query, shown=len(items), limit=limit, offset=offset)
        return Page(items=items, total=total)

    async def counts(self, caller: Principal) -> dict[str, int]:
        """How many of the caller's candidates stand how."""
        query = candidates_of(caller, status=None, skill_key=None).with_only_columns(CandidateRow.status, func.count())
        async with self._database.read() as session:
            return dict((await session.execute(query.group_by(CandidateRow.status))).all())

    async def rendered_as(self, caller: Principal, digests: Collection[str]) -> list[Candidate]:
        """Those of the caller's candidates whose files are one of these, the oldest first."""
        query = candidates_of(caller, status=None, skill_key=None).where(CandidateRow.digest.in_(list(digests)))
        async with self._database.read() as session:
            rows = await session.scalars(query.order_by(CandidateRow.created_at, CandidateRow.id))
            return [value_of(Candidate, row) for row in rows]

    async def evidence(self, caller: Principal, candidate_id: str) -> list[Execution]:
        """The executions that a candidate was learned from, as far as they are kept."""
        candidate = await self.get(caller, candidate_id)
        async with self._database.read() as session:
            found = await own_executions(session, caller.person_id, candidate.source_execution_ids)
        return [found[each] for each in candidate.source_execution_ids if each in found]

    async def delete(self, caller: Principal, candidate_id: str, *, reason: str | None = None) -> Candidate:
        """Take a candidate away, unless it is in use."""
        caller.require_scope(Scope.WRITE)
        async with self._database.write() as transaction:
            row = await own_candidate(transaction.session, caller, candidate_id)
            active = select(ReleaseRow.id).where(
                ReleaseRow.candidate_id == candidate_id, ReleaseRow.is_active.is_(True)
            )
            release_id = await transaction.session.scalar(active.limit(1))
            if release_id is not None:
                raise ConflictError(
                    f"The candidate {candidate_id} is in use by the release {release_id}.",
                    hint="Roll that release back, or delete it, first.",
                    details={"candidate_id": candidate_id, "release_id": release_id},
                )
            self._ledger.delete(transaction, caller, row, clean_text(reason))
        return value_of(Candidate, row)

    async def _made_of(self, caller: Principal, executions: Sequence[Execution]) -> Payload | None:
        """The steps that executions were, if they can be replayed."""
        logs: dict[str, list[LoggedExecution]] = {}
        for each in sorted(executions, key=lambda execution: (execution.created_at, execution.id)):
            trace = None
            if each.trace_ref is not None:
                with suppress(NotFoundError, BlobMissingError):
                    trace = (await self._payloads.get(caller, each.trace_ref)).document
            logs.setdefault(each.sandbox_id, []).append(LoggedExecution(execution=each, trace=trace))
        sessions = [SessionLog(sandbox_id=each, entries=tuple(entries)) for each, entries in logs.items()]
        return await asyncio.to_thread(_payload_in, sessions)

    async def _executions(self, caller: Principal, ids: Sequence[str]) -> list[Execution]:
        async with self._database.read() as session:
            found = await own_executions(session, caller.person_id, ids)
        missing = [each for each in ids if each not in found]
        if missing:
            raise InputError(
                f"Execution ID not found: {missing[0][:100]!r}.",
                hint="The history of a sandbox lists its executions.",
                details={"field": "source_execution_ids", "value": [each[:100] for each in missing[:10]]},
            )
        return [found[each] for each in ids]

    async def _payload(self, caller: Principal, ref: str | None) -> Payload | None:
        """What can be replayed of the payload that a candidate is made with, if anything."""
        if ref is None or not ref.startswith(BLOB):
            return None
        try:
            return await self._payloads.payload(caller.person_id, ref)
        except NotFoundError as error:
            details = {"field": "payload_ref", "value": ref[:100]}
            raise InputError(error.message, hint=error.hint, details=details) from error
        except InputError:
            return None  # of a kind that is only kept


def _payload_in(sessions: Sequence[SessionLog]) -> Payload | None:
    """The steps of what a person chose: of one task that was done several times, else of all of it in its order."""
    tasks = mine(sessions, chosen=True).sequences
    found = tasks[0] if len(tasks) == 1 and tasks[0].repeats > 1 else as_one(sessions)
    return None if found is None else found.payload


def _skill_type(executions: Sequence[Execution]) -> str:
    browses = {each.exec_type in _BROWSER for each in executions}
    return "hybrid" if len(browses) > 1 else "browser" if browses == {True} else "code"
