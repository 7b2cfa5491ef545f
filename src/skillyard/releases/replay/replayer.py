"""Replays: the steps of a payload, taken anew with new values in a sandbox, and a verdict."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from skillyard.cancellation import to_the_end
from skillyard.errors import InputError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.releases.outcomes import Replay
from skillyard.releases.payloads import Payload, StepType
from skillyard.releases.replay.browser import Patience
from skillyard.releases.replay.course import Course
from skillyard.releases.replay.preparation import prepare
from skillyard.releases.replay.reports import Clock
from skillyard.releases.variable_values import checked_values
from skillyard.sandbox.browsing import Browsing
from skillyard.sandbox.executions import Said
from skillyard.sandbox.network import NONE, parse_network
from skillyard.sandbox.runs import Runs
from skillyard.sandbox.sandboxes import Sandbox, SandboxSpec
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.workspace import Workspace

MAX_SECONDS: Final = 600
LABEL: Final = "skillyard.purpose"
_REPLAY: Final = "replay"
_LONGER: Final = 60
"""Seconds that a sandbox outlives the replay it was made for, if nobody is left to delete it."""
_WITH_BROWSER: Final = "browser-python"
_log = logging.getLogger(__name__)


class Replayer:
    """Replays payloads. What a replay does wrong is its verdict; only wrong values and sandboxes are errors."""

    def __init__(
        self,
        sandboxes: Sandboxes,
        runs: Runs,
        browsing: Browsing,
        workspace: Workspace,
        *,
        patience: Patience | None = None,
    ) -> None:
        self._sandboxes = sandboxes
        self._runs = runs
        self._browsing = browsing
        self._workspace = workspace
        self._patience = patience or Patience()

    async def replay(
        self,
        caller: Principal,
        payload: Payload,
        variables: Mapping[str, Any],
        *,
        sandbox_id: str | None = None,
        seconds: float = 120.0,
        stop_on_error: bool = True,
        said: Said | None = None,
        isolation: str | Sequence[str] | None = None,
    ) -> Replay:
        """Replay a payload in a sandbox of the caller's, or in a fresh one that is deleted afterwards."""
        if not 0 < seconds <= MAX_SECONDS:
            raise InputError(
                f"A replay cannot have {seconds:g} seconds.",
                hint=f"Use up to {MAX_SECONDS}.",
                details={"field": "timeout", "value": seconds, "limit": MAX_SECONDS},
            )
        values = checked_values(payload.variables, variables)
        works = prepare(payload, values)
        clock = Clock(seconds)
        if sandbox_id is None:
            sandbox = await self._sandboxes.create(caller, _spec(payload, seconds, isolation))
        else:
            sandbox = await self._sandboxes.get(caller, sandbox_id)
            sandbox.require_unexpired()
        try:
            course = Course(
                runs=self._runs,
                browsing=self._browsing,
                workspace=self._workspace,
                caller=caller,
                sandbox=sandbox,
                payload=payload,
                values=values,
                clock=clock,
                patience=self._patience,
                stop_on_error=stop_on_error,
                said=said or Said(),
            )
            return await course.taken(works)
        finally:
            if sandbox_id is None:
                await to_the_end(self._delete(caller, sandbox))

    async def _delete(self, caller: Principal, sandbox: Sandbox) -> None:
        with suppress(SkillyardError):  # its end is near anyway
            await self._sandboxes.delete(caller, sandbox.id)
            return
        _log.warning("The sandbox %s of a replay could not be deleted.", sandbox.id)


def _spec(payload: Payload, seconds: float, isolation: str | Sequence[str] | None) -> SandboxSpec:
    browses = any(step.type is StepType.BROWSER for step in payload.steps)
    spec: dict[str, Any] = {"profile": _WITH_BROWSER} if browses else {}
    return SandboxSpec(
        ttl=int(seconds) + _LONGER,
        network=parse_network({"allow": list(payload.network)}) if payload.network else NONE,
        labels={LABEL: _REPLAY},
        isolation=isolation,
        **spec,
    )
