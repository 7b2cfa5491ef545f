"""Executions from elsewhere."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from skillyard.sandbox.executions import MAX_CODE, MAX_NOTE, ExecType, Run, Said
from skillyard.sandbox.imported_runs import MAX_RUNS, ImportedRun, ImportedSession
from skillyard.sandbox.imported_sessions import WhichImported
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Body, Caller, Rooms, failures

router = APIRouter(prefix="/v1/skills", tags=["learned skills"], responses=failures(), dependencies=[BEARER])

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
MAX_OUTPUT = 4 * 1024 * 1024
MAX_SESSIONS = 500
"""On one page."""
_LONGEST = 2**31 - 1
"""Milliseconds: some weeks."""


class SessionRequest(Body):
    """Where the runs come from."""

    agent: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")] = Field(examples=["claude"])
    session: Word = Field(description="The agent's own name for it.")
    folder: str = Field(default="", max_length=4096)


class ImportedRunRequest(Body):
    """One run that is over."""

    id: Word = Field(description="The agent's own: sent again, it is kept once.")
    exec_type: ExecType = ExecType.SHELL
    code: str = Field(min_length=1, max_length=MAX_CODE)
    success: bool
    exit_code: int | None = Field(default=None, ge=-(2**31), le=2**31 - 1)
    output: str = Field(default="", max_length=MAX_OUTPUT)
    error: str | None = Field(default=None, max_length=MAX_OUTPUT)
    milliseconds: int = Field(default=0, ge=0, le=_LONGEST)
    interrupted: bool = False
    truncated: bool = False
    description: str = Field(default="", max_length=MAX_NOTE)
    at: AwareDatetime

    @property
    def imported(self) -> ImportedRun:
        run = Run(
            exec_type=self.exec_type,
            code=self.code,
            success=self.success,
            ending="killed" if self.interrupted else "exited",
            exit_code=self.exit_code,
            seconds=self.milliseconds / 1000,
            output=self.output,
            error=self.error,
            truncated=self.truncated,
            said=Said(description=self.description or None),
        )
        return ImportedRun(id=self.id, run=run, at=self.at)


class ImportRequest(Body):
    session: SessionRequest
    runs: list[ImportedRunRequest] = Field(max_length=MAX_RUNS)


class ImportResponse(BaseModel):
    sandbox_id: str = Field(description="What stands for where they were run; it is over.")
    recorded: int
    repeated: int = Field(description="Kept before.")


class ImportedQuery(BaseModel):
    """Which executions from elsewhere; without any of these, all."""

    # A misspelt name must not mean all of them.
    model_config = ConfigDict(extra="forbid")

    sandbox_id: str | None = Field(default=None, max_length=128, description="Only of this session.")
    agent: str | None = Field(default=None, max_length=64)
    before: AwareDatetime | None = Field(default=None, description="Only what was run before then.")

    @property
    def which(self) -> WhichImported:
        return WhichImported(sandbox_id=self.sandbox_id, agent=self.agent, before=self.before)


class ImportedPageQuery(ImportedQuery):
    limit: int = Field(default=100, ge=1, le=MAX_SESSIONS)
    offset: int = Field(default=0, ge=0, le=2**31 - 1)


class ImportedSessionResponse(BaseModel):
    """What is kept of one session."""

    model_config = ConfigDict(from_attributes=True)

    sandbox_id: str
    agent: str
    session: str = Field(description="The agent's own name for it.")
    folder: str
    executions: int
    first_at: datetime
    last_at: datetime


class ImportedSessionsResponse(BaseModel):
    sessions: list[ImportedSessionResponse]
    total: int
    executions: int = Field(description="Of all of them.")


class TakenOutResponse(BaseModel):
    executions: int = Field(description="That were taken away.")
    sessions: int = Field(description="Of which nothing is left.")


@router.get("/executions/import", summary="List executions from elsewhere by session")
async def list_imported(
    rooms: Rooms, caller: Caller, query: Annotated[ImportedPageQuery, Query()]
) -> ImportedSessionsResponse:
    """Yours, the latest first."""
    found = await rooms.imported_sessions.kept(caller, query.which, limit=query.limit, offset=query.offset)
    return ImportedSessionsResponse(
        sessions=[ImportedSessionResponse.model_validate(one) for one in found.items],
        total=found.total,
        executions=found.executions,
    )


@router.delete("/executions/import", summary="Take executions from elsewhere away")
async def delete_imported(rooms: Rooms, caller: Caller, query: Annotated[ImportedQuery, Query()]) -> TakenOutResponse:
    """Take yours away for good. What was learned from them stays; what was run in a sandbox is not touched."""
    done = await rooms.imported_sessions.remove(caller, query.which)
    return TakenOutResponse(executions=done.executions, sessions=done.sessions)


@router.post("/executions/import", summary="Keep executions from elsewhere")
async def import_executions(body: ImportRequest, rooms: Rooms, caller: Caller) -> ImportResponse:
    """Keep what an agent ran outside of every sandbox, to be learned from. Secrets are taken out once more.

    They are no runs of a release: no release is judged by them.
    """
    asked = body.session
    session = ImportedSession(agent=asked.agent, session=asked.session, folder=asked.folder)
    done = await rooms.imported.add(caller, session, [run.imported for run in body.runs])
    return ImportResponse(sandbox_id=done.sandbox_id, recorded=done.recorded, repeated=done.repeated)
