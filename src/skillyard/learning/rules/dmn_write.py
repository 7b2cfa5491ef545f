"""A decision table as DMN 1.3 XML, for other engines and editors."""

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from skillyard.learning.rules.table import DecisionTable, HitPolicy, Input, Output, Rule
from skillyard.learning.rules.values import Value, written

DMN: Final = "https://www.omg.org/spec/DMN/20191111/MODEL/"
OURS: Final = "urn:skillyard:dmn"
"""The namespace of what the standard has no word for."""
POLICIES: Final = {
    HitPolicy.UNIQUE: "UNIQUE",
    HitPolicy.FIRST: "FIRST",
    HitPolicy.PRIORITY: "PRIORITY",
    HitPolicy.ANY: "ANY",
    HitPolicy.COLLECT: "COLLECT",
}
RULE_PREFIX: Final = "rule_"
"""Ids in XML begin with a letter and are of one document; ours need not be."""
_NOTE: Final = "note"


def write_dmn(table: DecisionTable, *, name: str) -> str:
    """The table as a document with one decision."""
    register_namespace("", DMN)
    register_namespace("skillyard", OURS)
    root = Element(_tag("definitions"), {"id": "definitions", "name": name or "decision", "namespace": OURS})
    for column in table.inputs:
        data = SubElement(root, _tag("inputData"), {"id": f"data_{column.id}", "name": column.id})
        SubElement(data, _tag("variable"), {"id": f"variable_{column.id}", "name": column.id, "typeRef": column.type})
    decision = SubElement(root, _tag("decision"), {"id": "decision", "name": name or "decision"})
    for column in table.inputs:
        needed = SubElement(decision, _tag("informationRequirement"), {"id": f"needs_{column.id}"})
        SubElement(needed, _tag("requiredInput"), {"href": f"#data_{column.id}"})
    policy = {"id": "table", "hitPolicy": POLICIES[table.hit_policy]}
    written_table = SubElement(decision, _tag("decisionTable"), policy)
    for column in table.inputs:
        _input(written_table, column)
    for at, column in enumerate(table.outputs):
        _output(written_table, column, None if table.default is None else table.default[at], table)
    if any(rule.note for rule in table.rules):
        SubElement(written_table, _tag("annotation"), {"name": _NOTE})
    for rule in table.rules:
        _rule(written_table, rule, table)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _input(parent: Element, column: Input) -> None:
    element = SubElement(parent, _tag("input"), _labelled(f"input_{column.id}", column.label))
    if column.optional:
        extension = SubElement(element, _tag("extensionElements"))
        SubElement(extension, f"{{{OURS}}}optional").text = "true"
    expression = SubElement(element, _tag("inputExpression"), {"id": f"expression_{column.id}", "typeRef": column.type})
    _text(expression, column.id)
    if column.values is not None:
        _text(SubElement(element, _tag("inputValues")), str(column.values))


def _output(parent: Element, column: Output, default: Value, table: DecisionTable) -> None:
    attributes = {**_labelled(f"output_{column.id}", column.label), "name": column.id, "typeRef": column.type}
    element = SubElement(parent, _tag("output"), attributes)
    if column.values:
        _text(SubElement(element, _tag("outputValues")), ", ".join(map(written, column.values)))
    if table.default is not None:
        _text(SubElement(element, _tag("defaultOutputEntry"), {"id": f"default_{column.id}"}), written(default))


def _rule(parent: Element, rule: Rule, table: DecisionTable) -> None:
    element = SubElement(parent, _tag("rule"), {"id": f"{RULE_PREFIX}{rule.id}"})
    for column, cell in zip(table.inputs, rule.when, strict=True):
        _text(SubElement(element, _tag("inputEntry"), {"id": f"in_{rule.id}_{column.id}"}), str(cell))
    for column, value in zip(table.outputs, rule.then, strict=True):
        _text(SubElement(element, _tag("outputEntry"), {"id": f"out_{rule.id}_{column.id}"}), written(value))
    if any(each.note for each in table.rules):
        _text(SubElement(element, _tag("annotationEntry")), rule.note)


def _labelled(element_id: str, label: str) -> dict[str, str]:
    return {"id": element_id, "label": label} if label else {"id": element_id}


def _text(parent: Element, text: str) -> None:
    SubElement(parent, _tag("text")).text = text


def _tag(name: str) -> str:
    return f"{{{DMN}}}{name}"
