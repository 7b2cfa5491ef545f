"""What others make of our DMN: reads `[{"xml", "cases", "outputs"}]`, and prints for each whether the schema of DMN 1.3
holds, and what another engine decides for each of its cases.
"""

import importlib
import json
import sys
from pathlib import Path


def main(folder: str) -> None:
    sys.path.append(folder)  # behind all else: one of them brings a package of the standard library
    etree, rules = importlib.import_module("lxml.etree"), importlib.import_module("pyDMNrules")
    schema = etree.XMLSchema(etree.parse(str(Path(folder, "SpiffWorkflow/dmn/parser/schema/DMN13.xsd"))))
    told = []
    for one in json.load(sys.stdin):
        engine = rules.DMN()
        problems = engine.useXML(one["xml"]) or {}
        decided = [_decided(engine, case, one["outputs"]) for case in one["cases"]]
        valid = schema.validate(etree.fromstring(one["xml"].encode()))
        told.append({"valid": valid, "problems": str(schema.error_log or problems or ""), "decided": decided})
    json.dump(told, sys.stdout)


def _decided(engine, case, outputs):
    """The outputs of each rule that counts."""
    _, steps = engine.decide(dict(case))
    last = steps[-1] if isinstance(steps, list) and steps else steps
    if not last:
        return []
    columns = [last["Result"].get(name) for name in outputs]
    lists = [column if isinstance(column, list) else [column] for column in columns]
    rows = [list(row) for row in zip(*lists, strict=True)]
    return [row for row in rows if any(value is not None for value in row)]


if __name__ == "__main__":
    main(sys.argv[1])
