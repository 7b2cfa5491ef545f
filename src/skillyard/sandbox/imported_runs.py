"""Executions from elsewhere: what an agent ran outside of every sandbox, as its own log tells.

They stand beside the others, so that the same is learned from them. What they were run in is kept as a sandbox that
never ran here and is over: its id begins with `imported-`. They are no runs of a release: none is judged by them.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import LimitError
from skillyard.identity.principals import Principal, Scope
from skillyard.identity.turns import Turns
from skillyard.redact import redact, storable
from skillyard.sandbox.capture.known_secrets import KnownSecrets
from skillyard.sandbox.capture.records import cleaned
from skillyard.sandbox.executions import Run, kept, tag_list, tidy_tags
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, SandboxRow
from skillyard.sandbox.sandboxes import State

IMPORTED: Final = "imported"
"""The profile and the backend of what such runs were run in, and a tag beside each."""
MAX_RUNS: Final = 500
"""That are taken at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedSession:
    """Where some runs come from."""

    agent: str
    session: str
    """The agent's own name for it."""
    folder: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedRun:
    id: str
    """The agent's own: the same run is kept once, whichever log tells of it."""
    run: Run
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportReceipt:
    sandbox_id: str
    recorded: int
    repeated: int
    """Kept before."""


class ImportedRuns:
    """Keeps runs from elsewhere for those who had them."""

    def __init__(self, database: Database, turns: Turns, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._turns = turns
        self._clock = clock

    async def add(self, caller: Principal, session: ImportedSession, runs: Sequence[ImportedRun]) -> ImportReceipt:
        """Keep those that are not there yet, without their secrets."""
        caller.require_scope(Scope.WRITE)
        if len(runs) > MAX_RUNS:
            raise LimitError(
                f"{len(runs):,} runs are sent at once; at most {MAX_RUNS} are taken.",
                hint="Send them in several requests.",
                details={"field": "runs", "value": len(runs), "limit": MAX_RUNS},
            )
        sandbox_id = _named(IMPORTED, caller.person_id, session.agent, session.session)
        clean = await self._turns.run(
            caller, lambda: {_named("exec", caller.person_id, session.agent, one.id): one for one in _cleaned(runs)}
        )
        async with self._database.write() as transaction:
            query = select(ExecutionRow.id).where(ExecutionRow.id.in_(list(clean)))
            there = set(await transaction.session.scalars(query))
            new = {own_id: one for own_id, one in clean.items() if own_id not in there}
            if new:
                await self._have_sandbox(transaction, caller, sandbox_id, session)
                rows = [self._row(caller, sandbox_id, own_id, one) for own_id, one in new.items()]
                notes = [self._note(own_id, session.agent, one.run) for own_id, one in new.items()]
                await transaction.insert((ExecutionRow, rows), (ExecutionNoteRow, notes))
        return ImportReceipt(sandbox_id=sandbox_id, recorded=len(new), repeated=len(runs) - len(new))

    async def _have_sandbox(
        self, transaction: Transaction, caller: Principal, sandbox_id: str, session: ImportedSession
    ) -> None:
        if await transaction.session.get(SandboxRow, sandbox_id) is not None:
            return
        now = self._clock()
        said = {"agent": session.agent, "session": session.session, "folder": session.folder}
        row: dict[str, Any] = {
            "id": sandbox_id,
            "tenant_id": caller.tenant_id,
            "owner_id": caller.person_id,
            "cargo_id": sandbox_id,
            "profile": IMPORTED,
            "backend": IMPORTED,
            "capabilities": [],
            "isolation": [],
            "network": [],
            "limits": {},
            "labels": {name: redact(storable(text)) for name, text in said.items() if text},
            "created_at": now,
            "expires_at": None,
            "idle_ttl": 0,
            "idle_expires_at": None,
            "active_at": now,
            "deleted_at": now,
            "state": State.IDLE.value,
            "holder": None,
            "session_id": None,
            "error": None,
            "skills_injected_at": None,
            "hook_error": None,
        }
        await transaction.insert((SandboxRow, [row]))

    def _row(self, caller: Principal, sandbox_id: str, own_id: str, imported: ImportedRun) -> dict[str, Any]:
        run = imported.run
        return {
            "id": own_id,
            "tenant_id": caller.tenant_id,
            "owner_id": caller.person_id,
            "sandbox_id": sandbox_id,
            "session_id": None,
            "exec_type": run.exec_type.value,
            "code": run.code,
            "success": run.success,
            "ending": run.ending,
            "exit_code": run.exit_code,
            "milliseconds": round(run.seconds * 1000),
            "output": run.output,
            "error": run.error,
            "truncated": run.truncated,
            "network": [],
            "skills": [],
            "trace_id": None,
            "learn": False,
            "created_at": min(imported.at, self._clock()),
        }

    def _note(self, own_id: str, agent: str, run: Run) -> dict[str, Any]:
        tags = tidy_tags(f"{IMPORTED},{agent}")
        return {
            "execution_id": own_id,
            "description": run.said.description,
            "tags": tags,
            "tag_list": tag_list(tags),
            "notes": None,
            "learn_status": None,
            "learn_error": None,
            "learn_processed_at": None,
            "updated_at": self._clock(),
        }


def _cleaned(runs: Sequence[ImportedRun]) -> list[ImportedRun]:
    """Runs as they are written to the database, without their secrets: for 20 MB this takes some ten seconds."""
    known = KnownSecrets()
    return [replace(one, run=_storable(cleaned(one.run, known, {}))) for one in runs]


def _storable(run: Run) -> Run:
    said = run.said.description
    return replace(
        run,
        code=redact(storable(run.code)),
        output=kept(run.output),
        error=None if run.error is None else kept(run.error),
        said=replace(run.said, description=None if said is None else redact(storable(said))),
    )


def _named(kind: str, *parts: str) -> str:
    """An id by content: the same thing has the same, whoever sends it when."""
    return f"{kind}-{hashlib.sha256(chr(0).join(parts).encode(errors='surrogatepass')).hexdigest()[:12]}"
