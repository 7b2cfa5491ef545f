import copy
from typing import Any

import pytest
from hypothesis import given
from tests.unit.learning.rules.tables import DISCOUNT, cases, matching, tables

from skillyard.learning.rules.checks import Remark, Report, Seriousness, report
from skillyard.learning.rules.evaluation import case_values
from skillyard.learning.rules.table import DecisionTable, parse_table


def _discount(**changes: Any) -> DecisionTable:
    return parse_table(copy.deepcopy(DISCOUNT) | changes)


def of_kind(kind: str, told: Report) -> list[Remark]:
    return [remark for remark in told.remarks if remark.kind == kind]


def test_a_whole_table_has_nothing_to_remark() -> None:
    told = report(_discount())
    assert told.remarks == ()
    assert told.complete
    assert told.decides


def test_a_planted_overlap_is_found_with_a_case() -> None:
    rules = [
        {"id": "a", "when": ['"gold"', ">= 100"], "then": [1, ""]},
        {"id": "b", "when": ["-", "<= 100"], "then": [2, ""]},
    ]
    conflict = of_kind("conflict", report(_discount(rules=rules)))[0]
    assert conflict.rules == ("a", "b")
    assert conflict.case == {"tier": "gold", "amount": 100}
    assert conflict.where == {"tier": '"gold"', "amount": "100"}
    assert conflict.seriousness is Seriousness.ERROR


def test_a_planted_gap_is_found_with_a_case() -> None:
    rules = [{"when": ["-", "> 10"], "then": [1, ""]}, {"when": ['"gold"', "<= 10"], "then": [2, ""]}]
    gaps = of_kind("gap", report(_discount(rules=rules)))
    assert [gap.where for gap in gaps] == [{"tier": '"silver"', "amount": "[0..10]"}]


def test_with_a_default_there_are_no_gaps() -> None:
    assert report(_discount(rules=[], default=[0, ""])).remarks == ()


def test_a_rule_that_earlier_ones_cover_together_never_counts() -> None:
    rules = [
        {"when": ["-", "< 10"], "then": [1, ""]},
        {"when": ["-", ">= 10"], "then": [2, ""]},
        {"id": "late", "when": ['"gold"', "[5..20]"], "then": [3, ""]},
    ]
    assert [each.rules for each in of_kind("unreachable", report(_discount(hit_policy="F", rules=rules)))] == [
        ("late",)
    ]


def test_a_rule_that_asks_for_what_cannot_be_is_named() -> None:
    rules = [{"id": "no", "when": ['"bronze"', "-"], "then": [1, ""]}]
    assert of_kind("impossible", report(_discount(rules=rules)))[0].rules == ("no",)


@pytest.mark.parametrize(("policy", "kinds"), [("U", {"overlap"}), ("A", set()), ("F", set()), ("C", set())])
def test_rules_that_say_the_same_matter_only_where_one_may_hold(policy: str, kinds: set[str]) -> None:
    rules = [{"when": ["-", "-"], "then": [1, ""]}, {"when": ['"gold"', "-"], "then": [1, ""]}]
    told = report(_discount(hit_policy=policy, rules=rules)).remarks
    assert {each.kind for each in told} - {"unreachable"} == kinds


def test_a_table_too_finely_cut_is_said_to_be_looked_at_in_part() -> None:
    columns = [{"id": f"c{at}", "type": "number"} for at in range(30)]
    rules = [
        {"when": ["> 0" if at in {rule, rule + 1} else "-" for at in range(30)], "then": [rule]} for rule in range(29)
    ]
    table = parse_table({"inputs": columns, "outputs": [{"id": "out", "type": "number"}], "rules": rules})
    assert not report(table).complete


@given(tables("UA"))
def test_no_case_has_two_answers_unless_it_was_told(table: DecisionTable) -> None:
    told = {remark.rules for remark in report(table).remarks if remark.kind in {"conflict", "overlap"}}
    says = {rule.id: rule.then for rule in table.rules}
    for case in cases(table):
        found = matching(table, case)
        for later in range(1, len(found)):
            pair = (found[0], found[later])
            assert pair in told or (table.hit_policy == "A" and says[pair[0]] == says[pair[1]])


@given(tables())
def test_a_told_case_is_as_told(table: DecisionTable) -> None:
    for remark in report(table).remarks:
        if remark.case is not None:
            found = matching(table, tuple(case_values(table, remark.case)))
            assert set(remark.rules) <= set(found)
            assert remark.kind != "gap" or not found


@given(tables())
def test_a_case_without_a_rule_is_in_a_told_gap(table: DecisionTable) -> None:
    told = report(table)
    gaps = bool(of_kind("gap", told))
    missing = [case for case in cases(table) if not matching(table, case)]
    assert told.complete
    assert gaps or not missing
