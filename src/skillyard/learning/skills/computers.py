"""Computers that skills are made and tried on: sessions with files and a shell, here or elsewhere."""

import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from skillyard.cancellation import to_the_end
from skillyard.errors import SkillyardError, TimedOutError
from skillyard.identity.principals import Principal
from skillyard.sandbox.runs import Runs, Wish
from skillyard.sandbox.sandboxes import SandboxSpec
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.workspace import Workspace

TTL: Final = 600
"""Seconds that a session lives if nobody deletes it."""
_LABELS: Final = {"skillyard.purpose": "skill-creator"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What came of a command."""

    exit_code: int
    output: str
    """Of stdout and stderr."""


class Computer(Protocol):
    """One session. Paths, and where commands are run, are relative to a folder of its own."""

    async def create_file(self, path: str, data: bytes, *, executable: bool = False) -> None: ...

    async def run_shell(self, command: str, *, seconds: float = 60.0) -> Ran: ...

    async def delete_file(self, path: str) -> None: ...


class Computers(Protocol):
    """Where sessions come from; having none is an `UnavailableError` that says why."""

    def session(self, principal: Principal) -> AbstractAsyncContextManager[Computer]:
        """A session that is deleted at the end, whatever happens in it."""
        ...


class SandboxComputers:
    """Sessions in sandboxes of this yard. What is run in them is recorded, as in any other."""

    def __init__(self, sandboxes: Sandboxes, runs: Runs, workspace: Workspace) -> None:
        self._sandboxes = sandboxes
        self._runs = runs
        self._workspace = workspace

    @asynccontextmanager
    async def session(self, principal: Principal) -> AsyncGenerator[Computer]:
        sandbox = await self._sandboxes.create(principal, SandboxSpec(ttl=TTL, labels=_LABELS))
        try:
            yield _Sandboxed(principal=principal, id=sandbox.id, runs=self._runs, workspace=self._workspace)
        finally:
            await to_the_end(self._delete(principal, sandbox.id))

    async def _delete(self, principal: Principal, sandbox_id: str) -> None:
        try:
            await self._sandboxes.delete(principal, sandbox_id)
        except SkillyardError as error:  # its end is near anyway
            _log.warning("The sandbox %s of a skill could not be deleted: %s", sandbox_id, error.message)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sandboxed(Computer):
    principal: Principal
    id: str
    runs: Runs
    workspace: Workspace

    async def create_file(self, path: str, data: bytes, *, executable: bool = False) -> None:
        await self.workspace.write(self.principal, self.id, path, data, executable=executable)

    async def run_shell(self, command: str, *, seconds: float = 60.0) -> Ran:
        done = await self.runs.shell(self.principal, self.id, command, Wish(seconds=seconds))
        outcome = done.outcome
        if outcome is None or outcome.exit_code is None:
            raise TimedOutError(f"It did not come to its end: {done.error}", details={"command": command[:200]})
        return Ran(exit_code=outcome.exit_code, output=(outcome.stdout + outcome.stderr).decode("utf-8", "replace"))

    async def delete_file(self, path: str) -> None:
        await self.workspace.delete(self.principal, self.id, path)
