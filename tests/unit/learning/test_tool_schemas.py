"""Models are told which words a tool takes, and each operation has one name."""

from typing import Any

import pytest

from skillyard.agents.toolsets.learning import learning_tools
from skillyard.learning.deciding import react_tools
from skillyard.learning.react_tools import Desk
from skillyard.learning.states import MergeMode, Operation, Target

WORDS = {
    "operation": set(Operation),
    "merge_mode": set(MergeMode),
}


def desk() -> Desk:
    nothing: Any = None
    parts = ("pupil", "knowledge", "memories", "rules", "skills", "committing", "model", "budget", "transcript")
    return Desk(**dict.fromkeys(parts, nothing))


def of_model() -> dict[str, Any]:
    return {tool.name: tool.args for tool in react_tools(desk())}


def of_clients() -> dict[str, Any]:
    yard: Any = type("Yard", (), {"learning": None})()
    return {tool.name: tool.parameters["properties"] for tool in learning_tools(yard)}


@pytest.mark.parametrize("schemas", [of_model, of_clients])
@pytest.mark.parametrize("tool", ["commit_to_memory", "commit_to_dmn_rule", "commit_to_skill"])
def test_the_words_of_a_commit_are_listed(schemas, tool):
    properties = schemas()[tool]
    for name in WORDS.keys() & properties.keys():
        assert set(properties[name]["enum"]) == WORDS[name]
    assert "operation" in properties


@pytest.mark.parametrize("schemas", [of_model, of_clients])
def test_the_kinds_to_search_for_are_listed(schemas):
    found = schemas()
    assert set(found["search_similar_knowledge"]["knowledge_type"]["enum"]) == {*Target, "ALL"}
    assert set(found["get_knowledge_detail"]["knowledge_type"]["enum"]) == set(Target)


def test_a_memory_is_created_as_everything_else_is():
    told = {tool.name: tool.description for tool in react_tools(desk())}
    assert "ADD" not in told["commit_to_memory"]
    assert "want only the new rows" in told["commit_to_dmn_rule"]
