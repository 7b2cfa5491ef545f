"""Values in terms of others: the same value once more, or within a longer text."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias

from skillyard.releases.mining.acts import Ref, Template

Row: TypeAlias = tuple[str | None, ...]
"""What stood in one place, for each time that the task was done; None where the place was not there."""
_DATE: Final = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_WORDS: Final = re.compile(r"\S+|\s+")
_TOKEN: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\d+\.\d+|[^\W_]+|.",
    re.DOTALL,
)


def expressed(row: Row, known: Mapping[str, Row], at: int) -> Template | None:
    """A text with the variables in it whose values it holds each time; None if that does not explain all of it.

    `at` is the time whose text is made a template of.
    """
    text = row[at]
    if not text:
        return None
    whole = next((name for name, values in known.items() if _agree(row, values)), None)
    if whole is not None:
        return (Ref(whole, text),)
    template: Template = (text,)
    within = [name for name, values in known.items() if is_within(row, values, at)]
    for name in sorted(within, key=lambda name: len(known[name][at] or ""), reverse=True):
        template = substituted(template, name, known[name][at] or "")
    if not any(isinstance(part, Ref) for part in template):
        return None
    return template if all(_filled(template, known, time) == value for time, value in _given(row)) else None


def substituted(template: Template, name: str, value: str) -> Template:
    """A template with a variable wherever its value stands, but not within a longer word."""
    parts: list[str | Ref] = []
    for part in template:
        if isinstance(part, Ref):
            parts.append(part)
            continue
        pieces = whole_word(value).split(part)
        for index, piece in enumerate(pieces):
            if index:
                parts.append(Ref(name, value))
            if piece:
                parts.append(piece)
    return tuple(parts)


def whole_word(value: str) -> re.Pattern[str]:
    """Finds a value where it is not part of a longer word or number."""
    before = r"(?<![A-Za-z0-9])" if value[:1].isascii() and value[:1].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if value[-1:].isascii() and value[-1:].isalnum() else ""
    return re.compile(before + re.escape(value) + after)


def rendered(template: Template, value_of: Callable[[str], str | None]) -> str | None:
    """The text that a template stands for; None if a value is not known."""
    parts: list[str] = []
    for part in template:
        value = value_of(part.name) if isinstance(part, Ref) else part
        if value is None:
            return None
        parts.append(value)
    return "".join(parts)


def core_of(row: Row) -> tuple[str, Row, str] | None:
    """What stands before and after the part that differs, and that part; None where nothing stands around it."""
    return _around_core(row, _TOKEN)


def words_around(row: Row) -> tuple[str, Row, str] | None:
    """The same with whole words: of `Edit INV-1` and `Edit INV-2` the part that differs is `INV-1`."""
    return _around_core(row, _WORDS)


def _around_core(row: Row, pieces: re.Pattern[str]) -> tuple[str, Row, str] | None:
    split = [pieces.findall(value) for _, value in _given(row)]
    if not split:
        return None
    shortest = min(map(len, split))
    first = _common(split, shortest)
    last = _common([tokens[::-1] for tokens in split], shortest - first)
    before, after = "".join(split[0][:first]), "".join(split[0][len(split[0]) - last :])
    if not before and not after:
        return None
    cores = tuple(None if value is None else value[len(before) : len(value) - len(after)] for value in row)
    return (before, cores, after) if all(core != "" for core in cores) else None


def shared_dates(rows: Collection[Row]) -> list[Row]:
    """Dates that stand within several texts; where one is a value by itself, it is known by that."""
    counted = Counter(dates for row in dict.fromkeys(rows) if (dates := _dates(row)) and differs(dates))
    return [dates for dates, count in counted.items() if count > 1 and dates not in rows]


def _dates(row: Row) -> Row | None:
    """The one date in each text; None where one has none, or more."""
    found = [None if value is None else _DATE.findall(value) for value in row]
    if any(dates is not None and len(dates) != 1 for dates in found):
        return None
    return tuple(dates[0] if dates else None for dates in found)


def differs(row: Row) -> bool:
    return len({value for _, value in _given(row)}) > 1


def _common(split: Sequence[Sequence[str]], most: int) -> int:
    count = 0
    while count < most and len({tokens[count] for tokens in split}) == 1:
        count += 1
    return count


def _given(row: Row) -> list[tuple[int, str]]:
    return [(time, value) for time, value in enumerate(row) if value is not None]


def _agree(row: Row, values: Row) -> bool:
    """Whether two places held the same, whenever both were there."""
    both = [(one, other) for one, other in zip(row, values, strict=True) if one is not None and other is not None]
    return bool(both) and all(one == other for one, other in both)


def is_within(row: Row, values: Row, at: int) -> bool:
    """Whether a text held the value of a variable every time."""
    if not values[at]:
        return False
    return all(
        value is not None and value != "" and whole_word(value).search(text) is not None
        for text, value in ((text, values[time]) for time, text in _given(row))
    )


def _filled(template: Template, known: Mapping[str, Row], time: int) -> str | None:
    return rendered(template, lambda name: known[name][time])
