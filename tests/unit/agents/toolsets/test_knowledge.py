import re

import pytest

from skillyard.agents.toolsets.knowledge import knowledge_tools
from skillyard.errors import InputError, NotFoundError

TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "tier", "type": "string"}],
    "outputs": [{"id": "discount", "type": "number"}],
    "rules": [{"when": ['"gold"'], "then": [10]}, {"when": ["-"], "then": [0]}],
}


@pytest.fixture
def tools(yard):
    return {tool.name: tool for tool in knowledge_tools(yard.learning)}


@pytest.fixture
def discount(yard):
    made = yard.learning.create_rule({"name": "Discount", "description": "By tier.", "table": TABLE})
    (rule,) = made["effects"]
    yield rule["id"]
    yard.learning.delete_rule(rule["id"])


def test_what_was_remembered_is_recalled(yard, tools):
    (kept,) = yard.learning.remember("Refunds over 500 euros need a second signature.")["effects"]
    answer = tools["recall_memory"].call(query="Who signs large refunds?")
    assert answer["items"][0]["text"] == "Refunds over 500 euros need a second signature."
    assert answer["items"][0]["id"] == kept["id"]
    assert tools["recall_memory"].call(query="zebra stripes") == {"items": [], "total": 0}
    yard.learning.forget(kept["id"])


def test_a_rule_is_asked_by_its_name_or_its_id(tools, discount):
    for rule in ("discount", " Discount ", discount):
        answer = tools["evaluate_rule"].call(rule=rule, inputs={"tier": "gold"})
        assert answer["outputs"] == {"discount": 10}


@pytest.mark.usefixtures("discount")
def test_a_rule_that_is_not_there_is_told_with_those_that_are(tools):
    with pytest.raises(NotFoundError) as refused:
        tools["evaluate_rule"].call(rule="Discuont", inputs={})
    assert refused.value.hint == "Did you mean 'Discount'?"
    with pytest.raises(NotFoundError) as refused:
        tools["evaluate_rule"].call(rule="zzz", inputs={})
    assert refused.value.hint == "There are: Discount."


def test_a_name_that_two_rules_have_is_no_answer(yard, tools, discount):
    other = yard.learning.create_rule({"name": "discount", "table": TABLE})["effects"][0]["id"]
    with pytest.raises(InputError) as refused:
        tools["evaluate_rule"].call(rule="Discount", inputs={"tier": "gold"})
    assert {discount, other} <= set(re.findall(r"rule-\w+", refused.value.hint))
    yard.learning.delete_rule(other)


@pytest.mark.usefixtures("discount")
def test_inputs_that_the_rule_does_not_take_are_told(tools):
    text, went_well = tools["evaluate_rule"].text_or_error({"rule": "Discount", "inputs": {"colour": "red"}})
    assert not went_well
    assert "colour" in text or "tier" in text
