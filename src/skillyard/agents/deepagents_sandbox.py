"""A sandbox of a yard as deepagents wants one: what the agent runs in it is recorded like any execution."""

import asyncio
import logging
import posixpath
import shlex
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Final, Self

from skillyard.agents.extra import missing_extra

try:
    from deepagents.backends.sandbox import BaseSandbox
except ModuleNotFoundError as error:
    raise missing_extra(error) from error
from deepagents.backends.protocol import (
    DeleteResult,
    EditResult,
    ExecuteResponse,
    FileDownloadResponse,
    FileInfo,
    FileUploadResponse,
    GlobResult,
    GrepResult,
    LsResult,
    ReadResult,
    WriteResult,
)

from skillyard.agents.deepagents_files import error_code, listed_files, read_result
from skillyard.agents.langchain_sessions import current_session
from skillyard.agents.sandbox_labels import skill_labels
from skillyard.agents.tool import told
from skillyard.agents.uses import Uses
from skillyard.delivery.manifest import MANIFEST_NAME, Manifest
from skillyard.delivery.sandbox_place import SKILLS_FOLDER
from skillyard.errors import FileMissingError, NotAllowedError, NotFoundError, SkillyardError
from skillyard.remote.client import YardClient
from skillyard.sandbox.place import WORKSPACE
from skillyard.skill.bundle import SKILL_FILE
from skillyard.usage.events import UsageKind

SECONDS: Final = 120
"""A command may take so long unless the agent says otherwise."""
_LONGEST: Final = 300
"""A yard ends every command after these seconds."""
ARTIFACTS: Final = f"{WORKSPACE}/.deepagents"
"""Where deepagents puts what is too long for a conversation: below the workspace, the rest may be read-only."""
_TOO_LONG: Final = ("/large_tool_results/", "/conversation_history/")
"""Where it puts that unless it is told otherwise."""
_log: Final = logging.getLogger(__name__)
_PLACE: Final = f"Files of a sandbox are below {WORKSPACE}."


class _Scripts(BaseSandbox):
    """What deepagents does to files by scripts of its own: nothing is learned from what the agent did not say."""

    def __init__(self, yard: YardClient, sandbox_id: str) -> None:
        self._yard = yard
        self._id = sandbox_id

    @property
    def id(self) -> str:
        return self._id

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        try:
            return _response(self._yard.sandboxes.shell(self._id, command, timeout=_seconds(timeout)))
        except SkillyardError as error:
            return ExecuteResponse(output=told(error))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return [FileUploadResponse(path=path, error=self._failure(self._put, path, data)) for path, data in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        return [self._download(path) for path in paths]

    def _put(self, path: str, data: bytes) -> None:
        inside = inside_workspace(path)
        if inside is not None:
            self._yard.sandboxes.upload(self._id, inside, data)
            return
        with self._passage() as between:
            self._yard.sandboxes.upload(self._id, between, data)
            done = self.execute(f"mkdir -p -- {_parent(path)} && cp -- {_full(between)} {shlex.quote(path)}")
        if done.exit_code != 0:
            raise NotAllowedError(f"{path!r} cannot be written: {done.output.strip()[:200]}")

    def _download(self, path: str) -> FileDownloadResponse:
        found: list[bytes] = []
        error = self._failure(lambda: found.append(self._get(path)))
        return FileDownloadResponse(path=path, content=None if error else found[0], error=error)

    def _get(self, path: str) -> bytes:
        inside = inside_workspace(path)
        if inside is not None:
            return self._yard.sandboxes.download(self._id, inside)
        with self._passage() as between:
            done = self.execute(f"cp -- {shlex.quote(path)} {_full(between)}")
            if done.exit_code != 0:
                raise FileMissingError(f"{path!r} cannot be read: {done.output.strip()[:200]}")
            return self._yard.sandboxes.download(self._id, between)

    @contextmanager
    def _passage(self) -> Generator[str]:
        """A file of the workspace through which another one is taken: a yard reaches no others."""
        between = f".passage-{uuid.uuid4().hex}"
        try:
            yield between
        finally:
            with suppress(NotFoundError):
                self._yard.sandboxes.remove(self._id, between)

    @staticmethod
    def _failure(do: Callable[..., object], *arguments: object) -> str | None:
        """What kept something from being done, as deepagents names it."""
        try:
            do(*arguments)
        except SkillyardError as error:
            return error_code(error)
        return None


class _Searches(_Scripts):
    """Scripts that print zero bytes. What a yard tells of a run is text, which has none: others stand for them."""

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        told_otherwise = f"""found=$(mktemp) && {{
{command}
}} > "$found"; code=$?; tr '\\000' '\\036' < "$found"; rm -f "$found"; exit $code"""
        done = super().execute(told_otherwise, timeout=timeout)
        return replace(done, output=done.output.replace("\036", "\0"))


class YardSandbox(BaseSandbox):
    """A sandbox, by its id. `learn` has the agent's own commands looked through for know-how.

    Its files are below `/workspace`; the skills that it was made with are in `/workspace/skills`. When the `SKILL.md`
    of one is read, it counts as loaded by that `agent`, in its version and for the thread of the conversation.
    """

    def __init__(
        self, yard: YardClient, sandbox_id: str, *, agent: str = "", learn: bool = False, seconds: int = SECONDS
    ) -> None:
        self._yard = yard
        self._id = sandbox_id
        self._agent = agent
        self._learn = learn
        self._default_seconds = seconds
        self._uses = Uses(yard)
        self._scripts = _Scripts(yard, sandbox_id)
        self._searches = _Searches(yard, sandbox_id)
        self.executions: list[str] = []
        """The ids of what the agent ran, in order: evidence for whoever judges how a task went."""

    @classmethod
    def create(
        cls,
        yard: YardClient,
        *,
        skills: Sequence[str] = (),
        agent: str = "",
        labels: Mapping[str, str] | None = None,
        learn: bool = False,
        seconds: int = SECONDS,
        **options: Any,  # noqa: ANN401 -- those of `SandboxClient.create`
    ) -> Self:
        """A new sandbox with skills of the registry, such as `team/pdf@stable`, and with those of an agent."""
        made = yard.sandboxes.create(labels={**skill_labels(skills, agent), **(labels or {})}, **options)
        if made["injection_error"]:
            _log.warning("The sandbox %s: %s", made["id"], made["injection_error"])
        return cls(yard, made["id"], agent=agent, learn=learn, seconds=seconds)

    @property
    def id(self) -> str:
        return self._id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the sandbox away. Once it is gone, nothing happens."""
        self.flush()
        with suppress(NotFoundError):
            self._yard.sandboxes.delete(self._id)

    def flush(self) -> None:
        """Wait until what was loaded is counted: that is to be known before how the task went."""
        self._uses.flush()

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        seconds = _seconds(timeout or self._default_seconds)
        try:
            done = self._yard.sandboxes.shell(self._id, command, timeout=seconds, learn=self._learn)
        except SkillyardError as error:
            return ExecuteResponse(output=told(error))
        if done["execution_id"] is not None:
            self.executions.append(done["execution_id"])
        return _response(done)

    def ls(self, path: str) -> LsResult:
        inside = inside_workspace(path)
        if inside is None:
            return self._scripts.ls(path)
        try:
            found = self._yard.sandboxes.files(self._id, inside)
        except SkillyardError as error:
            return LsResult(error=error_code(error))
        return LsResult(entries=[_info(entry) for entry in found])

    def read(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        inside = inside_workspace(file_path)
        if inside is None:
            return self._scripts.read(file_path, offset, limit)
        (found,) = self._scripts.download_files([file_path])
        if found.content is None:
            return ReadResult(error=f"{file_path!r} cannot be read: {found.error}")
        if offset <= 0:
            self._count_loaded(inside)
        return read_result(file_path, found.content, offset, limit)

    def write(self, file_path: str, content: str) -> WriteResult:
        (written,) = self.upload_files([(file_path, content.encode())])
        if written.error:
            return WriteResult(error=f"{file_path!r} could not be written: {written.error}. {_PLACE}")
        return WriteResult(path=file_path)

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        return self._scripts.edit(placed(file_path), old_string, new_string, replace_all)

    def delete(self, file_path: str) -> DeleteResult:
        inside = inside_workspace(file_path)
        if inside is None:
            return self._scripts.delete(file_path)
        try:
            self._yard.sandboxes.remove(self._id, inside)
        except SkillyardError as error:
            return DeleteResult(error=told(error))
        return DeleteResult(path=file_path)

    def grep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return self._searches.grep(pattern, placed(path or WORKSPACE), glob, max_count=max_count)

    def glob(self, pattern: str, path: str | None = None) -> GlobResult:
        return self._scripts.glob(pattern, placed(path or WORKSPACE))

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        return self._scripts.upload_files(files)

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        found = self._scripts.download_files(paths)
        return listed_files(found, [_skill_folder(inside_workspace(each.path) or "") for each in found])

    def _count_loaded(self, inside: str) -> None:
        """Count a skill of the registry as loaded, if it is the main file of one that is read."""
        folder = _skill_folder(inside)
        if folder is None:
            return
        try:
            manifest = self._yard.sandboxes.download(self._id, f"{SKILLS_FOLDER}/{MANIFEST_NAME}")
        except SkillyardError:
            return  # nothing was delivered here
        entry = Manifest.read(manifest).entries.get(folder)
        if entry is not None and "/" in entry.origin.skill:
            self._uses.add(
                UsageKind.LOADED,
                entry.origin.skill,
                version=entry.origin.version,
                session=current_session(),
                agent=self._agent,
            )

    # Those of the base class would run scripts as if the agent had.
    async def als(self, path: str) -> LsResult:
        return await asyncio.to_thread(self.ls, path)

    async def aread(self, file_path: str, offset: int = 0, limit: int = 2000) -> ReadResult:
        return await asyncio.to_thread(self.read, file_path, offset, limit)

    async def awrite(self, file_path: str, content: str) -> WriteResult:
        return await asyncio.to_thread(self.write, file_path, content)

    async def aedit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> EditResult:
        return await asyncio.to_thread(self.edit, file_path, old_string, new_string, replace_all)

    async def adelete(self, file_path: str) -> DeleteResult:
        return await asyncio.to_thread(self.delete, file_path)

    async def agrep(
        self, pattern: str, path: str | None = None, glob: str | None = None, *, max_count: int | None = None
    ) -> GrepResult:
        return await asyncio.to_thread(self.grep, pattern, path, glob, max_count=max_count)

    async def aglob(self, pattern: str, path: str | None = None) -> GlobResult:
        return await asyncio.to_thread(self.glob, pattern, path)


def _skill_folder(inside: str) -> str | None:
    """The folder of the skill whose main file this is."""
    match inside.split("/"):
        case [top, folder, name] if (top, name) == (SKILLS_FOLDER, SKILL_FILE):
            return folder
        case _:
            return None


def placed(path: str) -> str:
    """A path as it is in the sandbox, where deepagents may not write to all that it takes for its own."""
    full = posixpath.normpath(posixpath.join(WORKSPACE, path))
    return f"{ARTIFACTS}{full}" if f"{full}/".startswith(_TOO_LONG) else path


def inside_workspace(path: str) -> str | None:
    """A path relative to the workspace; None for one that leads elsewhere."""
    full = posixpath.normpath(posixpath.join(WORKSPACE, placed(path)))
    if full == WORKSPACE:
        return "."
    return full.removeprefix(f"{WORKSPACE}/") if full.startswith(f"{WORKSPACE}/") else None


def _seconds(wanted: int | None) -> int:
    return min(max(wanted or SECONDS, 1), _LONGEST)


def _response(done: Mapping[str, Any]) -> ExecuteResponse:
    parts = [part.rstrip("\n") for part in (done["output"], done["error"]) if part]
    return ExecuteResponse(output="\n".join(parts), exit_code=done["exit_code"])


def _info(entry: Mapping[str, Any]) -> FileInfo:
    return FileInfo(
        path=f"{WORKSPACE}/{entry['path']}",
        is_dir=entry["is_dir"],
        size=entry["size"] or 0,
        modified_at=entry["modified_at"],
    )


def _full(inside: str) -> str:
    return shlex.quote(f"{WORKSPACE}/{inside}")


def _parent(path: str) -> str:
    return shlex.quote(posixpath.dirname(path))
