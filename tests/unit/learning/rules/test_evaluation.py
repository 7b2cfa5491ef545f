from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from tests.unit.learning.rules.tables import DISCOUNT, cases, decide, matching, tables

from skillyard.errors import ConflictError, InputError
from skillyard.learning.rules.evaluation import Decided, Decider, decide_many
from skillyard.learning.rules.table import DecisionTable, parse_table
from skillyard.learning.rules.values import plain


@given(tables())
def test_the_engine_finds_the_rules_that_hold(table: DecisionTable) -> None:
    decider = Decider(table)
    for case in cases(table)[:: 7 if len(table.rules) > 1 else 3]:
        inputs = {column.id: plain(value) for column, value in zip(table.inputs, case, strict=True)}
        try:
            found = list(decider.decide(inputs).matched)
        except ConflictError as error:
            found = error.details["rules"]
        assert found == matching(table, case)


def _table(policy: str, *rules: tuple[str, str], **more: Any) -> DecisionTable:
    return parse_table(
        {
            "hit_policy": policy,
            "inputs": [{"id": "n", "type": "number"}],
            "outputs": [{"id": "out", "values": ["high", "low"]}],
            "rules": [{"when": [when], "then": [then]} for when, then in rules],
            **more,
        }
    )


OVERLAPPING = (("> 1", "low"), ("> 2", "high"), ("> 3", "low"))


@pytest.mark.parametrize(
    ("policy", "outputs", "counted"),
    [
        ("F", {"out": "low"}, ("r1",)),
        ("P", {"out": "high"}, ("r2",)),
        ("C", [{"out": "low"}, {"out": "high"}, {"out": "low"}], ("r1", "r2", "r3")),
    ],
)
def test_the_hit_policy_says_which_rules_count(policy: str, outputs: Any, counted: tuple[str, ...]) -> None:
    assert decide(_table(policy, *OVERLAPPING), {"n": 5}) == Decided(
        outputs=outputs, matched=("r1", "r2", "r3"), counted=counted
    )


@pytest.mark.parametrize("policy", ["U", "A"])
def test_two_answers_are_no_answer(policy: str) -> None:
    with pytest.raises(ConflictError, match="r1, r2, r3"):
        decide(_table(policy, *OVERLAPPING), {"n": 5})


def test_under_any_rules_may_agree() -> None:
    assert decide(_table("A", ("> 1", "low"), ("> 2", "low")), {"n": 5}).outputs == {"out": "low"}


@pytest.mark.parametrize(("policy", "nothing"), [("U", None), ("C", [])])
def test_where_no_rule_holds_there_is_no_answer(policy: str, nothing: Any) -> None:
    assert decide(_table(policy, ("> 1", "low")), {"n": 0}).outputs == nothing


def test_a_default_answers_where_no_rule_does() -> None:
    decided = decide(_table("U", default=["low"]), {"n": 0})
    assert decided.outputs == {"out": "low"}
    assert decided.by_default


def test_numbers_count_to_their_last_digit() -> None:
    table = _table("U", ("> 0.123456789012345678901", "high"))
    assert decide(table, {"n": Decimal("0.123456789012345678902")}).outputs == {"out": "high"}
    assert decide(table, {"n": Decimal("0.123456789012345678901")}).outputs is None


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ({"tier": "gold"}, "inputs.amount"),
        ({"tier": "gold", "amount": "5"}, "inputs.amount"),
        ({"tier": "gold", "amount": -1}, "inputs.amount"),
        ({"tier": "bronze", "amount": 1}, "inputs.tier"),
        ({"tier": "gold", "amount": 1, "colour": "red"}, "inputs"),
        ({"tier": "gold", "amount": float("nan")}, "inputs.amount"),
    ],
)
def test_a_case_that_the_table_is_not_about_is_refused(inputs: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        decide(parse_table(DISCOUNT), inputs)
    assert caught.value.details["field"] == field


def test_one_case_without_an_answer_keeps_nothing_from_the_others() -> None:
    answers = decide_many(parse_table(DISCOUNT), [{"tier": "gold"}, {"tier": "gold", "amount": 100}])
    assert isinstance(answers[0], InputError)
    assert isinstance(answers[1], Decided)
    assert answers[1].outputs == {"percent": 10, "say": 'a "big" one'}
