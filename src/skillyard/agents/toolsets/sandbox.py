"""The `sandbox` toolset: isolated places in which a model runs things and keeps files."""

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from skillyard.agents.sandbox_labels import SkillRequest
from skillyard.agents.source import SkillSource
from skillyard.agents.tool import Answer, Tool
from skillyard.agents.toolsets.bounds import MAX_TEXT, cut, listed, picked, window, within
from skillyard.agents.toolsets.computer_use import OTHER_NAMES, AgentOfSkills, ComputerUse, Skills, in_workspace
from skillyard.agents.toolsets.local_files import LocalFiles
from skillyard.agents.toolsets.output_progress import told_output
from skillyard.agents.toolsets.yard_tool import yard_tool
from skillyard.errors import InputError, LimitError
from skillyard.remote.client import YardClient

MAX_BASE64: Final = 1024 * 1024
"""Bytes of a file that comes within an answer."""
_LONGEST: Final = 10 * 365 * 24 * 3600
_SHOWN: Final = (
    *("id", "status", "profile", "cargo_id", "capabilities", "expires_at", "backend", "network", "error"),
    *("labels", "injection_error"),
)
_RUN: Final = ("id", "exec_type", "success", "code", "output", "error", "description", "tags", "notes", "created_at")

SandboxId = Annotated[str, Field(description="The id that create_sandbox answered with.", min_length=1)]
ExecutionId = Annotated[str, "The execution_id that a run answered with."]
Timeout = Annotated[int, Field(description="Seconds it may take.", ge=1, le=300)]
BatchTimeout = Annotated[int, Field(description="Seconds all of it may take.", ge=1, le=600)]
Note = Annotated[str, "What it is for, in a few words: kept beside the execution."]
Tags = Annotated[str, "Words to find it by, separated by commas."]
Learn = Annotated[bool, "Have it looked through for know-how later."]
MaxOutput = Annotated[int, Field(description="Characters of output to answer with.", ge=100, le=400_000)]
WorkspacePath = Annotated[
    str, Field(description="Relative to the workspace, or absolute below /workspace.", min_length=1)
]
ExecType = Annotated[Literal["python", "shell", "browser", "browser_batch"] | None, "Only runs of this kind."]


def sandbox_tools(yard: YardClient, *, local: Path | None = None, source: SkillSource | None = None) -> list[Tool]:
    """Sandboxes of a yard. Skills of `source` that are in folders of this machine can be put into them.

    `local` is a folder of the caller's machine: files below it can be sent to a sandbox and fetched from it by their
    paths. Without it only their contents can.
    """
    runs, files = SandboxRuns(yard, source), SandboxFiles(yard, LocalFiles(local))
    computer = ComputerUse(yard, source)
    changes: Any = {"read_only": False, "idempotent": False}
    writes: Any = {"read_only": False, "destructive": True}
    return [
        yard_tool(runs.list_profiles),
        yard_tool(runs.create_sandbox, **changes),
        yard_tool(runs.list_sandboxes),
        yard_tool(runs.delete_sandbox, **writes),
        yard_tool(runs.execute_python, **changes, destructive=True),
        yard_tool(runs.execute_shell, **changes, destructive=True),
        yard_tool(runs.execute_browser, **changes, destructive=True),
        yard_tool(runs.execute_browser_batch, **changes, destructive=True),
        yard_tool(runs.get_execution_history),
        yard_tool(runs.get_execution),
        yard_tool(runs.get_last_execution),
        yard_tool(runs.annotate_execution, read_only=False),
        yard_tool(files.read_file),
        yard_tool(files.write_file, **writes),
        yard_tool(files.list_files),
        yard_tool(files.upload_file, **writes),
        yard_tool(files.download_file, read_only=local is None, destructive=local is not None),
        yard_tool(computer.create_session, **changes),
        yard_tool(computer.create_file, **writes, also=OTHER_NAMES),
        yard_tool(computer.run_shell, **changes, destructive=True),
        yard_tool(computer.delete_file, **writes, also=OTHER_NAMES),
        yard_tool(computer.delete_session, **writes),
    ]


class SandboxRuns:
    """Making sandboxes, and running things in them."""

    def __init__(self, yard: YardClient, source: SkillSource | None = None) -> None:
        self._yard = yard
        self._source = source
        self._sandboxes = yard.sandboxes

    def list_profiles(self) -> Answer:
        """The kinds of sandboxes that can be made, and what each can do."""
        return listed(
            picked(each, "id", "description", "capabilities", "resources") for each in self._sandboxes.profiles()
        )

    def create_sandbox(
        self,
        profile: Annotated[str | None, "Its kind, of those that list_profiles shows."] = None,
        ttl: Annotated[int | None, Field(description="Seconds it lives; 0: no end.", ge=0, le=_LONGEST)] = None,
        cargo_id: Annotated[str | None, "Files to begin with: a cargo of yours."] = None,
        allow: Annotated[list[str], "Endpoints it may reach, such as https://example.org; none unless named."] = [],  # noqa: B006
        skills: Skills = [],  # noqa: B006
        agent: AgentOfSkills = "",
    ) -> Answer:
        """Make a sandbox: an isolated place with files below /workspace. Delete it when you are done."""
        wanted = SkillRequest.of(self._yard, self._source, skills, agent)
        made = self._sandboxes.create(profile=profile, ttl=ttl, cargo=cargo_id, allow=allow, labels=wanted.labels)
        return {**picked(made, *_SHOWN), **wanted.put_into(self._yard, made["id"])}

    def list_sandboxes(self) -> Answer:
        """Your sandboxes, the newest first."""
        return listed(picked(each, *_SHOWN) for each in self._sandboxes.all())

    def delete_sandbox(self, sandbox_id: SandboxId) -> Answer:
        """Take a sandbox away, with its files."""
        self._sandboxes.delete(sandbox_id)
        return f"The sandbox {sandbox_id} is gone."

    def execute_python(
        self,
        sandbox_id: SandboxId,
        code: Annotated[str, "Python. Variables and imports stay for the next call."],
        timeout: Timeout = 30,
        include_code: Annotated[bool, "Answer with the code too."] = False,
        description: Note = "",
        tags: Tags = "",
        learn: Learn = False,
        max_output: MaxOutput = MAX_TEXT,
    ) -> Answer:
        """Run Python in a sandbox."""
        done = self._sandboxes.python(sandbox_id, code, timeout=timeout, learn=learn, on_output=told_output())
        self._note(sandbox_id, done, description, tags)
        return _ran(done, max_output) | ({"code": code} if include_code else {})

    def execute_shell(
        self,
        sandbox_id: SandboxId,
        command: Annotated[str, "A command line for sh."],
        cwd: Annotated[str | None, "Where it is run, relative to the workspace."] = None,
        timeout: Timeout = 30,
        include_code: Annotated[bool, "Answer with the command too."] = False,
        description: Note = "",
        tags: Tags = "",
        learn: Learn = False,
        max_output: MaxOutput = MAX_TEXT,
    ) -> Answer:
        """Run a command line in a sandbox."""
        done = self._sandboxes.shell(
            sandbox_id, command, cwd=cwd, timeout=timeout, learn=learn, on_output=told_output()
        )
        self._note(sandbox_id, done, description, tags)
        return _ran(done, max_output) | ({"command": command} if include_code else {})

    def execute_browser(
        self,
        sandbox_id: SandboxId,
        cmd: Annotated[str, 'One step, such as: open https://example.org · snapshot -i · click @e2 · fill @e3 "Ann"'],
        timeout: Timeout = 30,
        description: Note = "",
        tags: Tags = "",
        learn: Learn = False,
        include_trace: Annotated[bool, "Keep what the browser did, by a trace_ref."] = False,
    ) -> Answer:
        """Take one step in the browser of a sandbox (profile with the capability `browser`)."""
        return self._browse(
            sandbox_id, [cmd], description, tags, timeout=timeout, learn=learn, trace=include_trace, stop_on_error=True
        )

    def execute_browser_batch(
        self,
        sandbox_id: SandboxId,
        commands: Annotated[list[str], Field(description="Steps, one after the other.", min_length=1)],
        timeout: BatchTimeout = 60,
        stop_on_error: Annotated[bool, "End with the first step that fails."] = True,
        description: Note = "",
        tags: Tags = "",
        learn: Learn = False,
        include_trace: Annotated[bool, "Keep what the browser did, by a trace_ref."] = False,
    ) -> Answer:
        """Take several steps in the browser of a sandbox."""
        wish: Any = {"timeout": timeout, "stop_on_error": stop_on_error, "learn": learn, "trace": include_trace}
        return self._browse(sandbox_id, commands, description, tags, **wish)

    def get_execution_history(
        self,
        sandbox_id: SandboxId,
        exec_type: ExecType = None,
        success_only: Annotated[bool, "Only what went well."] = False,
        limit: Annotated[int, Field(ge=1, le=500)] = 20,
        offset: Annotated[int, Field(ge=0)] = 0,
        tags: Tags = "",
        has_notes: Annotated[bool, "Only with notes."] = False,
        has_description: Annotated[bool, "Only with a description."] = False,
    ) -> Answer:
        """What was run in a sandbox, the newest first."""
        which: Any = {"exec_type": exec_type, "success_only": success_only, "tags": tags or None}
        noted: Any = {"has_notes": has_notes, "has_description": has_description}
        found = self._sandboxes.history(sandbox_id, **which, **noted, limit=limit, offset=offset)
        rows = [picked(each, *_RUN) for each in found["entries"]]
        return listed(rows, total=found["total"], more="; use offset to see others, get_execution to see one whole")

    def get_execution(self, sandbox_id: SandboxId, execution_id: ExecutionId) -> Answer:
        """One execution, with its code and its output."""
        return within(self._sandboxes.execution(sandbox_id, execution_id), MAX_TEXT // 2)

    def get_last_execution(self, sandbox_id: SandboxId, exec_type: ExecType = None) -> Answer:
        """The last execution in a sandbox."""
        found = self._sandboxes.history(sandbox_id, exec_type=exec_type, limit=1)["entries"]
        kind = f" of the kind {exec_type}" if exec_type else ""
        return within(found[0], MAX_TEXT // 2) if found else f"Nothing{kind} was run in the sandbox {sandbox_id} yet."

    def annotate_execution(
        self,
        sandbox_id: SandboxId,
        execution_id: ExecutionId,
        description: Annotated[str | None, "What it was for."] = None,
        tags: Annotated[str | None, "Words to find it by, separated by commas."] = None,
        notes: Annotated[str | None, "What is worth knowing about it."] = None,
    ) -> Answer:
        """Say something beside an execution; the execution itself stays as it was."""
        return picked(
            self._sandboxes.annotate(sandbox_id, execution_id, description=description, tags=tags, notes=notes),
            *("id", "description", "tags", "notes"),
        )

    def _browse(self, sandbox_id: str, steps: list[str], description: str, tags: str, **wish: Any) -> Answer:  # noqa: ANN401 -- those of the client
        done = self._sandboxes.browse(sandbox_id, steps, **wish)
        self._note(sandbox_id, done, description, tags)
        room = MAX_TEXT // max(len(done["results"]), 1)
        results = [
            {
                "cmd": each["cmd"],
                "exit_code": each["exit_code"],
                "stdout": cut(each["stdout"], room),
                "stderr": cut(each["stderr"], room),
            }
            for each in done["results"]
        ]
        told: dict[str, Any] = {"success": done["success"], "results": results}
        return told | picked(done, "completed_steps", "total_steps", "execution_id", "trace_ref")

    def _note(self, sandbox_id: str, done: Mapping[str, Any], description: str, tags: str) -> None:
        if done.get("execution_id") and (description or tags):
            said = {"description": description or None, "tags": tags or None}
            self._sandboxes.annotate(sandbox_id, done["execution_id"], **said)


class SandboxFiles:
    """The files of sandboxes."""

    def __init__(self, yard: YardClient, local: LocalFiles) -> None:
        self._sandboxes = yard.sandboxes
        self._local = local

    def read_file(
        self,
        sandbox_id: SandboxId,
        path: WorkspacePath,
        offset: Annotated[int, Field(description="The character to begin at.", ge=0)] = 0,
    ) -> Answer:
        """Read a text file of a sandbox."""
        return window(self._sandboxes.read(sandbox_id, _inside(path)), offset)

    def write_file(
        self, sandbox_id: SandboxId, path: WorkspacePath, content: Annotated[str, "The whole text of the file."]
    ) -> Answer:
        """Write a text file in a sandbox; folders on the way are made."""
        data = content.encode("utf-8", "surrogatepass")
        self._sandboxes.upload(sandbox_id, _inside(path), data)
        return f"{path} has {len(data):,} bytes now."

    def list_files(self, sandbox_id: SandboxId, path: WorkspacePath = ".") -> Answer:
        """What is in a folder of a sandbox."""
        entries = self._sandboxes.files(sandbox_id, _inside(path))
        return listed(
            ({"path": each["path"], "kind": each["kind"], **picked(each, "size")} for each in entries),
            more="; list a folder in it",
        )

    def upload_file(
        self,
        sandbox_id: SandboxId,
        sandbox_path: Annotated[str, "Where it goes in the workspace; without it, as local_path is called."] = "",
        content_base64: Annotated[str, "The bytes of the file in base64."] = "",
        local_path: Annotated[str, "Instead of bytes: a file of your machine, where the server runs on it."] = "",
    ) -> Answer:
        """Put any file into a sandbox."""
        if bool(content_base64) == bool(local_path):
            raise InputError(
                "Give content_base64 or local_path, one of the two.", hint="For a text, write_file is simpler."
            )
        where = sandbox_path or Path(local_path).name
        if not where:
            raise InputError("sandbox_path is missing.", hint="Say where it goes.", details={"field": "sandbox_path"})
        data = self._local.read(local_path) if local_path else _decoded(content_base64)
        self._sandboxes.upload(sandbox_id, _inside(where), data)
        return {"path": where, "size": len(data)}

    def download_file(
        self,
        sandbox_id: SandboxId,
        sandbox_path: Annotated[str, "The file, relative to the workspace."],
        local_path: Annotated[str, "Where to write it on your machine, where the server runs on it."] = "",
    ) -> Answer:
        """Get any file of a sandbox: into a file of your machine, else its bytes in base64."""
        data = self._sandboxes.download(sandbox_id, _inside(sandbox_path))
        if local_path:
            return {"path": self._local.write(local_path, data), "size": len(data)}
        if len(data) > MAX_BASE64:
            raise LimitError(
                f"{sandbox_path} has {len(data):,} bytes; at most {MAX_BASE64:,} fit into an answer.",
                hint="Make it smaller in the sandbox (execute_shell: split, gzip), or read a part with read_file.",
                details={"field": "sandbox_path", "value": len(data), "limit": MAX_BASE64},
            )
        return {"path": sandbox_path, "size": len(data), "content_base64": base64.b64encode(data).decode()}


def _inside(path: str) -> str:
    """A path as a yard takes it; one elsewhere on the computer is left to the yard to refuse."""
    inside = in_workspace(path)
    return path if inside is None else inside


def _ran(done: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """What came of a run; both of its texts are always there, for no output is an answer too."""
    told: dict[str, Any] = {"success": done["success"], **picked(done, "exit_code")}
    if done.get("exit_code") == 0:
        told["exit_code"] = 0
    told["output"] = cut(done["output"], limit, more="; use max_output to see more")
    if done.get("error"):
        told["error"] = cut(done["error"], limit)
    return told | picked(done, "execution_id", "execution_time_ms")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raise InputError(
            "content_base64 is no base64.",
            hint="Use A-Z a-z 0-9 + / padded with =, without line breaks; for a text use write_file.",
            details={"field": "content_base64"},
        ) from None
