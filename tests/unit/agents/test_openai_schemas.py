import json

import pytest

from skillyard.agents.openai_schemas import call_openai_tool, openai_schemas
from skillyard.agents.tool import tool_of
from skillyard.agents.toolsets.skills import skills_tools


@pytest.fixture
def tools(folder):
    folder.put("tool", "Does it.")
    return skills_tools(folder.source)


def test_every_tool_is_a_function_with_a_json_schema(tools):
    schemas = openai_schemas(tools)
    assert [schema["type"] for schema in schemas] == ["function"] * 6
    load = schemas[0]["function"]
    assert load["name"] == "load_skill"
    assert load["parameters"]["properties"]["skill_name"]["type"] == "string"
    assert "- tool: Does it." in schemas[-1]["function"]["description"]
    assert json.loads(json.dumps(schemas)) == schemas


def test_no_description_is_longer_than_providers_take(folder):
    for number in range(100):
        folder.put(f"skill-{number:02}", "Does one thing of a hundred. " * 5)
    tools = skills_tools(folder.source)
    assert len(tools[-1].description) > 7_000
    skill = openai_schemas(tools)[-1]["function"]["description"]
    assert 900 < len(skill) <= 1_024
    assert "of 100 shown; use search_skills. Available skills:\n- skill-00: " in skill
    assert openai_schemas(tools, longest=8_000)[-1]["function"]["description"] == tools[-1].description
    wordy = tool_of(lambda: "", name="wordy", description="Talks. " * 500)
    assert len(openai_schemas([wordy])[0]["function"]["description"]) == 1_024


def test_a_call_of_a_model_is_answered_with_a_text(tools):
    assert call_openai_tool(tools, "load_skill", '{"skill_name": "tool"}').startswith("---\nname: tool")
    assert call_openai_tool(tools, "skill", '{"skill": "tool"}').endswith("\n\nDo it.")
    assert call_openai_tool(tools, "skill", '{"skill": "tol"}').startswith("Skill not found: tol. ")
    assert tools[-1].call(skill="tol")["success"] is False
    assert call_openai_tool(tools, "search_skills", '{"query": "lattice chromodynamics"}') == "[]"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("load_skil", "{}", "There is no tool 'load_skil'. Did you mean 'load_skill'?"),
        ("zzz", "{}", "There is no tool 'zzz'. There are: load_skill, "),
        ("load_skill", "{", "The arguments are no JSON object: '{'. "),
        ("load_skill", "[1]", "The arguments are no JSON object: '[1]'. "),
        ("load_skill", "[" * 100_000, "The arguments are no JSON object: "),
        ("load_skill", "", "load_skill cannot be called like this: skill_name is missing."),
        ("load_skill", '{"skill_name": "tol"}', "There is no skill 'tol'. There are: tool."),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_do(tools, name, arguments, said):
    answer = call_openai_tool(tools, name, arguments)
    assert answer.startswith(said)
    assert len(answer) < 600
