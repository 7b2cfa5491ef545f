"""What watches the server asks: does it live, can it work, how much does it do."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel

import skillyard
from skillyard.errors import SkillyardError, UnavailableError
from skillyard.server.metrics import CONTENT_TYPE, Metrics
from skillyard.server.models import Failure, Health, Success

Check: TypeAlias = Callable[[], Awaitable[object]]
"""Ends without an error if a part of the server works."""

_PATIENCE: Final = 2.0


class Readiness(BaseModel):
    status: Literal["ready"] = "ready"
    checks: dict[str, str]


def probe_router(checks: Mapping[str, Check], metrics: Metrics, *, metrics_for: Sequence[Any] = ()) -> APIRouter:
    """`/healthz`, `/readyz` and `/metrics`; `metrics_for` are the dependencies that decide who may read the last."""
    router = APIRouter(tags=["about"])

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz")
    async def health() -> Success[Health]:
        """Whether the server answers."""
        return Success(data=Health(version=skillyard.__version__))

    @router.get("/readyz", responses={503: {"model": Failure}})
    async def ready() -> Success[Readiness]:
        """Whether everything the server needs works."""
        outcomes = dict(zip(checks, await asyncio.gather(*map(_outcome, checks.values())), strict=True))
        broken = [name for name, outcome in outcomes.items() if outcome != "ok"]
        if broken:
            raise UnavailableError(
                f"The server is not ready: {', '.join(broken)}.",
                hint="The server's log and `skillyard doctor` say why.",
                details={"checks": outcomes},
            )
        return Success(data=Readiness(checks=outcomes))

    @router.get("/metrics", include_in_schema=False, dependencies=list(metrics_for))
    async def read_metrics() -> Response:
        return Response(metrics.render(), media_type=CONTENT_TYPE)

    return router


async def _outcome(check: Check) -> str:
    """What became of a check, in words that give nothing away to whoever can reach the server."""
    try:
        await asyncio.wait_for(check(), _PATIENCE)
    except TimeoutError:
        return "too slow"
    except SkillyardError as error:
        return error.code
    except Exception:  # noqa: BLE001 -- a probe reports every failure
        return "failed"
    return "ok"
