"""Keeping executions: written once for every run, told to its owner, and remarked upon beside it."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sqlalchemy import Select, and_, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.claims import put_and_claim
from skillyard.blobs.store import Blobs
from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import UNSEEN, Transaction
from skillyard.errors import InputError, NotFoundError
from skillyard.redact import redact, storable
from skillyard.sandbox.capture.secret_texts import mask_output
from skillyard.sandbox.executions import (
    PENDING,
    Asked,
    Execution,
    ExecutionPage,
    Run,
    Said,
    execution_of,
    kept,
    tag_list,
    tidy_tags,
)
from skillyard.sandbox.ids import new_id
from skillyard.sandbox.models import CargoRow, ExecutionNoteRow, ExecutionRow, SandboxRow, TraceRow
from skillyard.sandbox.running import idle_end
from skillyard.sandbox.sandboxes import Sandbox

MAX_PAGE: Final = 500
Skills: TypeAlias = Callable[[str], Sequence[Mapping[str, Any]]]
"""The skills that are in a sandbox, by its id: each `{name, digest, release_id}`."""
_TOUCH: Final = (
    update(SandboxRow)
    .where(SandboxRow.id == bindparam("sandbox"), SandboxRow.session_id == bindparam("life"))
    .values(active_at=bindparam("now"), idle_expires_at=bindparam("idle"))
)
_TOUCH_CARGO: Final = update(CargoRow).where(CargoRow.id == bindparam("cargo")).values(accessed_at=bindparam("now"))


class ExecutionLog:
    """The executions of all sandboxes; who may read them is decided before."""

    def __init__(self, database: Database, blobs: Blobs, *, clock: Clock = utc_now) -> None:
        self.skills: Skills = lambda _: ()
        self._database = database
        self._blobs = blobs
        self._clock = clock

    async def add(self, sandbox: Sandbox, session_id: str | None, run: Run, *, touch: bool = True) -> Execution:
        """Write down a run, with its trace if there is one, and with `touch` that the sandbox was active until now."""
        execution_id = new_id("exec")
        if run.trace is None:
            async with self._database.write(bookkeeping=True) as transaction:
                if touch:
                    await self._touch(transaction, sandbox, session_id)
                return await self._insert(transaction, sandbox, execution_id, session_id, run, None)
        data = json.dumps(run.trace, ensure_ascii=False).encode()
        trace_id = new_id("blob")

        async def register(transaction: Transaction, hashes: list[str]) -> Execution:
            trace = {
                "id": trace_id,
                "sandbox_id": sandbox.id,
                "sha256": hashes[0],
                "size": len(data),
                "created_at": self._clock(),
            }
            await transaction.insert((TraceRow, [trace]))
            await self._touch(transaction, sandbox, session_id)
            return await self._insert(transaction, sandbox, execution_id, session_id, run, trace_id)

        return await put_and_claim(self._database, self._blobs, [data], register)

    async def page(self, sandbox_id: str, asked: Asked) -> ExecutionPage:
        """Some of the executions in a sandbox, the newest first, and how many there are."""
        if not (1 <= asked.limit <= MAX_PAGE and asked.offset >= 0):
            raise InputError(
                f"There is no page of {asked.limit} executions from {asked.offset} on.",
                hint=f"Use a limit of 1 to {MAX_PAGE} and an offset of 0 or more.",
                details={"field": "limit", "value": asked.limit, "limit": MAX_PAGE},
            )
        query = _asked(sandbox_id, asked)
        async with self._database.read() as session:
            total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
            newest = query.order_by(ExecutionRow.created_at.desc(), ExecutionRow.id.desc())
            rows = (await session.execute(newest.limit(asked.limit).offset(asked.offset))).all()
        return ExecutionPage(entries=[execution_of(row, note) for row, note in rows], total=total)

    async def last(self, sandbox_id: str, asked: Asked) -> Execution:
        page = await self.page(sandbox_id, asked)
        if not page.entries:
            raise NotFoundError(
                f"Nothing of that kind was run in the sandbox {sandbox_id}.",
                hint="Run something first.",
                details={"sandbox_id": sandbox_id},
            )
        return page.entries[0]

    async def get(self, sandbox_id: str, execution_id: str) -> Execution:
        async with self._database.read() as session:
            row, note = await _execution(session, sandbox_id, execution_id)
        return execution_of(row, note)

    async def annotate(self, sandbox_id: str, execution_id: str, said: Said) -> Execution:
        """Change what is said beside an execution."""
        async with self._database.write() as transaction:
            row, note = await _execution(transaction.session, sandbox_id, execution_id)
            if note is None:
                note = ExecutionNoteRow(execution_id=execution_id, tag_list=",")
                transaction.session.add(note)
            note.description = note.description if said.description is None else _clean(said.description)
            note.notes = note.notes if said.notes is None else _clean(said.notes)
            if said.tags is not None:
                note.tags = tidy_tags(_clean(said.tags))
                note.tag_list = tag_list(note.tags)
            note.updated_at = self._clock()
        return execution_of(row, note)

    async def trace(self, sandbox_id: str, ref: str) -> Any:  # noqa: ANN401 -- any JSON
        """What a run of the browser left, by the name that it was given."""
        async with self._database.read() as session:
            row = await session.get(TraceRow, ref.removeprefix("blob:"))
        if row is None or row.sandbox_id != sandbox_id:
            raise NotFoundError(
                f"There is no trace {ref[:100]!r} of the sandbox {sandbox_id}.",
                hint="A run with `include_trace` tells the `trace_ref` to ask for.",
                details={"trace_ref": ref[:100]},
            )
        return json.loads(await self._blobs.get(row.sha256))

    async def _touch(self, transaction: Transaction, sandbox: Sandbox, session_id: str | None) -> None:
        now = self._clock()
        idle = idle_end(now, sandbox.idle_ttl)
        touched = {"sandbox": sandbox.id, "life": session_id, "now": now, "idle": idle}
        await transaction.session.execute(_TOUCH, touched, execution_options=UNSEEN)
        cargo = {"cargo": sandbox.cargo_id, "now": now}
        await transaction.session.execute(_TOUCH_CARGO, cargo, execution_options=UNSEEN)

    async def _insert(
        self,
        transaction: Transaction,
        sandbox: Sandbox,
        execution_id: str,
        session_id: str | None,
        run: Run,
        trace_id: str | None,
    ) -> Execution:
        now = self._clock()
        transaction.once = True
        row = {
            "id": execution_id,
            "tenant_id": sandbox.tenant_id,
            "owner_id": sandbox.owner_id,
            "sandbox_id": sandbox.id,
            "session_id": session_id,
            "exec_type": run.exec_type.value,
            "code": redact(storable(run.code)),
            "success": run.success,
            "ending": run.ending,
            "exit_code": run.exit_code,
            "milliseconds": round(run.seconds * 1000),
            "output": kept(run.output),
            "error": None if run.error is None else kept(run.error),
            "truncated": run.truncated,
            "network": list(sandbox.network),
            "skills": [dict(skill) for skill in self.skills(sandbox.id)],
            "trace_id": trace_id,
            "learn": run.learn,
            "created_at": now,
        }
        notes: list[dict[str, Any]] = []
        if run.said.anything or run.learn:
            tags = tidy_tags(_clean(run.said.tags))
            notes.append(
                {
                    "execution_id": execution_id,
                    "description": _clean(run.said.description),
                    "tags": tags,
                    "tag_list": tag_list(tags),
                    "notes": _clean(run.said.notes),
                    "learn_status": PENDING if run.learn else None,
                    "learn_error": None,
                    "learn_processed_at": None,
                    "updated_at": now,
                }
            )
        await transaction.insert((ExecutionRow, [row]), (ExecutionNoteRow, notes))
        return execution_of(ExecutionRow(**row), ExecutionNoteRow(**notes[0]) if notes else None)


async def named_by_traces(session: AsyncSession, hashes: Collection[str]) -> set[str]:
    """Those of the blobs that some trace is: what the sweep of orphans must leave."""
    query = select(TraceRow.sha256).where(TraceRow.sha256.in_(list(hashes))).distinct()
    return set(await session.scalars(query))


def _clean(text: str | None) -> str | None:
    return None if text is None else mask_output(redact(storable(text)))


def _asked(sandbox_id: str, asked: Asked) -> Select[ExecutionRow, ExecutionNoteRow]:
    query = select(ExecutionRow, ExecutionNoteRow).outerjoin(
        ExecutionNoteRow, ExecutionNoteRow.execution_id == ExecutionRow.id
    )
    query = query.where(ExecutionRow.sandbox_id == sandbox_id)
    if asked.exec_type is not None:
        query = query.where(ExecutionRow.exec_type == asked.exec_type.value)
    if asked.success_only:
        query = query.where(ExecutionRow.success.is_(True))
    if asked.tags:
        found = [ExecutionNoteRow.tag_list.contains(f",{tag},", autoescape=True) for tag in asked.tags]
        query = query.where(or_(*found))
    for column, wanted in (
        (ExecutionNoteRow.notes, asked.has_notes),
        (ExecutionNoteRow.description, asked.has_description),
    ):
        if wanted:
            query = query.where(and_(column.is_not(None), column != ""))
    return query


async def _execution(
    session: AsyncSession, sandbox_id: str, execution_id: str
) -> tuple[ExecutionRow, ExecutionNoteRow | None]:
    row = await session.get(ExecutionRow, execution_id)
    if row is None or row.sandbox_id != sandbox_id:
        raise NotFoundError(
            f"There is no execution {execution_id[:100]!r} in the sandbox {sandbox_id}.",
            hint=f"`GET /v1/sandboxes/{sandbox_id}/history` lists them.",
            details={"execution_id": execution_id[:100]},
        )
    return row, await session.get(ExecutionNoteRow, execution_id)
