"""What mining looks through: executions of one person with their traces, as much of it as memory is meant to hold."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from skillyard.blobs.address import BlobCorruptError, BlobMissingError
from skillyard.blobs.store import Blobs
from skillyard.db.database import Database
from skillyard.releases.mining.findings import REPLAY_TAG
from skillyard.releases.mining.sequences import LoggedExecution, SessionLog
from skillyard.releases.models import CandidateRow
from skillyard.releases.store import own_executions
from skillyard.sandbox.executions import Execution
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow, TraceRow

MAX_EXECUTIONS: Final = 2_000
"""Looked through at once: the newest."""
MAX_CHARACTERS: Final = 16 * 1024 * 1024
"""Of what they ran and what came of it."""
MAX_TRACE_BYTES: Final = 8 * 1024 * 1024
"""Of traces that are read at once; runs beyond are looked at without theirs."""
EARLIER: Final = timedelta(days=30)
"""How far back runs are looked at once more, to find that a task was done before."""

IS_REPLAY: Final = ExecutionNoteRow.tag_list.contains(f",{REPLAY_TAG},", autoescape=True)
"""Of what is said beside an execution."""


class Room:
    """How much more is looked through."""

    def __init__(self) -> None:
        self._executions = MAX_EXECUTIONS
        self._characters = MAX_CHARACTERS
        self._chosen: set[str] = set()

    def choose(self, sizes: Iterable[tuple[str, int]]) -> list[str]:
        """Those of the executions that there is room for and that were not chosen before, in their order."""
        chosen: list[str] = []
        for execution_id, characters in sizes:
            if execution_id in self._chosen:
                continue
            self._executions -= 1
            self._characters -= characters
            if self._executions < 0 or self._characters < 0:
                break
            self._chosen.add(execution_id)
            chosen.append(execution_id)
        return chosen


async def asked_for(session: AsyncSession, owner_id: str, asked: Mapping[str, Any], room: Room) -> list[str]:
    """The executions that a request names: by their ids, by their sandboxes, or all, since some moment."""
    query = _sizes(owner_id)
    named: list[ColumnElement[bool]] = []
    if asked.get("execution_ids") is not None:
        named.append(ExecutionRow.id.in_(asked["execution_ids"]))
    if asked.get("sandbox_ids") is not None:
        named.append(ExecutionRow.sandbox_id.in_(asked["sandbox_ids"]))
    if named:
        query = query.where(or_(*named))
    if asked.get("since") is not None:
        query = query.where(ExecutionRow.created_at >= datetime.fromisoformat(asked["since"]))
    return room.choose((row[0], row[1]) for row in await session.execute(query))


async def done_before(session: AsyncSession, owner_id: str, room: Room, *, now: datetime) -> list[str]:
    """What a repeat may be a repeat of: the evidence of what was learned, and runs that were to be learned from."""
    evidence = select(CandidateRow.source_execution_ids).where(
        CandidateRow.owner_id == owner_id, CandidateRow.mined.is_(True), CandidateRow.deleted_at.is_(None)
    )
    newest = evidence.order_by(CandidateRow.updated_at.desc()).limit(MAX_EXECUTIONS)
    known = list(dict.fromkeys(chain.from_iterable(await session.scalars(newest))))[:MAX_EXECUTIONS]
    learned = and_(ExecutionRow.learn.is_(True), ExecutionRow.created_at >= now - EARLIER)
    query = _sizes(owner_id).where(or_(ExecutionRow.id.in_(known), learned))
    return room.choose((row[0], row[1]) for row in await session.execute(query))


def _sizes(owner_id: str) -> Select[str, int]:
    """Executions of a person, the newest first, with how much there is of each; replays show nothing new."""
    size = func.length(ExecutionRow.code) + func.length(ExecutionRow.output)
    return (
        select(ExecutionRow.id, size)
        .outerjoin(ExecutionNoteRow, ExecutionNoteRow.execution_id == ExecutionRow.id)
        .where(ExecutionRow.owner_id == owner_id, func.coalesce(IS_REPLAY, false()).is_(False))
        .order_by(ExecutionRow.created_at.desc(), ExecutionRow.id.desc())
        .limit(MAX_EXECUTIONS)
    )


async def sessions_of(database: Database, blobs: Blobs, owner_id: str, ids: Collection[str]) -> list[SessionLog]:
    """Executions as mining takes them: by sandbox, in the order in which they were run."""
    async with database.read() as session:
        found = await own_executions(session, owner_id, ids)
        executions = sorted(found.values(), key=lambda each: (each.created_at, each.id))
        hashes = await _traces(session, executions)
    contents = await _contents(blobs, sorted(set(hashes.values())))
    logs: dict[str, list[LoggedExecution]] = {}
    for each in executions:
        trace = contents.get(hashes.get(each.id, ""))
        logs.setdefault(each.sandbox_id, []).append(LoggedExecution(execution=each, trace=trace))
    return [SessionLog(sandbox_id=sandbox_id, entries=tuple(entries)) for sandbox_id, entries in logs.items()]


async def _traces(session: AsyncSession, executions: Sequence[Execution]) -> dict[str, str]:
    """The names of the blobs that hold the traces, by execution: of the newest, up to some size."""
    refs = {each.id: each.trace_ref.removeprefix("blob:") for each in executions if each.trace_ref}
    query = select(TraceRow.id, TraceRow.sha256, TraceRow.size).where(TraceRow.id.in_(list(refs.values())))
    rows = {row.id: row for row in await session.execute(query)}
    left = MAX_TRACE_BYTES
    hashes: dict[str, str] = {}
    for execution_id in reversed(refs):
        row = rows.get(refs[execution_id])
        if row is not None and row.size <= left:
            left -= row.size
            hashes[execution_id] = row.sha256
    return hashes


async def _contents(blobs: Blobs, hashes: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    try:
        found = await blobs.get_all(hashes)
    except (BlobMissingError, BlobCorruptError):  # the others still tell what was done
        found = {}
        for sha256 in hashes:
            with suppress(BlobMissingError, BlobCorruptError):
                found[sha256] = await blobs.get(sha256)
    return {sha256: json.loads(data) for sha256, data in found.items()}
