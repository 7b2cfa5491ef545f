"""The editor of decision tables: what it shows of a table, and what came of looking one over."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from skillyard.app.yard import Yard
from skillyard.errors import InputError, LimitError, SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.rules.checks import report
from skillyard.learning.rules.dmn_read import MAX_XML, read_dmn
from skillyard.learning.rules.table import MAX_COLUMNS, MAX_RULES, HitPolicy, parse_table, table_document
from skillyard.learning.rules.values import ValueType
from skillyard.server.web.forms import MAX_FIELDS, Form, Upload
from skillyard.server.web.rule_form import EnteredTable, entered_in, entered_of
from skillyard.server.web.rule_rows import gaps_of, marks_of

_MOST_FIELDS: Final = MAX_FIELDS - 100
"""A table with more could be shown in a form, but not sent: there are a name, a reason and the buttons besides."""
_MOST_GAPS: Final = 20
_ADDING: Final = ("add-row", "add-input", "add-output")
_CELL: Final = re.compile(r"table\.rules\[(\d+)\](?:\.(when|then)(?:\[(\d+)\])?)?(?: \((\w+)\))?")


class Edited(NamedTuple):
    """A table after a button for its rows or columns was pressed."""

    table: EnteredTable
    refused: str = ""
    """The button, where the table has no room for what it adds."""


async def looked_over(yard: Yard, principal: Principal, document: Mapping[str, Any]) -> dict[str, Any]:
    """What there is to say about a table."""
    return await yard.learning.turns.run(principal, lambda: report(parse_table(document)).as_dict())


def editor_of(
    entered: EnteredTable,
    found: Mapping[str, Any] | None,
    problem: SkillyardError | None = None,
    *,
    refused: str = "",
) -> dict[str, Any]:
    """What the template of the editor needs; `found` is what was said about the table, if it could be read."""
    remarks: list[Mapping[str, Any]] = found["remarks"] if found else []
    gaps = gaps_of(remarks)
    return {
        "table": entered,
        "is_large": entered.size > _MOST_FIELDS,
        "found": found,
        "marks": marks_of(remarks),
        "gaps": gaps[:_MOST_GAPS],
        "gap_count": len(gaps),
        "wrong": _place(problem),
        "refused": refused.partition(":")[0],
        "most": {"rows": MAX_RULES, "columns": MAX_COLUMNS, "fields": f"{_MOST_FIELDS:,}"},
        "policies": list(HitPolicy),
        "types": list(ValueType),
    }


async def edited_in(yard: Yard, principal: Principal, form: Form) -> Edited:
    """The table of a form after a button was pressed; as it was entered, where it could not be shown in a form then."""
    entered, do = entered_in(form), form.text("do")
    gaps = []
    if do.startswith("gap:"):
        found = await found_in(yard, principal, entered)
        gaps = gaps_of(found["remarks"]) if found else []
    edited = entered.edited(do, gaps)
    return Edited(entered, refused=do) if _has_no_room(entered, edited, do) else Edited(edited)


async def found_in(yard: Yard, principal: Principal, entered: EnteredTable) -> Mapping[str, Any] | None:
    """What there is to say about a table; None where it cannot be read yet."""
    try:
        return await looked_over(yard, principal, entered.document)
    except InputError:
        return None


async def table_in(yard: Yard, principal: Principal, upload: Upload | None) -> tuple[str, EnteredTable]:
    """The name and the table in a file: DMN, the JSON of a table, or that of a rule."""
    return await yard.learning.turns.run(principal, lambda: _table_in(upload))


def _table_in(upload: Upload | None) -> tuple[str, EnteredTable]:
    if upload is None or not upload.data:
        raise InputError("No file was sent.", hint="Choose a .dmn or a .json file.", details={"field": "file"})
    if upload.data.lstrip()[:1] == b"<":
        name, table = read_dmn(upload.data)
        return name, entered_of(table_document(table))
    if len(upload.data) > MAX_XML:
        raise LimitError(
            f"The file of a table has {len(upload.data):,} bytes; at most {MAX_XML:,} are read.",
            hint="Split the table into several rules.",
            details={"field": "file", "value": len(upload.data), "limit": MAX_XML},
        )
    try:
        given: Any = json.loads(upload.data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{upload.name[:100]!r} is neither DMN nor JSON.",
            hint="Send what `skillyard learn rules export` writes.",
            details={"field": "file", "value": upload.name[:100]},
        ) from error
    whole = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    table = parse_table(whole.get("table", given))
    return str(whole.get("name", "")), entered_of(table_document(table))


def _has_no_room(entered: EnteredTable, edited: EnteredTable, do: str) -> bool:
    if edited != entered:
        return edited.size > max(_MOST_FIELDS, entered.size)
    return do in _ADDING or (do.startswith("gap:") and len(entered.rows) == MAX_RULES)


def _place(problem: SkillyardError | None) -> dict[str, Any] | None:
    """The cell that an error is about."""
    field = str(problem.details.get("field", "")) if problem else ""
    found = _CELL.match(field)
    if found is None:
        return None
    at = int(found[3]) if found[3] else None
    return {"row": int(found[1]), "part": found[2], "at": at, "column": found[4]}
