"""The parts that a server needs to work, and whether they do."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from skillyard.errors import SkillyardError

Check: TypeAlias = Callable[[], Awaitable[object]]
"""Ends without an error if a part of the server works."""

_log = logging.getLogger(__name__)
_PATIENCE: Final = 2.0
_SHARED: Final = 1.0
"""Seconds in which all who ask are told the same: anyone may, and asking a store elsewhere costs something."""


class Parts:
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
        _log.warning("Not ready: %s", error.message)
        return error.code
    except Exception:  # noqa: BLE001 -- a probe reports every failure
        _log.exception("Not ready.")
        return "failed"
    return "ok"
