"""The session logs of Codex: rollouts, with calls and their outputs as the model's API has them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from skillyard.agents.session_logs.codex_output import Ended, ended_call, ended_command
from skillyard.agents.session_logs.json_access import each, mapping, moment, text, texts
from skillyard.agents.session_logs.log_events import How, LogEvent, LoggedRun, SkillUse
from skillyard.agents.session_logs.tool_uses import OpenCalls, served_use, uses_in_command
from skillyard.sandbox.executions import MAX_CODE, ExecType

USE_MARKS: Final = (
    *(b'"session_meta"', b'"instructions"', b'"turn_context"', b'"function_call"', b'"local_shell_call"'),
    *(b'"exec_command_end"', b'"CommandExecution"', b'"McpToolCall"', b"<skill>"),
)
"""A line without any of these tells of no use of a skill, nor of which session it would be."""
MARKS: Final = (*USE_MARKS, b"_call_output")
"""A line without any of these tells nothing that is looked for."""
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "fish"})
_PYTHONS: Final = re.compile(r"python(?:\d(?:\.\d+)?)?")
_SKILL: Final = re.compile(r"\s*<skill>\s*<name>([^<]{1,200})</name>\s*<path>([^<]{1,4096})</path>")
_COMMANDS: Final = frozenset({"shell", "shell_command", "exec_command", "container.exec", "local_shell"})


class _Open(NamedTuple):
    """A command whose end is not told yet."""

    exec_type: ExecType
    code: str
    at: datetime
    folder: str


class CodexLog:
    """Reads one rollout, entry by entry."""

    def __init__(self) -> None:
        self._session = ""
        self._folder = ""
        self._at: datetime | None = None
        self._open = OpenCalls[_Open]()
        self._ended = OpenCalls[datetime]()

    def take(self, entry: Mapping[str, Any]) -> Iterator[LogEvent]:
        """What one entry tells. The first rollouts had bare items, without times of their own."""
        self._at = moment(entry.get("timestamp")) or self._at
        kind, item = text(entry.get("type")), mapping(entry.get("payload"))
        if not item:
            kind, item = ("session_meta", entry) if not kind and entry.get("id") else ("response_item", entry)
        if kind == "session_meta":
            # A fork begins with the entries of the session that it comes from: theirs is its first line, too.
            self._session = self._session or text(item.get("id"))
            self._folder = text(item.get("cwd")) or self._folder
        elif kind == "turn_context":
            self._folder = text(item.get("cwd")) or self._folder
        elif self._at is not None and self._session:
            yield from self._item(item, self._session, self._at)

    def _item(self, item: Mapping[str, Any], session: str, at: datetime) -> Iterator[LogEvent]:
        kind, own_id = text(item.get("type")), text(item.get("call_id")) or text(item.get("id"))
        if kind == "function_call":
            yield from self._call(own_id, _tool(item), _arguments(item), session, at)
        elif kind == "local_shell_call":
            action = mapping(item.get("action"))
            given = {"command": action.get("command"), "workdir": action.get("working_directory")}
            yield from self._call(own_id, "local_shell", given, session, at)
        elif kind in {"function_call_output", "local_shell_call_output"}:
            yield from self._end(own_id, ended_call(item.get("output")), session, at)
        elif kind == "exec_command_end":
            yield from self._ended_command(own_id, item, session, at)
        elif kind == "item_completed":
            yield from self._completed(mapping(item.get("item")), session, at)
        elif kind == "message" and item.get("role") == "user":
            yield from self._given(item, session, at)

    def _call(self, own_id: str, name: str, given: Mapping[str, Any], session: str, at: datetime) -> Iterator[LogEvent]:
        if not own_id:
            return
        if name in _COMMANDS:
            exec_type, code = _code(given.get("cmd", given.get("command")))
            if not code.strip():
                return
            folder = text(given.get("workdir")) or self._folder
            self._open.put(own_id, _Open(exec_type, code[: MAX_CODE + 1], at, folder))
            yield from uses_in_command(own_id, code, session, at, folder)
        elif served := served_use(own_id, name, given, session, at):
            yield served

    def _end(self, own_id: str, end: Ended | None, session: str, at: datetime) -> Iterator[LogEvent]:
        begun = self._open.pop(own_id)
        if begun is None or end is None:
            return
        self._ended.put(own_id, at)
        measured = round((at - begun.at).total_seconds() * 1000) if end.milliseconds is None else end.milliseconds
        yield LoggedRun(
            id=own_id,
            session=session,
            exec_type=begun.exec_type,
            code=begun.code,
            success=end.exit_code == 0,
            exit_code=end.exit_code,
            output=end.output,
            error=end.error or None,
            milliseconds=max(0, measured),
            at=begun.at,
            folder=begun.folder,
        )

    def _completed(self, item: Mapping[str, Any], session: str, at: datetime) -> Iterator[LogEvent]:
        """What newer rollouts tell of a call that is over, also of one that some code of the agent's made."""
        kind, own_id = text(item.get("type")), text(item.get("id"))
        if kind == "CommandExecution":
            yield from self._ended_command(own_id, item, session, at)
        elif kind == "McpToolCall":
            tool = f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}"
            yield from self._call(own_id, tool, mapping(item.get("arguments")), session, at)

    def _ended_command(self, own_id: str, event: Mapping[str, Any], session: str, at: datetime) -> Iterator[LogEvent]:
        """A command that is over. One that some code of the agent's began is told by its end alone."""
        exec_type, code = _code(event.get("command"))
        if own_id and code.strip() and own_id not in self._open and own_id not in self._ended:
            folder = _local_path(text(event.get("cwd"))) or self._folder
            self._open.put(own_id, _Open(exec_type, code[: MAX_CODE + 1], at, folder))
            yield from uses_in_command(own_id, code, session, at, folder)
        yield from self._end(own_id, ended_command(event), session, at)

    def _given(self, item: Mapping[str, Any], session: str, at: datetime) -> Iterator[LogEvent]:
        """A skill whose text was put into the conversation, since someone named it."""
        for part in each(item.get("content")):
            found = _SKILL.match(text(part.get("text"))[:8192])
            if found:
                name, path = found[1].strip(), found[2].strip()
                own_id = f"{session}/{at.isoformat()}/{name}"
                yield SkillUse(id=own_id, name=name, how=How.CALLED, session=session, at=at, path=path)


def _tool(call: Mapping[str, Any]) -> str:
    """The name of a tool, with that of its server where it has one."""
    name, namespace = text(call.get("name")), text(call.get("namespace"))
    return f"{namespace.rstrip('_')}__{name}" if namespace else name


def _arguments(item: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return mapping(json.loads(text(item.get("arguments"))))
    except (ValueError, RecursionError):
        return {}


def _code(command: object) -> tuple[ExecType, str]:
    """What was run: a command line, or the words of one, which a shell or Python may have been given whole."""
    if isinstance(command, str):
        return ExecType.SHELL, command
    words = texts(command)
    if len(words) == 3 and _program(words[0]) in _SHELLS and _is_code_option(words[1]):  # noqa: PLR2004 -- sh -c CODE
        return ExecType.SHELL, words[2]
    if len(words) == 3 and _PYTHONS.fullmatch(_program(words[0])) and words[1] == "-c":  # noqa: PLR2004 -- as above
        return ExecType.PYTHON, words[2]
    return ExecType.SHELL, _joined(words)


def _local_path(folder: str) -> str:
    """A folder, which newer rollouts name by its address."""
    if not folder.startswith("file://"):
        return folder
    from urllib.parse import unquote, urlsplit  # noqa: PLC0415 -- few logs need it

    try:
        return unquote(urlsplit(folder).path)
    except ValueError:
        return ""


def _joined(words: Sequence[str]) -> str:
    import shlex  # noqa: PLC0415 -- few logs need it

    return shlex.join(words)


def _program(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2]


def _is_code_option(word: str) -> bool:
    return word.startswith("-") and word.endswith("c") and len(word) <= 4  # noqa: PLR2004 -- -c, -lc, -ilc
