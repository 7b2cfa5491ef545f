"""How a command ended, as Codex wrote it for the model: in a handful of forms over time."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from skillyard.agents.session_logs.json_access import mapping, said, text, whole

_EXIT: Final = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)
_TIME: Final = re.compile(r"^Wall time: (\d{1,9}(?:\.\d{1,9})?) seconds$", re.MULTILINE)
_OUTPUT: Final = re.compile(r"^Output:\n?", re.MULTILINE)
_HEAD: Final = 4096
"""Characters in which the head of an output stands."""


class Ended(NamedTuple):
    """A command that is over."""

    exit_code: int
    output: str
    error: str = ""
    milliseconds: int | None = None


def ended_call(output: object) -> Ended | None:
    """The end that the output of a call tells; None where it runs on, or where nothing says how it ended."""
    words = said(mapping(output).get("content", output))
    if words.startswith("{"):
        return _of_json(words)
    head = _OUTPUT.search(words[:_HEAD])
    if head is None:
        return None
    told = words[: head.start()]
    exit_code = _EXIT.search(told)
    if exit_code is None:
        return None
    seconds = _TIME.search(told)
    milliseconds = round(float(seconds[1]) * 1000) if seconds else None
    return Ended(int(exit_code[1]), words[head.end() :], milliseconds=milliseconds)


def ended_command(event: Mapping[str, Any]) -> Ended | None:
    """The end that an event tells."""
    exit_code = whole(event.get("exit_code"))
    if exit_code is None:
        return None
    duration = mapping(event.get("duration"))
    seconds, nanos = whole(duration.get("secs")), whole(duration.get("nanos"))
    milliseconds = None if seconds is None else seconds * 1000 + (nanos or 0) // 1_000_000
    streams = text(event.get("stdout")), text(event.get("stderr"))
    if any(streams):
        return Ended(exit_code, *streams, milliseconds=milliseconds)
    return Ended(exit_code, text(event.get("aggregated_output")), milliseconds=milliseconds)


def _of_json(words: str) -> Ended | None:
    try:
        document = mapping(json.loads(words))
    except (ValueError, RecursionError):
        return None
    metadata = mapping(document.get("metadata"))
    exit_code, seconds = whole(metadata.get("exit_code")), metadata.get("duration_seconds")
    if exit_code is None:
        return None
    milliseconds = round(seconds * 1000) if isinstance(seconds, int | float) and 0 <= seconds < 10**9 else None
    return Ended(exit_code, text(document.get("output")), milliseconds=milliseconds)
