"""The first sheet of an Excel workbook as rows of text; nothing in it is executed, and its size has bounds."""

import io
import re
import zipfile
import zlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NoReturn, TypeAlias
from xml.parsers import expat

from skillyard.errors import InputError, LimitError

MAX_BYTES: Final = 64 * 1024 * 1024
"""That all read parts of a workbook may have together when they are unpacked."""
MAX_COLUMNS: Final = 100
_MAX_TEXT: Final = 100_000
"""Characters that are kept of one cell: more than anything here takes."""
_WORKBOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_STRINGS: Final = "xl/sharedStrings.xml"
_STYLES: Final = "xl/styles.xml"
_DATES: Final = frozenset([*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)])
"""The numbers of the formats that come with Excel and show a date or a time."""
_DATE_CODE: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|General', re.IGNORECASE)
_REFERENCE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_EPOCH: Final = datetime(1899, 12, 30)  # noqa: DTZ001 -- a sheet knows no zones
_SINCE_1904: Final = 1462
"""Days by which workbooks that count from 1904 are behind."""
_LAST_DAY: Final = 2_958_466

Attributes: TypeAlias = Mapping[str, str]
Rows: TypeAlias = list[tuple[int, list[str]]]
"""Each with its number in the sheet; what is empty is left out at the end of a row, and of the sheet."""


def read_workbook(data: bytes, *, max_rows: int) -> Rows:
    """The rows of the first sheet that are not empty, at most so many."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _Book(archive).rows(max_rows)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        _refuse(f"it cannot be unpacked ({error})")


class _Book:
    """The parts of a workbook, which share one limit."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = set(archive.namelist())
        self._left = MAX_BYTES

    def rows(self, max_rows: int) -> Rows:
        if _WORKBOOK not in self._names:
            _refuse("it is a ZIP file, but no workbook")
        book = _Listed("sheet", "workbookPr")
        self._parse(_WORKBOOK, book)
        sheets = [each for each in book.found["sheet"] if each.get("state", "visible") == "visible"]
        if not sheets:
            _refuse("no sheet of it can be seen")
        shift = any(each.get("date1904") in {"1", "true"} for each in book.found["workbookPr"])
        strings = _Strings()
        self._parse(_STRINGS, strings)
        styles = _Styles()
        self._parse(_STYLES, styles)
        sheet = _Sheet(strings.texts, styles.dates, shift=_SINCE_1904 if shift else 0, max_rows=max_rows)
        self._parse(self._place_of(sheets[0]), sheet)
        return sheet.rows

    def _place_of(self, sheet: Attributes) -> str:
        relations = _Listed("Relationship")
        self._parse(_RELATIONS, relations)
        wanted = next((value for key, value in sheet.items() if key.endswith(":id")), "")
        targets = [each.get("Target", "") for each in relations.found["Relationship"] if each.get("Id") == wanted]
        places = [target.removeprefix("/") if target.startswith("/") else f"xl/{target}" for target in targets]
        if not places or places[0] not in self._names:
            _refuse("its first sheet is not in it")
        return places[0]

    def _parse(self, name: str, part: "_Part") -> None:
        """Read a part, as far as it wants to be read; one that is not there is empty."""
        if name not in self._names:
            return
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _no_doctype
        parser.StartElementHandler = lambda tag, attributes: part.start(tag.rpartition(":")[2], attributes)
        parser.EndElementHandler = lambda tag: part.end(tag.rpartition(":")[2])
        parser.CharacterDataHandler = part.text
        with self._archive.open(name) as file:
            while not part.full:
                chunk = file.read(1 << 16)
                self._left -= len(chunk)
                if self._left < 0:
                    raise LimitError(
                        f"The workbook has more than {MAX_BYTES:,} bytes when it is unpacked.",
                        hint="Split it, or save the sheet as CSV (UTF-8).",
                        details={"field": "file", "limit": MAX_BYTES},
                    )
                try:
                    parser.Parse(chunk, not chunk)
                except expat.ExpatError as error:
                    _refuse(f"{name} is not well-formed XML ({error})")
                if not chunk:
                    return


class _Part:
    """What is made of one part while it is read."""

    full = False
    """Whether the rest need not be read."""

    def start(self, tag: str, attributes: Attributes) -> None: ...

    def end(self, tag: str) -> None: ...

    def text(self, text: str) -> None: ...


class _Listed(_Part):
    """The attributes of some elements."""

    def __init__(self, *tags: str) -> None:
        self.found: dict[str, list[Attributes]] = {tag: [] for tag in tags}

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag in self.found:
            self.found[tag].append(attributes)


class _Strings(_Part):
    """The texts that cells share; how they are to be pronounced is left out."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._within: list[str] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        del attributes
        self._within.append(tag)
        if tag == "si":
            self._parts = []

    def end(self, tag: str) -> None:
        self._within.pop()
        if tag == "si":
            self.texts.append("".join(self._parts)[:_MAX_TEXT])

    def text(self, text: str) -> None:
        if self._within[-1:] == ["t"] and "rPh" not in self._within:
            self._parts.append(text)


class _Styles(_Part):
    """Which styles of cells show dates, by their number."""

    def __init__(self) -> None:
        self.dates: list[bool] = []
        self._codes: dict[str, str] = {}
        self._within_cells = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "numFmt":
            self._codes[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag == "cellXfs":
            self._within_cells = True
        elif tag == "xf" and self._within_cells:
            number = attributes.get("numFmtId", "0")
            code = _LITERAL.sub("", self._codes.get(number, ""))
            known = number.isdecimal() and int(number[:9]) in _DATES
            self.dates.append(known or bool(_DATE_CODE.search(code)))

    def end(self, tag: str) -> None:
        if tag == "cellXfs":
            self._within_cells = False


class _Sheet(_Part):
    """The cells of a sheet as text."""

    def __init__(self, strings: list[str], dates: list[bool], *, shift: int, max_rows: int) -> None:
        self.rows: Rows = []
        self._strings = strings
        self._dates = dates
        self._shift = shift
        self._max_rows = max_rows
        self._row = 0
        self._column = 0
        self._cells: dict[int, str] = {}
        self._kind = ""
        self._style = ""
        self._parts: list[str] | None = None
        self._value: list[str] = []

    @property
    def full(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride] -- it follows from the rows
        return len(self.rows) >= self._max_rows

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "row":
            told = attributes.get("r", "")
            self._row = int(told) if told.isdecimal() and len(told) <= len("1048576") else self._row + 1
            self._column, self._cells = 0, {}
        elif tag == "c":
            at = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = _column(at[1]) if at else self._column + 1
            self._kind, self._style, self._value = attributes.get("t", "n"), attributes.get("s", ""), []
        elif tag in {"v", "t"}:
            self._parts = self._value

    def end(self, tag: str) -> None:
        if tag in {"v", "t"}:
            self._parts = None
        elif tag == "c" and self._column <= MAX_COLUMNS:
            self._cells[self._column] = self._shown("".join(self._value)[:_MAX_TEXT])
        elif tag == "row":
            filled = [column for column, text in self._cells.items() if text.strip()]
            if filled and not self.full:
                cells = [self._cells.get(column, "") for column in range(1, max(filled) + 1)]
                self.rows.append((self._row, cells))

    def text(self, text: str) -> None:
        if self._parts is not None:
            self._parts.append(text)

    def _shown(self, value: str) -> str:
        if self._kind == "s":
            at = int(value) if value.isdecimal() and len(value) < len(str(MAX_BYTES)) else -1
            return self._strings[at] if 0 <= at < len(self._strings) else ""
        if self._kind == "b":
            return "true" if value.strip() == "1" else "false"
        if self._kind == "e":
            return ""  # a formula that failed says nothing
        return self._number(value) if self._kind == "n" else value

    def _number(self, value: str) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        style = int(self._style) if self._style.isdecimal() and len(self._style) <= len("65536") else 0
        if style < len(self._dates) and self._dates[style] and 0 <= number < _LAST_DAY - self._shift:
            moment = _EPOCH + timedelta(days=number + self._shift)
            return (moment + timedelta(microseconds=500_000)).replace(microsecond=0).isoformat()
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else value


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _no_doctype(*_: object) -> NoReturn:
    _refuse("it declares a document type, which no workbook needs")


def _refuse(problem: str) -> NoReturn:
    raise InputError(
        f"The workbook cannot be read: {problem}.",
        hint="Save it as .xlsx again, or the sheet as CSV (UTF-8).",
        details={"field": "file"},
    )
