"""How tasks went for which agents used skills."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, StringConstraints

from skillyard.releases.outcome_reports import MAX_EXECUTIONS, OutcomeReceipt, OutcomeReport
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.shapes import BEARER, Request, errors
from skillyard.server.api.usage_schemas import Word
from skillyard.server.auth import not_kept
from skillyard.server.models import Success
from skillyard.usage.events import UsageKind

router = APIRouter(prefix="/api/v1", tags=["usage"], responses=errors(), dependencies=[BEARER, Depends(not_kept)])


class OutcomeCreate(Request):
    """How a task went."""

    skill: Annotated[str, StringConstraints(min_length=1, max_length=400)] = Field(
        description="Its id or its full name.", examples=["acme/refunds"]
    )
    succeeded: bool
    version: Word = Field(default="", description="Without it, what was loaded last in the session.")
    digest: Word = Field(default="", description="Of the bundle, where the version is not known.")
    session: Word = Field(default="", description="As when the skill was loaded.")
    agent: Word = ""
    detail: str = Field(default="", max_length=2000, description="What went wrong, for instance.")
    id: Annotated[Word, StringConstraints(min_length=1)] | None = Field(
        default=None, description="Your own id for it: sent twice, it counts once."
    )
    execution_ids: list[Word] = Field(
        default_factory=list[str],
        max_length=MAX_EXECUTIONS,
        description="What was run for it, in sandboxes that had the skill.",
    )

    @property
    def report(self) -> OutcomeReport:
        return OutcomeReport(**self.model_dump())


class OutcomeSchema(BaseModel):
    event: UsageKind
    recorded: bool = Field(description="Kept as a use; not if it was told before.")
    counted: bool = Field(description="In the numbers of the day; not if more than are counted of one person.")
    skill: str
    version: str = Field(description="The one it is counted for; empty where that is not known.")
    release_id: str | None = Field(description="Your release that this version is.")
    run_id: str | None = Field(description="The run of that release that it is.")
    remark: str = Field(description="Why it is no run of a release.")

    @classmethod
    def of(cls, receipt: OutcomeReceipt) -> "OutcomeSchema":
        return cls(
            event=receipt.event,
            recorded=receipt.recorded,
            counted=receipt.counted,
            skill=receipt.skill,
            version=receipt.version,
            release_id=receipt.release_id,
            run_id=receipt.run_id,
            remark=receipt.remark,
        )


@router.post("/outcomes", summary="Tell how a task went")
async def report_outcome(body: OutcomeCreate, yard: TheYard, caller: Caller) -> Success[OutcomeSchema]:
    """Count how a task went for which a skill was used.

    Where the version that was loaded in this session is a release of yours that is in use, it is one of its runs.
    """
    return Success(data=OutcomeSchema.of(await yard.releases.outcomes.report(caller, body.report)))
