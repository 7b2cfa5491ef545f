"""Rows of tables in which something was done: the cell by which each is known, whatever else stands in it."""

from collections.abc import Sequence
from typing import NamedTuple

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.expressions import Row, whole_word
from skillyard.releases.mining.snapshots import TableRow, table_rows_in


class Known(NamedTuple):
    """What rows are known by."""

    values: Row
    title: str
    """What stands over these cells; empty if nothing does."""


def known_by(row: Row, acts: Sequence[Act | None], times: Sequence[Sequence[Act]]) -> Known | None:
    """For each time, the cell that told the row from all others; None where that was not seen."""
    found = [
        _found(text, table_rows_in(_shown_before(act, done)))
        for text, act, done in zip(row, acts, times, strict=True)
        if text is not None and act is not None
    ]
    rows = [one for one in found if one is not None]
    if len(rows) < len(found) or not rows:
        return None
    for column in range(min(len(one.row.cells) for one in rows)):
        cells = [one.row.cells[column] for one in rows]
        if len(set(cells)) > 1 and all(_tells(cell, column, one.table) for cell, one in zip(cells, rows, strict=True)):
            left = iter(cells)
            there = [text is not None and act is not None for text, act in zip(row, acts, strict=True)]
            heads = next((one.cells for one in rows[0].table if one.is_head), ())
            title = heads[column] if column < len(heads) else ""
            return Known(tuple(next(left) if is_there else None for is_there in there), title)
    return None


class _InTable(NamedTuple):
    row: TableRow
    table: Sequence[TableRow]


def _found(text: str, table: Sequence[TableRow]) -> _InTable | None:
    """The one row of which all cells stand in a text."""
    rows = [
        row
        for row in table
        if not row.is_head and any(row.cells) and all(whole_word(cell).search(text) for cell in row.cells if cell)
    ]
    return _InTable(rows[0], table) if len(rows) == 1 else None


def _tells(cell: str, column: int, table: Sequence[TableRow]) -> bool:
    same = [row for row in table if column < len(row.cells) and row.cells[column] == cell]
    return len(same) == 1 and any(character.isalpha() for character in cell)


def _shown_before(act: Act, done: Sequence[Act]) -> str:
    """The page as it was seen last before an act."""
    before = done[: next((index for index, one in enumerate(done) if one is act), 0)]
    looks = [look.output for one in before for look in one.looks if look.verb == "snapshot"]
    return looks[-1] if looks else ""
