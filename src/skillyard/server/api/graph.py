"""Who refers to whom, and what requires what."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from skillyard.registry.graph import Graph
from skillyard.registry.shipping import SkillRef
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.graph_schemas import DependenciesSchema, GraphSchema, ReferencesSchema
from skillyard.server.api.shapes import BEARER, errors
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1", tags=["graph"], responses=errors(), dependencies=[BEARER])


@router.get(
    "/graph",
    summary="The references between all skills",
    responses=errors(413),
    response_model=Success[GraphSchema],
)
async def get_graph(
    yard: TheYard,
    caller: Caller,
    namespace: Annotated[str | None, Query(description="Only what the skills of this person or team refer to.")] = None,
) -> Response:
    """Who refers to whom and to which file, what leads nowhere, and which skills refer to each other in a circle."""
    graph = await yard.registry.references.graph(caller, namespace=namespace)
    # Of thousands of skills it is megabytes, which others should not have to wait for.
    return Response(await asyncio.to_thread(_written, graph), media_type="application/json")


@router.get("/skills/{skill_id}/references", summary="The references of a skill")
async def get_references(skill_id: str, yard: TheYard, caller: Caller) -> Success[ReferencesSchema]:
    """What a skill refers to, what refers to it, and what deleting it would break."""
    return Success(data=ReferencesSchema.of(await yard.registry.references.around(caller, skill_id)))


@router.get("/skills/{skill_id}/dependencies", summary="What a skill requires")
async def get_dependencies(
    skill_id: str,
    yard: TheYard,
    caller: Caller,
    version: Annotated[
        str, Query(max_length=256, description="A version, a tag or a range; without it, what is shipped.")
    ] = "",
    alone: Annotated[bool, Query(description="Only the skill itself: leave out what it requires.")] = False,
) -> Success[DependenciesSchema]:
    """The versions of a skill and of all it requires that suit each other; what is missing or contradicts."""
    await yard.registry.shelf.get(caller, skill_id)
    wanted = SkillRef.of(skill_id, version)
    shipment = await yard.registry.shipping.resolve_shipment(caller, [wanted], alone=alone)
    return Success(data=DependenciesSchema.of(shipment))


def _written(graph: Graph) -> str:
    return Success[GraphSchema](data=GraphSchema.of(graph)).model_dump_json()
