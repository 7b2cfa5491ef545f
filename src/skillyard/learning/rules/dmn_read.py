"""Decision tables from DMN XML: what can be executed here is taken as it is, and anything else is an error."""

import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers import expat

from skillyard.errors import LimitError
from skillyard.learning.rules.cells import Equal, parse_cell
from skillyard.learning.rules.dmn_write import DMN, OURS, POLICIES, RULE_PREFIX
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.learning.rules.values import ValueType, plain, refuse

MAX_XML: Final = 2 * 1024 * 1024
"""Bytes of a document, or of the JSON of a rule."""
_NAMESPACES: Final = frozenset(
    {
        DMN,
        "https://www.omg.org/spec/DMN/20180521/MODEL/",
        "https://www.omg.org/spec/DMN/20211108/MODEL/",
        "https://www.omg.org/spec/DMN/20230324/MODEL/",
    }
)
"""DMN 1.3, and its neighbours, which write tables alike."""
_TYPES: Final = {"string": "string", "number": "number", "boolean": "boolean", "date": "date"} | dict.fromkeys(
    ("integer", "long", "double"), "number"
)
_NAME: Final = re.compile(r"[^\W\d][\w ]*")
_WORDS: Final = re.compile(r"[^A-Za-z0-9_]+")


def read_dmn(xml: str | bytes) -> tuple[str, DecisionTable]:
    """The name of the one decision in a document, and its table."""
    root = _root(xml)
    decisions = [each for each in root if _name(each) == "decision"]
    tables = [each for each in decisions if _child(each, "decisionTable") is not None]
    if len(decisions) != 1 or len(tables) != 1:
        _refuse(f"there are {len(decisions)} decisions, {len(tables)} of them by a table", "Keep one, by one table.")
    decision = tables[0]
    table = _child(decision, "decisionTable")
    assert table is not None  # noqa: S101 -- looked for above
    inputs = [_input(each, at) for at, each in enumerate(_children(table, "input"))]
    outputs = [_output(each, at) for at, each in enumerate(_children(table, "output"))]
    document: dict[str, Any] = {
        "hit_policy": _policy(table),
        "inputs": inputs,
        "outputs": [column for column, _ in outputs],
        "rules": [_rule(each, outputs, at) for at, each in enumerate(_children(table, "rule"))],
    }
    defaults = [default for _, default in outputs]
    if any(default is not None for default in defaults):
        document["default"] = [None if default is None else plain(default.value) for default in defaults]
    return decision.get("name") or "decision", parse_table(document)


def _root(xml: str | bytes) -> Element:
    data = xml.encode() if isinstance(xml, str) else xml
    if len(data) > MAX_XML:
        raise LimitError(
            f"The XML has {len(data):,} bytes; at most {MAX_XML:,} are read.",
            hint="Split the decision.",
            details={"field": "xml", "value": len(data), "limit": MAX_XML},
        )
    guard = expat.ParserCreate()
    guard.StartDoctypeDeclHandler = _no_doctype
    try:
        guard.Parse(data, True)
        root = fromstring(data)  # noqa: S314 -- without a DTD there are no entities
    except (expat.ExpatError, ParseError, ValueError) as error:
        _refuse(f"it is not well-formed XML ({error})", "Export it again.")
    if _name(root) != "definitions" or _space(root) not in _NAMESPACES:
        _refuse(f"its root is {root.tag[:100]!r}, not the definitions of DMN 1.3", "Export it as DMN 1.3.")
    return root


def _no_doctype(*_: object) -> NoReturn:
    _refuse("it has a DTD", "Remove the DOCTYPE: tables need none, and entities are not read.")


def _policy(table: Element) -> str:
    written = table.get("hitPolicy", "UNIQUE")
    if table.get("aggregation"):
        _refuse(f"the aggregation {table.get('aggregation')!r} is not known", "Collect without one.")
    known = {name: policy.value for policy, name in POLICIES.items()}
    if written not in known:
        _refuse(f"the hit policy {written!r} is not known", f"Use one of {', '.join(known)}.")
    return known[written]


def _input(element: Element, at: int) -> dict[str, Any]:
    expression = _child(element, "inputExpression")
    written = _text(expression)
    if expression is None or not _NAME.fullmatch(written):
        fix = "Let the input be the name of a value; work with it before the decision."
        _refuse(f"input {at + 1} is the expression {written[:60]!r}", fix)
    column: dict[str, Any] = {
        "id": _id(written, f"input_{at + 1}"),
        "type": _type(expression.get("typeRef"), f"input {at + 1}"),
        "label": element.get("label") or ("" if written.isidentifier() and written.isascii() else written),
    }
    values = _child(element, "inputValues")
    if values is not None and _text(values):
        column["values"] = _text(values)
    if element.find(f".//{{{OURS}}}optional") is not None:
        column["optional"] = True
    return column


def _output(element: Element, at: int) -> tuple[dict[str, Any], Equal | None]:
    name = element.get("name") or element.get("label") or f"output_{at + 1}"
    kind = _type(element.get("typeRef"), f"output {at + 1}")
    column: dict[str, Any] = {"id": _id(name, f"output_{at + 1}"), "type": kind, "label": element.get("label") or ""}
    values = _child(element, "outputValues")
    if values is not None and _text(values):
        cell = parse_cell(_text(values), ValueType(kind), field=f"output {at + 1}")
        column["values"] = [plain(test.value) for test in cell.tests if isinstance(test, Equal)]
    default = _child(element, "defaultOutputEntry")
    return column, None if default is None else _literal(default, kind, f"default of output {at + 1}")


def _rule(element: Element, outputs: Sequence[tuple[dict[str, Any], Equal | None]], at: int) -> dict[str, Any]:
    results = _children(element, "outputEntry")
    if len(results) != len(outputs):
        _refuse(f"rule {at + 1} has {len(results)} outputs of {len(outputs)}", "Give each output a value.")
    then = [
        plain(_literal(result, column["type"], f"rule {at + 1}").value)
        for result, (column, _) in zip(results, outputs, strict=True)
    ]
    rule: dict[str, Any] = {"when": [_text(each) for each in _children(element, "inputEntry")], "then": then}
    notes = [note for each in _children(element, "annotationEntry") if (note := _text(each))]
    described = _child(element, "description")
    note = "; ".join(notes) or ("" if described is None else (described.text or "").strip())
    if note:
        rule["note"] = note
    written = re.sub(r"[^A-Za-z0-9_-]", "_", element.get("id", "").removeprefix(RULE_PREFIX))[:64]
    return rule | ({"id": written} if written else {})


def _literal(element: Element, kind: str, place: str) -> Equal:
    cell = parse_cell(_text(element) or "null", ValueType(kind), field=place)
    if cell.negated or len(cell.tests) != 1 or not isinstance(cell.tests[0], Equal):
        _refuse(f"{place}: {_text(element)[:60]!r} is not one value", "Let outputs be values, not expressions.")
    return cell.tests[0]


def _type(written: str | None, place: str) -> str:
    kind = _TYPES.get((written or "string").rpartition(":")[2])
    if kind is None:
        _refuse(f"the type {written!r} of {place} is not known", f"Use one of {', '.join(ValueType)}.")
    return kind


def _id(name: str, instead: str) -> str:
    return re.sub(r"^(?=[0-9])", "_", _WORDS.sub("_", name.strip()).strip("_"))[:64] or instead


def _refuse(problem: str, fix: str) -> NoReturn:
    refuse(problem, fix, field="xml", value="")


def _child(element: Element, name: str) -> Element | None:
    return next(iter(_children(element, name)), None)


def _children(element: Element, name: str) -> list[Element]:
    return [each for each in element if _name(each) == name and _space(each) in _NAMESPACES]


def _text(element: Element | None) -> str:
    text = None if element is None else _child(element, "text")
    return "" if text is None else (text.text or "").strip()


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _space(element: Element) -> str:
    return element.tag.partition("}")[0].removeprefix("{")
