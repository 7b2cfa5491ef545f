"""How skills are used: reported by agents, asked by people."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.api.usage_schemas import (
    SkillTotalsSchema,
    UsageCreate,
    UsageDaySchema,
    UsageReceiptSchema,
    UsageReportSchema,
)
from skillyard.server.auth import not_kept
from skillyard.server.models import Success
from skillyard.usage.events import MAX_DAYS

router = APIRouter(prefix="/api/v1", tags=["usage"], responses=errors(), dependencies=[BEARER, Depends(not_kept)])

Days = Annotated[int, Query(ge=1, le=MAX_DAYS, description="So many days back, today included.")]


@router.post("/usage", summary="Report uses of skills")
async def report_usage(body: UsageCreate, yard: TheYard, caller: Caller) -> Success[UsageReceiptSchema]:
    """Count uses of skills that the caller may see, many at once. It is no change: the history does not tell of it."""
    receipt = await yard.registry.usage.report(caller, [event.report for event in body.events])
    return Success(data=UsageReceiptSchema.of(receipt))


@router.get("/usage", summary="How often skills are used")
async def list_usage(
    yard: TheYard,
    caller: Caller,
    skill: Annotated[str | None, Query(max_length=400, description="Only this one, by its id or full name.")] = None,
    days: Days = 30,
) -> Listed[SkillTotalsSchema]:
    """Every visible skill that was used in that time, by name."""
    found = await yard.registry.usage.totals(caller, days=days, skill=skill)
    return Listed(data=[SkillTotalsSchema.of(each) for each in found])


@router.get("/usage/report", summary="Never used, often failing")
async def get_usage_report(
    yard: TheYard,
    caller: Caller,
    days: Days = 30,
    least: Annotated[int, Query(ge=1, description="Judge only skills with so many outcomes or more.")] = 5,
    rate: Annotated[float, Query(ge=0, le=1, description="Failing from this share of outcomes on.")] = 0.5,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many of each.")] = 100,
) -> Success[UsageReportSchema]:
    """The skills that nobody uses, and those that fail often."""
    summary = await yard.registry.usage.summary(caller, days=days, least=least, rate=rate, limit=limit)
    return Success(data=UsageReportSchema.of(summary))


@router.get("/skills/{skill_id}/usage", summary="How often one skill is used")
async def get_skill_usage(skill_id: str, yard: TheYard, caller: Caller, days: Days = 30) -> Listed[UsageDaySchema]:
    """Its daily counts by version, agent and event, the newest day first, and no more than the newest 1,000 counts.

    At most 200 pairs of version and agent have counts of their own on one day; the others are counted without names.
    """
    found = await yard.registry.usage.of_skill(caller, skill_id, days=days)
    return Listed(data=[UsageDaySchema.of(day) for day in found])
