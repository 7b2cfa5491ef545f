"""The session logs of Claude Code: one JSON object a line, with the messages as the model's API has them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from skillyard.agents.session_logs.json_access import each, mapping, moment, said, text
from skillyard.agents.session_logs.log_events import How, LogEvent, LoggedRun, SkillUse
from skillyard.agents.session_logs.skill_paths import is_skill_file
from skillyard.agents.session_logs.tool_uses import OpenCalls, read_use, served_use, uses_in_command
from skillyard.sandbox.executions import MAX_CODE, MAX_NOTE, ExecType

USE_MARKS: Final = (b'"tool_use"', b"<command-name>", b"Base directory for this skill:", b"Unknown skill")
"""A line without any of these tells of no use of a skill."""
MARKS: Final = (*USE_MARKS, b'"tool_result"')
"""A line without any of these tells nothing that is looked for."""
_EXIT: Final = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})\n?")
_NOT_RUN: Final = (
    "The user doesn't want to",
    "User rejected",
    "Permission to use",
    "<tool_use_error>",
    "[Request interrupted by user for tool use]",
    "This command requires approval",
)
_COMMAND: Final = re.compile(r"<command-name>(/?)([^<\s]{1,200})</command-name>")
_HEAD: Final = 4096
"""Characters in which something telling stands."""
_BASE: Final = re.compile(r"\s*Base directory for this skill: ([^\n]{1,4096})")


class _Open(NamedTuple):
    """A command whose end is not told yet."""

    command: str
    description: str
    at: datetime
    folder: str


class ClaudeLog:
    """Reads one log, entry by entry."""

    def __init__(self) -> None:
        self._open = OpenCalls[_Open]()
        self._asked = OpenCalls[SkillUse]()
        """Skills that were called, by the id of the call."""
        self._called = OpenCalls[SkillUse]()
        """The last use of each skill that was called or typed, by the last part of its name."""

    def take(self, entry: Mapping[str, Any]) -> Iterator[LogEvent]:
        """What one entry tells."""
        at, session = moment(entry.get("timestamp")), text(entry.get("sessionId"))
        if at is None or not session:
            return
        content = mapping(entry.get("message")).get("content")
        own_id = text(entry.get("uuid"))
        if isinstance(content, str):
            if entry.get("type") == "user":
                yield from self._typed(content, own_id, session, at)
            return
        blocks = list(each(content))
        # Beside several results, nothing says whose streams these are.
        result = mapping(entry.get("toolUseResult") if _count(blocks, "tool_result") == 1 else None)
        denied = bool(entry.get("toolDenialKind"))
        for number, block in enumerate(blocks):
            kind = block.get("type")
            if kind == "tool_use":
                yield from self._call(block, entry, session, at)
            elif kind == "tool_result":
                yield from self._end(block, result, session, at, denied=denied)
            elif kind == "text" and entry.get("type") == "user":
                words = text(block.get("text"))
                # Of the skills that a subagent begins with, one entry tells in several blocks.
                yield from self._typed(words, f"{own_id}/{number}" if own_id and number else own_id, session, at)
                yield from self._placed(words)

    def _call(
        self, block: Mapping[str, Any], entry: Mapping[str, Any], session: str, at: datetime
    ) -> Iterator[LogEvent]:
        name, own_id, given = text(block.get("name")), text(block.get("id")), mapping(block.get("input"))
        folder = text(entry.get("cwd"))
        if not own_id:
            return
        if name == "Bash":
            self._wait(own_id, given, folder, at)
            yield from uses_in_command(own_id, text(given.get("command")), session, at, folder)
        elif name == "Skill":
            called = text(given.get("skill")) or text(given.get("command"))
            use = SkillUse(id=own_id, name=called.lstrip("/"), how=How.CALLED, session=session, at=at)
            if use.name:
                self._asked.put(own_id, use)
                self._called.put(_last(use.name), use)
                yield use
        elif name == "Read" and is_skill_file(text(given.get("file_path"))):
            yield read_use(own_id, text(given.get("file_path")), session, at, folder)
        elif served := served_use(own_id, name, given, session, at):
            yield served

    def _wait(self, own_id: str, given: Mapping[str, Any], folder: str, at: datetime) -> None:
        command = text(given.get("command"))
        if command.strip() and given.get("run_in_background") is not True:
            description = text(given.get("description"))[:MAX_NOTE]
            self._open.put(own_id, _Open(command[: MAX_CODE + 1], description, at, folder))

    def _end(
        self, block: Mapping[str, Any], result: Mapping[str, Any], session: str, at: datetime, *, denied: bool
    ) -> Iterator[LogEvent]:
        own_id, words = text(block.get("tool_use_id")), said(block.get("content"))
        failed = block.get("is_error") is True
        asked = self._asked.pop(own_id)
        if asked is not None and failed and "Unknown skill" in words[:_HEAD]:
            yield replace(asked, how=How.MISSED)
        begun = self._open.pop(own_id)
        if begun is None:
            return
        if denied or result.get("backgroundTaskId") or (failed and words.lstrip().startswith(_NOT_RUN)):
            return
        interrupted = result.get("interrupted") is True
        exit_code = None if interrupted else 0
        if failed:
            told = _EXIT.match(words)
            exit_code = int(told[1]) if told else None
            words = words[told.end() :] if told else words
        has_streams = "stdout" in result
        yield LoggedRun(
            id=own_id,
            session=session,
            exec_type=ExecType.SHELL,
            code=begun.command,
            success=not failed and not interrupted,
            exit_code=exit_code,
            output=text(result.get("stdout")) if has_streams else ("" if failed else words),
            error=(text(result.get("stderr")) if has_streams else words if failed else "") or None,
            milliseconds=max(0, round((at - begun.at).total_seconds() * 1000)),
            at=begun.at,
            folder=begun.folder,
            description=begun.description,
            interrupted=interrupted,
        )

    def _typed(self, words: str, own_id: str, session: str, at: datetime) -> Iterator[LogEvent]:
        """A command that a person typed; whether it is a skill, what is on disk says."""
        if "<command-name>" not in words or not own_id:
            return
        found = _COMMAND.search(words[:_HEAD])
        if found is None:
            return
        slash, name = found[1], found[2]
        if not slash and _last(name) in self._called:
            return  # older logs announce in this way, too, what the agent has just called
        use = SkillUse(id=own_id, name=name, how=How.TYPED, session=session, at=at)
        self._called.put(_last(name), use)
        yield use

    def _placed(self, words: str) -> Iterator[LogEvent]:
        """Where the skill is that was called or typed before."""
        found = _BASE.match(words)
        if found is None:
            return
        folder = found[1].strip().rstrip("/\\")
        use = self._called.pop(_last(folder.replace("\\", "/").rpartition("/")[2]))
        if use is not None:
            yield replace(use, path=f"{folder}/SKILL.md")


def _count(blocks: Sequence[Mapping[str, Any]], kind: str) -> int:
    return sum(block.get("type") == kind for block in blocks)


def _last(name: str) -> str:
    """A skill of a plugin is called `plugin:skill`."""
    return name.rpartition(":")[2].casefold()
