"""A computer to use: sessions with files and a shell, by the names that computer-use clients know."""

import posixpath
import shlex
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, Final

from pydantic import Field

from skillyard.agents.sandbox_labels import SkillRequest
from skillyard.agents.source import SkillSource
from skillyard.agents.tool import Answer
from skillyard.agents.toolsets.bounds import cut, picked
from skillyard.agents.toolsets.output_progress import told_output
from skillyard.errors import FileMissingError, InputError, NotFoundError, SandboxExpiredError, UnavailableError
from skillyard.remote.client import YardClient

MAX_OUTPUT: Final = 1_000_000
"""Characters of one stream of a command: programs move files through it."""
_WORKSPACE: Final = "/workspace"
_SECONDS: Final = 300
OTHER_NAMES: Final = {"file_path": "path"}
"""What programs for other servers of this kind call an argument."""

SessionId = Annotated[str, Field(description="The session_id that create_session answered with.", min_length=1)]
AnyPath = Annotated[str, "Absolute, or relative to /workspace."]
Skills = Annotated[
    list[str],
    Field(
        description="Skills to have in /workspace/skills: those that you can load, and those of the yard, such as "
        "acme/pdf or acme/pdf@1.2.",
        max_length=100,
    ),
]
AgentOfSkills = Annotated[str, "An agent of the yard: what is attached to it is in /workspace/skills, too."]


class ComputerUse:
    """Sandboxes as sessions. A session is a sandbox: each can be used by the other's tools."""

    def __init__(self, yard: YardClient, source: SkillSource | None = None) -> None:
        self._yard = yard
        self._source = source
        self._sandboxes = yard.sandboxes

    def create_session(
        self,
        ttl: Annotated[int, Field(description="Seconds that it lives at most.", ge=1, le=7 * 24 * 3600)] = 600,
        skills: Skills = [],  # noqa: B006
        agent: AgentOfSkills = "",
    ) -> Answer:
        """Begin a session on a computer of your own: files, and a shell. Delete it when you are done."""
        wanted = SkillRequest.of(self._yard, self._source, skills, agent)
        made = self._sandboxes.create(ttl=ttl, labels={**wanted.labels, "skillyard.purpose": "computer-use"})
        shown = picked(made, "expires_at", "capabilities", "injection_error")
        put = wanted.put_into(self._yard, made["id"])
        return {"session_id": made["id"], **shown, **put, "workspace": _WORKSPACE}

    def create_file(
        self, session_id: SessionId, path: AnyPath, content: Annotated[str, "The whole text of the file."]
    ) -> Answer:
        """Write a text file; folders on the way are made, and a file that is there is replaced."""
        data = content.encode("utf-8", "surrogatepass")
        with _session(session_id):
            inside = in_workspace(path)
            if inside is not None:
                self._sandboxes.upload(session_id, inside, data)
            else:
                self._move_out(session_id, path, data)
        return f"{path} has {len(data):,} bytes now."

    def run_shell(
        self,
        session_id: SessionId,
        command: Annotated[str, "A command line for sh. It is run in /workspace."],
        timeout: Annotated[int, Field(description="Seconds it may take.", ge=1, le=_SECONDS)] = _SECONDS,
    ) -> Answer:
        """Run a command line; answers with stdout, stderr and exit_code."""
        with _session(session_id):
            done = self._sandboxes.shell(session_id, command, timeout=timeout, on_output=told_output())
        return {
            "exit_code": done["exit_code"],
            "stdout": cut(done["output"], MAX_OUTPUT),
            "stderr": cut(done.get("error") or "", MAX_OUTPUT),
            **picked(done, "execution_id"),
        }

    def delete_file(
        self,
        path: AnyPath,
        session_id: Annotated[str, "The session_id that create_session answered with."] = "",
        sandbox_id: Annotated[str, "Or the id that create_sandbox answered with."] = "",
    ) -> Answer:
        """Delete a file, or a folder with all that is in it, in a session or a sandbox."""
        if bool(session_id) == bool(sandbox_id):
            raise InputError("Give session_id or sandbox_id, one of the two.", details={"field": "session_id"})
        where = session_id or sandbox_id
        with _session(where):
            inside = in_workspace(path)
            if inside is not None:
                self._sandboxes.remove(where, inside)
            else:
                self._run(where, f"test -e {_quoted(path)} && rm -rf -- {_quoted(path)}", path)
        return f"{path} is gone."

    def delete_session(self, session_id: SessionId) -> Answer:
        """End a session; its files are gone with it."""
        with _session(session_id):
            self._sandboxes.delete(session_id)
        return f"The session {session_id} is deleted."

    def _move_out(self, session_id: str, path: str, data: bytes) -> None:
        """Write a file outside of the workspace, where only what runs in the sandbox can."""
        passing = f".skillyard-{uuid.uuid4().hex}"
        self._sandboxes.upload(session_id, passing, data)
        folder, source = _quoted(posixpath.dirname(path)), _quoted(f"{_WORKSPACE}/{passing}")
        move = f"mkdir -p -- {folder} && mv -f -- {source} {_quoted(path)}"
        self._run(session_id, f"{move} || {{ rm -f -- {source}; exit 1; }}", path)

    def _run(self, session_id: str, command: str, path: str) -> None:
        done: dict[str, Any] = self._sandboxes.shell(session_id, command)
        if done["success"]:
            return
        said = f"{done['output']}{done.get('error') or ''}".strip()
        if not said:
            raise FileMissingError(f"There is no {path!r}.", details={"path": path})
        raise UnavailableError(f"{path}: {cut(said, 500)}", hint=f"Use a path below {_WORKSPACE} or /tmp.")


@contextmanager
def _session(session_id: str) -> Generator[None]:
    """Says of a session that is not there what clients look for in such an error."""
    try:
        yield
    except (NotFoundError, SandboxExpiredError) as error:
        if isinstance(error, FileMissingError):
            raise
        raise NotFoundError(
            f"The session {session_id!r} does not exist, or no longer.",
            hint="Begin another one with create_session.",
            details={"session_id": session_id},
        ) from None


def in_workspace(path: str) -> str | None:
    """A path as one relative to the workspace; None for one that is elsewhere on the computer."""
    if not path.startswith("/"):
        return path
    normal = posixpath.normpath(path)
    inside = normal == _WORKSPACE or normal.startswith(f"{_WORKSPACE}/")
    return posixpath.relpath(normal, _WORKSPACE) if inside else None


def _quoted(text: str) -> str:
    return shlex.quote(text)
