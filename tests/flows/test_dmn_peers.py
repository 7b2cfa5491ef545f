"""Decision tables as DMN, in the hands of others: the schema of the standard, and another engine's answers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skillyard.errors import ConflictError
from skillyard.learning.rules.dmn_write import write_dmn
from skillyard.learning.rules.evaluation import Decider
from skillyard.learning.rules.table import parse_table

PEERS = Path(sys.prefix) / "dmn-peers"
"""Where `scripts/dmn-peers` puts them."""
GRADE = {"id": "grade", "type": "string", "values": '"vip", "일반"'}
AMOUNT = {"id": "amount", "type": "number", "values": ">= 0"}
NEW = {"id": "is_new", "type": "boolean"}
ACTION = {"id": "action", "type": "string", "values": ["refuse", "ask a manager", "refund at once"]}
PERCENT = {"id": "percent", "type": "number", "values": [10, 5, 2, 1, 0.5, 0]}
OVERLAPPING = [
    (["-", "> 10", "-"], ["refund at once", 0]),
    (['"vip"', "> 100", "-"], ["ask a manager", 0]),
    (["-", "> 1000, 7", "true"], ["refuse", 0]),
]
TABLES = {
    "U": [
        (['"vip"', "<= 100000", "-"], ["refund at once", 0]),
        (['"vip"', "> 100000", "-"], ["ask a manager", 5]),
        (['not("vip")', "[0..30000]", "-"], ["refund at once", 0]),
        (['"일반"', "(30000..50000)", "false"], ["ask a manager", 10]),
        (['"일반"', ">= 50000", "-"], ["refuse", 0.5]),
    ],
    "F": [
        (["-", "<= 30000", "true"], ["refund at once", 0]),
        (['"vip"', "<= 100000", "-"], ["refund at once", 1]),
        (["-", "-", "-"], ["ask a manager", 2]),
    ],
    "P": OVERLAPPING,
    "A": [(['"vip"', "-", "-"], ["refund at once", 1]), (["-", "< 100", "-"], ["refund at once", 1])],
    "C": OVERLAPPING,
}
CASES = [
    {"grade": grade, "amount": amount, "is_new": is_new}
    for grade in ("vip", "일반")
    for amount in (0, 7, 101, 30000, 49999.5, 50000, 100001)
    for is_new in (True, False)
]


def table_of(policy):
    rules = [{"when": when, "then": then} for when, then in TABLES[policy]]
    inputs, outputs = [GRADE, AMOUNT, NEW], [ACTION, PERCENT]
    return parse_table({"hit_policy": policy, "inputs": inputs, "outputs": outputs, "rules": rules})


def ours(table, case):
    """The outputs of each rule that counts."""
    try:
        outputs = Decider(table).decide(case).outputs
    except ConflictError:
        return []
    found = outputs if isinstance(outputs, list) else [outputs] if outputs else []
    return [[each["action"], each["percent"]] for each in found]


def test_the_schema_holds_and_another_engine_decides_the_same():
    if not (PEERS / "pyDMNrules").is_dir():
        pytest.skip("There is no other engine: scripts/dmn-peers installs one")
    tables = {policy: table_of(policy) for policy in TABLES}
    given = [
        {"xml": write_dmn(table, name="환불"), "cases": CASES, "outputs": ["action", "percent"]}
        for table in tables.values()
    ]
    script = Path(__file__).parents[1] / "dmn_peer.py"
    asked = subprocess.run(
        [sys.executable, script, PEERS],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    for (policy, table), told in zip(tables.items(), json.loads(asked.stdout), strict=True):
        assert (told["valid"], told["problems"]) == (True, ""), policy
        for case, decided in zip(CASES, told["decided"], strict=True):
            assert decided == ours(table, case), (policy, case)
