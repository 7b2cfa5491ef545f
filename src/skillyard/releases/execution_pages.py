"""The executions of a person, whichever sandbox they were in: what is there to be learned from."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from skillyard.db.database import Database
from skillyard.identity.principals import Principal
from skillyard.releases.store import aware, require_page
from skillyard.releases.values import Page
from skillyard.sandbox.executions import ExecType, Execution, execution_of
from skillyard.sandbox.models import ExecutionNoteRow, ExecutionRow


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionQuery:
    """Which executions are asked for."""

    exec_type: ExecType | None = None
    success_only: bool = False
    learn_status: str | None = None
    sandbox_id: str | None = None
    since: datetime | None = None


class ExecutionPages:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, caller: Principal, asked: ExecutionQuery, *, limit: int = 100, offset: int = 0
    ) -> Page[Execution]:
        """Some of the caller's executions, the newest first, and how many there are."""
        require_page(limit, offset)
        query = select(ExecutionRow, ExecutionNoteRow).outerjoin(
            ExecutionNoteRow, ExecutionNoteRow.execution_id == ExecutionRow.id
        )
        query = query.where(ExecutionRow.owner_id == caller.person_id)
        for column, wanted in (
            (ExecutionRow.exec_type, asked.exec_type),
            (ExecutionRow.sandbox_id, asked.sandbox_id),
            (ExecutionNoteRow.learn_status, asked.learn_status),
        ):
            if wanted is not None:
                query = query.where(column == wanted)
        if asked.success_only:
            query = query.where(ExecutionRow.success.is_(True))
        if asked.since is not None:
            query = query.where(ExecutionRow.created_at >= aware(asked.since))
        newest = query.order_by(ExecutionRow.created_at.desc(), ExecutionRow.id.desc())
        async with self._database.read() as session:
            total = (await session.execute(query.with_only_columns(func.count()))).scalar_one()
            rows = (await session.execute(newest.limit(limit).offset(offset))).all()
        return Page(items=[execution_of(row, note) for row, note in rows], total=total)
