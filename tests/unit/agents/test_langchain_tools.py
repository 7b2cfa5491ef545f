import asyncio

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from skillyard.agents.langchain_tools import langchain_tools
from skillyard.agents.openai_schemas import openai_schema
from skillyard.agents.toolsets.skills import skills_tools


@pytest.fixture
def tools(folder):
    folder.put("tool", "Does it.")
    return skills_tools(folder.source)


def call(name, **arguments):
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


def test_a_model_is_told_the_same_of_a_langchain_tool(tools):
    for ours, theirs in zip(tools, langchain_tools(tools), strict=True):
        told = convert_to_openai_tool(theirs)["function"]
        assert told == openai_schema(ours)["function"]
        assert theirs.metadata == {"read_only": True, "destructive": False, "idempotent": True}


def test_an_answer_is_a_message_and_so_is_an_error(tools):
    load, search, *_ = langchain_tools(tools)
    assert load.invoke(call("load_skill", skill_name="Tool")).content.startswith("---\nname: tool")
    assert search.invoke(call("search_skills", query="lattice chromodynamics", n="3")).content == "[]"
    refused = load.invoke(call("load_skill", skill_name="tol"))
    assert refused.status == "error"
    assert refused.content == "There is no skill 'tol'. There are: tool."
    assert "skill_name is missing" in load.invoke(call("load_skill")).content


def test_a_skill_is_read_as_it_was_written_and_one_that_is_not_there_is_an_error(tools):
    skill = langchain_tools(tools)[-1]
    loaded = skill.invoke(call("skill", skill="tool"))
    assert (loaded.content.partition("\n\n")[2], loaded.status) == ("Do it.", "success")
    missing = skill.invoke(call("skill", skill="tol"))
    assert (missing.content, missing.status) == ("Skill not found: tol. Available skills: tool", "error")


def test_tools_can_be_awaited(tools):
    load = langchain_tools(tools)[0]
    message = asyncio.run(load.ainvoke(call("load_skill", skill_name="tool")))
    assert message.content.startswith("---\nname: tool")
