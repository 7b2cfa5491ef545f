"""What watches the server asks: does it live, can it work, how much does it do."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

import skillyard
from skillyard.errors import UnavailableError
from skillyard.server.auth import administrators_only
from skillyard.server.metrics import CONTENT_TYPE, Metrics
from skillyard.server.models import Failure, Health, Success
from skillyard.server.parts import Parts

router = APIRouter(tags=["about"])


class Readiness(BaseModel):
    status: Literal["ready"] = "ready"
    checks: dict[str, str]


async def _parts(request: Request) -> Parts:
    return request.app.state.parts


async def _metrics(request: Request) -> Metrics:
    return request.app.state.metrics


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def health() -> Success[Health]:
    """Whether the server answers."""
    return Success(data=Health(version=skillyard.__version__))


@router.get("/readyz", responses={503: {"model": Failure}})
async def ready(parts: Annotated[Parts, Depends(_parts)]) -> Success[Readiness]:
    """Whether everything the server needs works."""
    outcomes = await parts.outcomes()
    broken = [name for name, outcome in outcomes.items() if outcome != "ok"]
    if broken:
        raise UnavailableError(
            f"The server is not ready: {', '.join(broken)}.",
            hint="The server's log and `skillyard doctor` say why.",
            details={"checks": outcomes},
        )
    return Success(data=Readiness(checks=outcomes))


@router.get("/metrics", include_in_schema=False, dependencies=[Depends(administrators_only)])
async def read_metrics(request: Request, metrics: Annotated[Metrics, Depends(_metrics)]) -> Response:
    await request.app.state.read_number()
    return Response(metrics.render(), media_type=CONTENT_TYPE)
