"""Answers of a size that a model can take: what is left out is said, and how to see it."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

MAX_TEXT: Final = 40_000
"""Characters of one text in an answer."""
MAX_ROWS: Final = 100
"""Rows of one list in an answer."""
MAX_FIELD: Final = 2_000
"""Characters of one text in a row of a list."""
_MAX_ANSWER: Final = 60_000
"""Characters of all rows of a list."""


def cut(text: str, limit: int = MAX_TEXT, *, more: str = "") -> str:
    """A text within a limit: its beginning and its end, and between them how much is missing."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    note = f"\n[… {len(text) - limit:,} of {len(text):,} characters are left out{more}]\n"
    return f"{text[:head]}{note}{text[len(text) - tail :]}"


def window(text: str, offset: int, limit: int = MAX_TEXT, *, argument: str = "offset") -> str:
    """The part of a text that begins at an offset, and how to read on where there is more."""
    if offset > len(text):
        return f"[… there is nothing at {offset:,}: it has {len(text):,} characters]"
    part = text[offset : offset + limit]
    end = offset + len(part)
    if end >= len(text):
        return part
    return f"{part}\n[… characters {offset:,} to {end:,} of {len(text):,}; read on with {argument}={end}]"


def within(row: Mapping[str, Any], limit: int = MAX_FIELD) -> dict[str, Any]:
    """A row whose texts, however deep in it, are within a limit."""
    return {key: _within(value, limit) for key, value in row.items()}


def listed(rows: Iterable[Mapping[str, Any]], *, total: int | None = None, more: str = "") -> dict[str, Any]:
    """Rows of a list, as many as fit, and how many there are; `more` says how to see others."""
    everything = list(rows)
    count = len(everything) if total is None else total
    kept: list[dict[str, Any]] = []
    room = _MAX_ANSWER
    for row in everything[:MAX_ROWS]:
        short = within(row)
        room -= len(json.dumps(short, ensure_ascii=False, default=str))
        if room < 0 and kept:
            break
        kept.append(short)
    answer: dict[str, Any] = {"items": kept, "total": count}
    if len(kept) < count:
        answer["shown"] = f"{len(kept)} of {count}{more}"
    return answer


def picked(row: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    """Some fields of a row, those that say something."""
    return {field: row[field] for field in fields if row.get(field) not in (None, "", [], {})}


def _within(value: Any, limit: int) -> Any:  # noqa: ANN401 -- any JSON
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, Mapping):
        return within(value, limit)  # pyright: ignore[reportUnknownArgumentType] -- JSON
    if isinstance(value, list):
        some = value[:MAX_ROWS]  # pyright: ignore[reportUnknownVariableType] -- JSON
        return [_within(each, limit) for each in some]  # pyright: ignore[reportUnknownVariableType]
    return value
