"""What watches the server asks: does it live, can it work, how much does it do."""

import asyncio
import time
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
_SHARED: Final = 1.0
"""Seconds in which all who ask are told the same: anyone may, and asking a store elsewhere costs something."""


class Readiness(BaseModel):
    status: Literal["ready"] = "ready"
    checks: dict[str, str]


def probe_router(checks: Mapping[str, Check], metrics: Metrics, *, metrics_for: Sequence[Any] = ()) -> APIRouter:
    """`/healthz`, `/readyz` and `/metrics`; `metrics_for` are the dependencies that decide who may read the last."""
    router = APIRouter(tags=["about"])
    parts = _Parts(checks)

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz")
    async def health() -> Success[Health]:
        """Whether the server answers."""
        return Success(data=Health(version=skillyard.__version__))

    @router.get("/readyz", responses={503: {"model": Failure}})
    async def ready() -> Success[Readiness]:
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

    @router.get("/metrics", include_in_schema=False, dependencies=list(metrics_for))
    async def read_metrics() -> Response:
        return Response(metrics.render(), media_type=CONTENT_TYPE)

    return router


class _Parts:
    """The parts of the server, looked at by one for all who ask at about the same time."""

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._clock = clock
        self._look: asyncio.Task[dict[str, str]] | None = None
        self._since = 0.0

    async def outcomes(self) -> dict[str, str]:
        now = self._clock()
        if self._look is None or (self._look.done() and now - self._since >= _SHARED):
            self._look = asyncio.create_task(self._looked())
            self._since = now
        return await asyncio.shield(self._look)

    async def _looked(self) -> dict[str, str]:
        return dict(zip(self._checks, await asyncio.gather(*map(_outcome, self._checks.values())), strict=True))


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
