"""Payloads: the steps of learned skills, as they are sent."""

from typing import Annotated

from fastapi import APIRouter, Path

from skillyard.server.api.shapes import BEARER
from skillyard.server.yard.caller import Caller, failures
from skillyard.server.yard.skills_caller import Learned
from skillyard.server.yard.skills_schemas import (
    SkillPayloadCreateRequest,
    SkillPayloadCreateResponse,
    SkillPayloadResponse,
)

router = APIRouter(prefix="/v1/skills/payloads", tags=["learned skills"], responses=failures(), dependencies=[BEARER])


@router.post("", status_code=201, summary="Keep a payload")
async def create_payload(
    body: SkillPayloadCreateRequest, learned: Learned, caller: Caller
) -> SkillPayloadCreateResponse:
    """Keep steps, once for each content. Those that can be replayed are checked; others are kept as they are."""
    kept = await learned.payloads.put(caller, body.payload, body.kind)
    return SkillPayloadCreateResponse(payload_ref=kept.ref, kind=kept.kind)


@router.get("/{payload_ref:path}", summary="Read a payload")
async def get_payload(
    payload_ref: Annotated[str, Path(description="`blob:…`, as it was answered.")], learned: Learned, caller: Caller
) -> SkillPayloadResponse:
    """A payload of yours, or the trace of a run of yours."""
    kept = await learned.payloads.get(caller, payload_ref)
    return SkillPayloadResponse(payload_ref=payload_ref, kind=kept.kind, payload=kept.document)
