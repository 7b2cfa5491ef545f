"""The files of a sandbox: read, written, listed, deleted, and moved in and out as archives."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, TypeVar

from skillyard.errors import FileMissingError, InputError, LimitError, NotFoundError, SandboxDiedError
from skillyard.identity.principals import Principal, Scope
from skillyard.sandbox.capabilities import Ability
from skillyard.sandbox.place import MIB
from skillyard.sandbox.running import Running
from skillyard.sandbox.sandboxes import Sandbox
from skillyard.sandbox.service import Sandboxes
from skillyard.sandbox.session import FileEntry, Session
from skillyard.sandbox.workspace_paths import workspace_path

MAX_FILE: Final = 128 * MIB
"""Of one file that is read or written whole."""
T = TypeVar("T")


class Workspace:
    """Files by their paths below `/workspace`. A sandbox that does not run is started for them."""

    def __init__(self, sandboxes: Sandboxes, running: Running) -> None:
        self._sandboxes = sandboxes
        self._running = running

    async def read(self, caller: Principal, sandbox_id: str, path: str, *, max_bytes: int = MAX_FILE) -> bytes:
        name = workspace_path(path)
        return await self._asked(caller, sandbox_id, name, lambda session: session.read_file(name, max_bytes=max_bytes))

    async def read_text(self, caller: Principal, sandbox_id: str, path: str) -> str:
        data = await self.read(caller, sandbox_id, path)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path!r} is no text in UTF-8 (byte {error.start}).",
                hint="Download it instead: skillyard sandbox files download ID PATH",
                details={"field": "path", "value": path, "byte": error.start},
            ) from None

    async def write(
        self, caller: Principal, sandbox_id: str, path: str, data: bytes, *, executable: bool = False
    ) -> None:
        """Write a file whole; folders on the way are made."""
        caller.require_scope(Scope.WRITE)
        name = workspace_path(path)
        _require_size(path, len(data))
        await self._asked(
            caller, sandbox_id, name, lambda session: session.write_file(name, data, executable=executable)
        )

    async def put_file(
        self, caller: Principal, sandbox_id: str, path: str, pieces: Callable[[], AsyncIterable[bytes]], size: int
    ) -> None:
        """Write a file that comes in pieces, which can be had again from the start."""
        caller.require_scope(Scope.WRITE)
        name = workspace_path(path)
        _require_size(path, size)
        await self._asked(caller, sandbox_id, name, lambda session: session.put_file(name, pieces()))

    def get_file(self, caller: Principal, sandbox_id: str, path: str) -> AsyncGenerator[bytes]:
        """A file in pieces, as they are taken."""
        name = workspace_path(path)
        return self._pieces(caller, sandbox_id, name, lambda session: session.get_file(name))

    async def list(self, caller: Principal, sandbox_id: str, path: str = ".") -> Sequence[FileEntry]:
        name = workspace_path(path)
        return await self._asked(caller, sandbox_id, name, lambda session: session.list_folder(name))

    async def delete(self, caller: Principal, sandbox_id: str, path: str) -> None:
        """Delete a file, or a folder with all that is in it; the workspace itself stays."""
        caller.require_scope(Scope.WRITE)
        name = workspace_path(path)
        if name == ".":
            raise InputError(
                "The workspace itself cannot be deleted.",
                hint="Delete what is in it, or the sandbox.",
                details={"field": "path", "value": path},
            )
        await self._asked(caller, sandbox_id, name, lambda session: session.delete(name))

    async def put_tar(
        self, caller: Principal, sandbox_id: str, data: bytes, path: str = ".", *, remove: Sequence[str] = ()
    ) -> None:
        """First remove paths, then unpack an archive."""
        caller.require_scope(Scope.WRITE)
        name, gone = workspace_path(path), [workspace_path(each, field="remove") for each in remove]
        await self._asked(caller, sandbox_id, name, lambda session: session.put_tar(data, name, remove=gone))

    def get_tar(self, caller: Principal, sandbox_id: str, path: str = ".") -> AsyncGenerator[bytes]:
        """A folder or file as an archive, in pieces."""
        name = workspace_path(path)
        return self._pieces(caller, sandbox_id, name, lambda session: session.get_tar(name))

    async def _pieces(
        self, caller: Principal, sandbox_id: str, path: str, ask: Callable[[Session], AsyncIterator[bytes]]
    ) -> AsyncGenerator[bytes]:
        await self._sandbox(caller, sandbox_id)
        async with self._running.use(sandbox_id) as held:
            try:
                async for piece in ask(held.session):
                    yield piece
            except NotFoundError as error:
                raise _missing(path) from error

    async def _asked(self, caller: Principal, sandbox_id: str, path: str, ask: Callable[[Session], Awaitable[T]]) -> T:
        """The answer of the sandbox; one that turns out to have died is started anew, once."""
        await self._sandbox(caller, sandbox_id)
        try:
            return await self._answer(sandbox_id, path, ask)
        except SandboxDiedError:
            return await self._answer(sandbox_id, path, ask)

    async def _answer(self, sandbox_id: str, path: str, ask: Callable[[Session], Awaitable[T]]) -> T:
        async with self._running.use(sandbox_id) as held:
            try:
                return await ask(held.session)
            except NotFoundError as error:
                raise _missing(path) from error

    async def _sandbox(self, caller: Principal, sandbox_id: str) -> Sandbox:
        sandbox = await self._sandboxes.get(caller, sandbox_id)
        sandbox.require(Ability.FILESYSTEM)
        sandbox.require_unexpired()
        return sandbox


def _require_size(path: str, size: int) -> None:
    if size > MAX_FILE:
        raise LimitError(
            f"{path!r} has {size:,} bytes; at most {MAX_FILE:,} are taken at once.",
            hint="Split the file, and put it together in the sandbox: cat part-* > file",
            details={"field": "content", "value": size, "limit": MAX_FILE},
        )


def _missing(path: str) -> FileMissingError:
    return FileMissingError(
        f"There is no {path!r} in the workspace.",
        hint="See what is there: skillyard sandbox files ls ID",
        details={"field": "path", "value": path},
    )
