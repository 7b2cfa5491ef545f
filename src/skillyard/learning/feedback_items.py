"""Feedback out of what others keep it in: rows of files and tables, objects of JSON."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NoReturn, cast
from uuid import UUID

from skillyard.errors import InputError
from skillyard.learning.feedback import FeedbackSpec

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "content": ("content", "feedback"),
    "task": ("task",),
    "description": ("description",),
    "events": ("events",),
    "agents": ("agents", "agent"),
    "user": ("user", "user_id"),
    "time": ("time",),
    "event_id": ("event_id",),
}
"""What each part of feedback may be called; the first that an item has counts."""
_BETWEEN: Final = re.compile(r"[;,\n]")
_SHOWN: Final = 100
_MOST_DIGITS: Final = 4_000
"""Of a whole number; Python converts little more."""


def spec_of(item: Mapping[str, Any]) -> FeedbackSpec:
    """The feedback that an item says; what is wrong with it is an `InputError` that names the field."""
    for text in _texts(item):
        _require_storable(text)
    given = {field: next((item[name] for name in names if name in item), None) for field, names in NAMES.items()}
    return FeedbackSpec(
        content=_text("content", given["content"]),
        task=_text("task", given["task"]),
        description=_text("description", given["description"]),
        events=_events(given["events"]),
        agents=_agents(given["agents"]),
        user=_text("user", given["user"]),
        time=time_of(given["time"]),
        event_id=_text("event_id", given["event_id"]) or None,
    )


def time_of(given: object) -> datetime | None:
    """A moment as ISO 8601 or in seconds since 1970; one without a zone is in UTC."""
    if given is None or given == "":
        return None
    try:
        moment = _moment(given)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return _refuse("time", given, "is no time", "Write it as 2026-01-31T09:00:00+09:00.")


def _moment(given: object) -> datetime:
    if isinstance(given, datetime):
        return given
    if isinstance(given, str):
        return datetime.fromisoformat(given.strip())
    if isinstance(given, int | float) and not isinstance(given, bool):
        return datetime.fromtimestamp(given, UTC)
    raise TypeError(type(given).__name__)


def _text(field: str, given: object) -> str:
    if given is None:
        return ""
    if isinstance(given, str):
        return given if field == "content" else given.strip()
    if isinstance(given, UUID | Decimal):  # as tables have them
        return str(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        _refuse(field, given, "is no text", "Give a text.")
    return str(given)


def _events(given: object) -> Sequence[Any]:
    if isinstance(given, str):
        text = given.strip()
        return _json_list("events", text) if text.startswith("[") else ([text] if text else [])
    if given is None:
        return []
    if not isinstance(given, list):
        _refuse("events", given, "is no list", "Give a list of what happened.")
    return cast("list[Any]", given)


def _agents(given: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(given, str):
        text = given.strip()
        given = _json_list("agents", text) if text.startswith("[") else _BETWEEN.split(text)
    if given is None:
        return []
    if not isinstance(given, list):
        given = [given]
    named = [_agent(each) for each in cast("list[object]", given)]
    return [agent for agent in named if agent["id"]]


def _agent(given: object) -> Mapping[str, Any]:
    if isinstance(given, str):
        return {"id": given.strip()}
    agent = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    if not isinstance(agent.get("id"), str):
        _refuse(
            "agents",
            cast("object", given),
            "names no agent",
            'Write "support-1", or {"id": "support-1", "name": "Support"}.',
        )
    return agent


def _json_list(field: str, text: str) -> list[Any]:
    try:
        return load_json(text)
    except ValueError:
        _refuse(field, text, "is no JSON", "Write a list, such as [].")


def load_json(text: str) -> Any:  # noqa: ANN401 -- any JSON
    """JSON that can be kept: `ValueError` for anything else."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_int=_whole_number)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits, of at most {_MOST_DIGITS:,}")
    return int(digits)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number that JSON knows")


def _texts(value: object) -> Iterator[str]:
    waiting: list[object] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping):
            for key, item in cast("Mapping[object, object]", each).items():
                waiting += (key, item)
        elif isinstance(each, list | tuple):
            waiting += cast("Sequence[object]", each)


def _require_storable(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse("text", text, "holds half of a character", "Write it again in UTF-8.")
    if "\0" in text:
        _refuse("text", text, "holds a zero byte", "Remove it.")


def _refuse(field: str, given: object, problem: str, fix: str) -> NoReturn:
    shown = repr(given)[:_SHOWN]
    raise InputError(f"{field}: {shown} {problem}.", hint=fix, details={"field": field, "value": shown})
