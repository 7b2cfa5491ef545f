"""Session logs as agents write them."""

import json
from pathlib import Path

import pytest

from skillyard.library.roots import Machine


class ClaudeSession:
    """A log of Claude Code, entry by entry."""

    def __init__(self, session="aaaa-1", folder="/work/app"):
        self.session = session
        self.folder = folder
        self.entries = []

    def add(self, kind, content, **more):
        second = len(self.entries)
        self.entries.append(
            {
                "parentUuid": None,
                "isSidechain": False,
                "type": kind,
                "sessionId": self.session,
                "cwd": self.folder,
                "version": "2.1.241",
                "uuid": f"{self.session}-{second}",
                "timestamp": f"2026-11-15T10:{second // 60:02}:{second % 60:02}.000Z",
                "message": {"role": kind, "content": content},
                **more,
            }
        )
        return self

    def call(self, own_id, tool, /, **given):
        return self.add("assistant", [{"type": "tool_use", "id": own_id, "name": tool, "input": given}])

    def result(self, own_id, content, *, is_error=False, **more):
        block = {"type": "tool_result", "tool_use_id": own_id, "content": content, "is_error": is_error}
        return self.add("user", [block], **more)

    def ran(self, command, output="", own_id=None):
        own_id = own_id or f"toolu_{self.session}_{len(self.entries)}"
        told = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.call(own_id, "Bash", command=command).result(own_id, output, toolUseResult=told)


class CodexSession:
    """A rollout of Codex."""

    def __init__(self, session="cdx-1", folder="/work/app"):
        self.entries = []
        self.add("session_meta", id=session, cwd=folder, cli_version="0.132.0")

    def add(self, kind, **payload):
        second = len(self.entries)
        at = f"2026-11-15T11:{second // 60:02}:{second % 60:02}.000Z"
        self.entries.append({"timestamp": at, "type": kind, "payload": payload})
        return self

    def call(self, own_id, tool, /, **given):
        arguments = json.dumps(given)
        return self.add("response_item", type="function_call", name=tool, arguments=arguments, call_id=own_id)

    def output(self, own_id, output):
        return self.add("response_item", type="function_call_output", call_id=own_id, output=output)


@pytest.fixture
def claude():
    return ClaudeSession


@pytest.fixture
def codex():
    return CodexSession


class Home:
    """A home folder with logs and skills in it."""

    def __init__(self, path: Path):
        self.path = path
        self.machine = Machine(home=path, cwd=path, env={})

    def write(self, session, name="one"):
        text = "".join(json.dumps(entry) + "\n" for entry in session.entries)
        path = f".claude/projects/-work-app/{name}.jsonl"
        if isinstance(session, CodexSession):
            path = f".codex/sessions/2026/11/15/rollout-2026-11-15T11-00-00-{name}.jsonl"
        return self.put(path, text)

    def put(self, path, text):
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def skill(self, name, folder=".claude/skills"):
        text = f"---\nname: {name}\ndescription: Does it.\nmetadata:\n  version: 1.2.0\n---\n\n# Do it\n"
        return self.put(f"{folder}/{name}/SKILL.md", text)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)
