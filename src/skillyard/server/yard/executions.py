"""What was run in a sandbox."""

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from skillyard.identity.principals import Scope
from skillyard.sandbox.execution_log import MAX_PAGE
from skillyard.sandbox.executions import Asked, ExecType, Execution, Said, tags_in
from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Body, Caller, Rooms, failures
from skillyard.server.yard.run_schemas import Note

router = APIRouter(
    prefix="/v1/sandboxes/{sandbox_id}/history", tags=["executions"], responses=failures(), dependencies=[BEARER]
)


class ExecutionHistoryEntryResponse(BaseModel):
    id: str
    session_id: str | None
    exec_type: ExecType
    code: str
    success: bool
    execution_time_ms: int
    output: str | None = None
    error: str | None = None
    payload_ref: str | None = None
    description: str | None = None
    tags: str | None = None
    notes: str | None = None
    learn_enabled: bool = False
    learn_status: str | None = None
    learn_error: str | None = None
    learn_processed_at: datetime | None = None
    created_at: datetime
    exit_code: int | None = None
    ending: str = Field(description="`exited`, `killed`, `timeout`, `died`, `cancelled` or `failed`.")
    truncated: bool = Field(description="Whether it wrote more than is taken.")
    network: list[str] = Field(description="The endpoints that it could reach.")
    skills: list[dict[str, Any]] = Field(description="The skills that were there.")

    @classmethod
    def of(cls, execution: Execution) -> Self:
        return cls(
            id=execution.id,
            session_id=execution.session_id,
            exec_type=execution.exec_type,
            code=execution.code,
            success=execution.success,
            execution_time_ms=execution.milliseconds,
            output=execution.output,
            error=execution.error,
            payload_ref=execution.trace_ref,
            description=execution.description,
            tags=execution.tags,
            notes=execution.notes,
            learn_enabled=execution.learn,
            learn_status=execution.learn_status,
            learn_error=execution.learn_error,
            learn_processed_at=execution.learn_processed_at,
            created_at=execution.created_at,
            exit_code=execution.exit_code,
            ending=execution.ending,
            truncated=execution.truncated,
            network=list(execution.network),
            skills=[dict(skill) for skill in execution.skills],
        )


class ExecutionHistoryResponse(BaseModel):
    entries: list[ExecutionHistoryEntryResponse]
    total: int


class AnnotateExecutionRequest(Body):
    """What is left out, or null, stays as it is."""

    description: Note | None = None
    tags: Note | None = None
    notes: Note | None = None


class HistoryQuery(BaseModel):
    """Which executions are asked for."""

    exec_type: ExecType | None = None
    success_only: bool = False
    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    offset: int = Field(default=0, ge=0, le=2**31 - 1)
    tags: str | None = Field(default=None, max_length=1000, description="One of these, separated by commas.")
    has_notes: bool = False
    has_description: bool = False

    @property
    def asked(self) -> Asked:
        return Asked(
            exec_type=self.exec_type,
            success_only=self.success_only,
            tags=tags_in(self.tags),
            has_notes=self.has_notes,
            has_description=self.has_description,
            limit=self.limit,
            offset=self.offset,
        )


@router.get("", summary="List executions")
async def list_executions(
    sandbox_id: str, rooms: Rooms, caller: Caller, query: Annotated[HistoryQuery, Query()]
) -> ExecutionHistoryResponse:
    """The newest first."""
    await rooms.sandboxes.get(caller, sandbox_id)
    page = await rooms.log.page(sandbox_id, query.asked)
    entries = [ExecutionHistoryEntryResponse.of(entry) for entry in page.entries]
    return ExecutionHistoryResponse(entries=entries, total=page.total)


@router.get("/last", summary="Read the last execution")
async def get_last_execution(
    sandbox_id: str, rooms: Rooms, caller: Caller, exec_type: ExecType | None = None
) -> ExecutionHistoryEntryResponse:
    await rooms.sandboxes.get(caller, sandbox_id)
    return ExecutionHistoryEntryResponse.of(await rooms.log.last(sandbox_id, Asked(exec_type=exec_type, limit=1)))


@router.get("/{execution_id}", summary="Read an execution")
async def get_execution(
    sandbox_id: str, execution_id: str, rooms: Rooms, caller: Caller
) -> ExecutionHistoryEntryResponse:
    await rooms.sandboxes.get(caller, sandbox_id)
    return ExecutionHistoryEntryResponse.of(await rooms.log.get(sandbox_id, execution_id))


@router.patch("/{execution_id}", summary="Remark on an execution")
async def annotate_execution(
    sandbox_id: str, execution_id: str, body: AnnotateExecutionRequest, rooms: Rooms, caller: Caller
) -> ExecutionHistoryEntryResponse:
    """Say something beside it; what was run and what came of it stays as it is."""
    said = Said(description=body.description, tags=body.tags, notes=body.notes)
    await rooms.sandboxes.get(caller, sandbox_id)
    caller.require_scope(Scope.WRITE)
    return ExecutionHistoryEntryResponse.of(await rooms.log.annotate(sandbox_id, execution_id, said))
