"""Snapshots as they were printed: the elements by their refs, and the texts that a page showed."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_LINE: Final = re.compile(r" *- ([^\s:\"\[]+)(?: (\"(?:[^\"\\]|\\.)*\"))?((?: \[[^\]]*\])*)(?::(?: (.*))?)?")
_REF: Final = re.compile(r"\[ref=(e\d+)\]")
_FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "slider", "listbox"})
"""What they hold was typed: it proves nothing."""
_CELLS: Final = frozenset({"cell", "gridcell", "rowheader", "columnheader"})
_QUIET: Final = frozenset({"button", "link", "tab", "menuitem", "option", "checkbox", "radio", "switch"})
"""What they say is on offer: it tells little of what happened."""


def elements_in(snapshot: str) -> Mapping[str, Mapping[str, Any]]:
    """The elements of a snapshot, by the refs that it gave them."""
    found: dict[str, Mapping[str, Any]] = {}
    for role, name, attributes, _ in _lines(snapshot):
        ref = _REF.search(attributes)
        if ref:
            found[f"@{ref[1]}"] = {"role": role, "name": name}
    return found


def texts_in(snapshot: str) -> Iterator[str]:
    """The texts that a page showed, but those of fields, buttons and links."""
    for role, name, _, value in _lines(snapshot):
        if role not in _FIELDS | _QUIET and not role.startswith("/"):
            yield from (text for text in (name, value) if text)


def named_in(snapshot: str) -> Iterator[tuple[str, str]]:
    """The elements to act on that a page showed: their roles and names."""
    return ((role, name) for role, name, _, _ in _lines(snapshot) if name and role in _QUIET | _FIELDS)


class TableRow(NamedTuple):
    """A row of a table, cell by cell; an empty text for a cell that says nothing itself."""

    cells: tuple[str, ...]
    is_head: bool


def table_rows_in(snapshot: str) -> list[TableRow]:
    """The rows of the tables that a page showed."""
    rows: list[list[tuple[str, str]]] = []
    for role, name, _, value in _lines(snapshot):
        if role == "row":
            rows.append([])
        elif role in _CELLS and rows:
            rows[-1].append((role, name or value))
    return [
        TableRow(tuple(text for _, text in row), is_head=all(role == "columnheader" for role, _ in row)) for row in rows
    ]


def headings_in(snapshot: str) -> Iterator[str]:
    return (name for role, name, _, _ in _lines(snapshot) if role == "heading" and name)


def _lines(snapshot: str) -> Iterator[tuple[str, str, str, str]]:
    for line in snapshot.splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        try:
            name = str(json.loads(found[2])) if found[2] else ""
        except ValueError:
            continue
        yield found[1], name, found[3] or "", (found[4] or "").strip()
