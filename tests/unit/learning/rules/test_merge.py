from typing import Any

import pytest
from tests.unit.learning.rules.tables import decide

from skillyard.errors import InputError
from skillyard.learning.rules.merge import merge
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.learning.states import MergeMode


def _table(*rules: tuple[list[str], int], inputs: tuple[str, ...] = ("tier",), policy: str = "F") -> DecisionTable:
    return parse_table(
        {
            "hit_policy": policy,
            "inputs": [{"id": each} for each in inputs],
            "outputs": [{"id": "percent", "type": "number"}],
            "rules": [{"when": when, "then": [then]} for when, then in rules],
        }
    )


OLD = _table((['"gold"'], 10), (["-"], 0))


def test_replace_takes_the_new_table() -> None:
    new = _table((["-"], 1))
    merged = merge(OLD, new, MergeMode.REPLACE)
    assert merged.table == new
    assert (merged.step, merged.changed, merged.removed) == ("major", ("r1",), ("r2",))


def test_extend_adds_and_never_changes() -> None:
    merged = merge(OLD, _table((['"silver"'], 5)), MergeMode.EXTEND)
    assert merged.table.rules[:2] == OLD.rules
    assert (merged.step, merged.added, merged.changed) == ("minor", ("r3",), ())
    with pytest.raises(InputError, match="says something else"):
        merge(OLD, _table((['"gold"'], 11)), MergeMode.EXTEND)


def test_an_exception_goes_before_the_rule_that_it_is_from() -> None:
    merged = merge(OLD, _table((['"silver"'], 5)), MergeMode.REFINE)
    assert decide(merged.table, {"tier": "silver"}).outputs == {"percent": 5}
    assert decide(merged.table, {"tier": "tin"}).outputs == {"percent": 0}
    assert merged.step == "patch"


def test_refine_lets_a_rule_say_something_new() -> None:
    merged = merge(OLD, _table((['"gold"'], 12)), MergeMode.REFINE)
    assert decide(merged.table, {"tier": "gold"}).outputs == {"percent": 12}
    assert (merged.added, merged.changed) == ((), ("r1",))


def test_the_same_again_changes_nothing() -> None:
    for mode in MergeMode:
        assert merge(OLD, OLD, mode).step is None


def test_rules_that_do_not_know_a_new_input_take_anything_there() -> None:
    merged = merge(OLD, _table((['"gold"', '"KR"'], 20), inputs=("tier", "country")), MergeMode.REFINE)
    assert decide(merged.table, {"tier": "gold", "country": "KR"}).outputs == {"percent": 20}
    assert decide(merged.table, {"tier": "gold"}).outputs == {"percent": 10}


@pytest.mark.parametrize("mode", [MergeMode.EXTEND, MergeMode.REFINE])
def test_a_table_about_something_else_is_not_merged(mode: MergeMode) -> None:
    other: dict[str, Any] = {
        "inputs": [{"id": "tier", "type": "number"}],
        "outputs": [{"id": "percent", "type": "number"}],
    }
    with pytest.raises(InputError, match="is a string, not a number"):
        merge(OLD, parse_table(other), mode)
    other = {"inputs": [{"id": "tier"}], "outputs": [{"id": "colour"}]}
    with pytest.raises(InputError, match="outputs are not those"):
        merge(OLD, parse_table(other), mode)
