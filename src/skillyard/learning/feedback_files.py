"""Feedback in files: CSV, Excel, JSON lines and JSON, with what is wrong told line by line."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, cast

from skillyard.errors import InputError, LimitError
from skillyard.learning.feedback import FeedbackSpec
from skillyard.learning.feedback_items import NAMES, load_json, spec_of
from skillyard.learning.workbooks import read_workbook

MAX_LINES: Final = 20_000
MAX_COLUMNS: Final = 1_000
MAX_PROBLEMS: Final = 200
"""That are told; how many there are is counted in any case."""
_MARKS: Final = (
    # The longer first: the mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ENCODINGS: Final = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252", "cp1251", "koi8-r"),
    *("cp949", "euc-kr", "gb18030", "gbk", "big5", "shift_jis", "cp932", "euc-jp"),
)
"""Those that can be named where a file has no mark of its own."""
_ZIP: Final = b"PK\x03\x04"
_WORKBOOKS: Final = frozenset({".xlsx", ".xlsm"})
_OLD_WORKBOOK: Final = b"\xd0\xcf\x11\xe0"
_DELIMITERS: Final = ",;\t|"
_KNOWN: Final = frozenset(name for names in NAMES.values() for name in names)
_SPACES: Final = re.compile(r"[\s-]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class LineProblem:
    """A line that is no feedback."""

    line: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRead:
    """What a file holds."""

    specs: tuple[tuple[int, FeedbackSpec], ...]
    """Each with the line that it begins at."""
    problems: tuple[LineProblem, ...]
    ignored: tuple[str, ...] = ()
    """Columns that mean nothing here."""


def read_feedback_file(data: bytes, *, name: str = "", encoding: str | None = None) -> FileRead:
    """All feedback in a file. What is no feedback is told with its line; its neighbours are read."""
    if data.startswith(_ZIP):
        return _read_workbook(data)
    text = _decoded(data, name, encoding)
    begins = text.lstrip()[:1]
    if begins == "[":
        return _read(enumerate(_array(text), 1))
    if begins == "{" or PurePath(name.lower()).suffix in {".jsonl", ".ndjson"}:
        return _read(_lines(text))
    return _read_csv(text)


def _read(items: Iterator[tuple[int, object]], ignored: tuple[str, ...] = ()) -> FileRead:
    specs: list[tuple[int, FeedbackSpec]] = []
    problems: list[LineProblem] = []
    for line, item in items:
        if len(specs) + len(problems) == MAX_LINES:
            raise LimitError(
                f"The file has more than {MAX_LINES:,} lines.",
                hint="Split it; lines that came before are not taken twice.",
                details={"field": "file", "limit": MAX_LINES},
            )
        try:
            specs.append((line, spec_of(_object(item))))
        except InputError as error:
            problems.append(LineProblem(line=line, message=f"{error.message} {error.hint}".strip()))
    return FileRead(specs=tuple(specs), problems=tuple(problems), ignored=ignored)


def _object(item: object) -> Mapping[str, Any]:
    if isinstance(item, InputError):
        raise item
    if not isinstance(item, dict):
        raise InputError("It is no JSON object.", hint='Write {"content": "…"}.')
    return cast("dict[str, Any]", item)


def _array(text: str) -> list[object]:
    try:
        return load_json(text)
    except ValueError as error:
        raise InputError(f"The file is no JSON: {error}.", hint="Write one list of objects.") from error


def _lines(text: str) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, load_json(line)
            except ValueError as error:
                yield number, InputError(f"The line is no JSON: {error}.", hint="Write one object in each line.")


def _read_csv(text: str) -> FileRead:
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=lambda each: len(_KNOWN & {_column(name) for name in first.split(each)}))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    empty: list[str] = []
    columns, ignored = _columns(next(reader, empty))
    return _read(_rows(reader, columns), ignored)


def _read_workbook(data: bytes) -> FileRead:
    rows = read_workbook(data, max_rows=MAX_LINES + 2)  # with the names of the columns, and one to be too many
    columns, ignored = _columns(rows[0][1] if rows else [])
    return _read(((number, _named(columns, cells)) for number, cells in rows[1:]), ignored)


def _columns(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The columns by their names, and those that mean nothing."""
    if len(names) > MAX_COLUMNS:
        raise LimitError(
            f"The file has more than {MAX_COLUMNS:,} columns.",
            hint="Keep those that are feedback: one called content is enough.",
            details={"field": "file", "limit": MAX_COLUMNS},
        )
    columns = [_column(name) for name in names]
    twice = sorted(name for name, count in Counter(columns).items() if name and count > 1)
    if twice or not set(NAMES["content"]) & set(columns):
        problem = f"two columns are called {twice[0]!r}" if twice else "no column is called content or feedback"
        raise InputError(
            f"The file cannot be read: {problem}.",
            hint=f"Begin it with a line of column names, of {', '.join(sorted(_KNOWN))}.",
            details={"field": "file", "value": columns[:50]},
        )
    return columns, tuple(name for name in columns if name and name not in _KNOWN)


def _rows(reader: Any, columns: list[str]) -> Iterator[tuple[int, object]]:  # noqa: ANN401 -- the reader has no name
    while True:
        line = reader.line_num + 1
        try:
            cells: list[str] = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, InputError(f"The line cannot be read: {error}.", hint="Quote cells of several lines.")
            continue
        if any(cell.strip() for cell in cells):
            yield line, _named(columns, cells)


def _named(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return {name: cell for name, cell in zip(columns, cells, strict=False) if name and cell.strip()}


def _column(name: str) -> str:
    return _SPACES.sub("_", name.strip().strip('"').lower())


def _decoded(data: bytes, name: str, encoding: str | None) -> str:
    if data.startswith(_OLD_WORKBOOK):
        raise InputError(
            f"{name or 'The file'} is an old Excel workbook, or one with a password, which is not read.",
            hint="Save it as .xlsx or as CSV (UTF-8), and send that.",
            details={"field": "file"},
        )
    if PurePath(name.lower()).suffix in _WORKBOOKS:
        raise InputError(
            f"{name} is called an Excel workbook, and is none.",
            hint="Save it as .xlsx or as CSV (UTF-8), and send that.",
            details={"field": "file"},
        )
    marked = next((each for mark, each in _MARKS if data.startswith(mark)), None)
    wanted = marked or (encoding or "utf-8").lower()
    try:
        if marked is None and wanted not in ENCODINGS:
            raise LookupError("that encoding is not read")
        return data.decode(wanted)
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(
            f"{name or 'The file'} cannot be read as {wanted[:40]!r}: {error}.",
            hint=f"Save it as UTF-8, or name its encoding: one of {', '.join(ENCODINGS)}.",
            details={"field": "encoding", "value": wanted[:40]},
        ) from error
