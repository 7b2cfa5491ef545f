"""Advice for people, told to models."""

import json
from pathlib import Path

import pytest

from skillyard.agents.toolsets.names import OF_YARDS
from skillyard.agents.toolsets.of_yards import YardToolsets
from skillyard.agents.toolsets.yard_tool import _ROUTES, _TOOLS, for_models, yard_tool
from skillyard.errors import NotFoundError
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection

PAGE = Path(__file__).parents[4] / "docs/toolsets.md"


@pytest.fixture(scope="module")
def tools():
    with Connection("http://127.0.0.1:9") as connection:
        sets = YardToolsets(lambda: YardClient(connection))
        yield {tool.name: tool for name in OF_YARDS for tool in sets.tools(name)}


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("See which there are: skillyard sandbox ls", "See which there are: list_sandboxes"),
        ("Download it: skillyard sandbox files download ID PATH", "Download it: download_file"),
        (
            "Replay it first: skillyard release replay cand-1; then go on.",
            "Replay it first: replay_skill_candidate; then go on.",
        ),
        ("`skillyard registry list` shows them.", "list_skills shows them."),
        ("See what this machine lacks: skillyard doctor", "See what this machine lacks: skillyard doctor"),
        ("skillyard registry listing", "skillyard registry listing"),
        ("`GET /v1/sandboxes/sandbox-0/history` lists them.", "get_execution_history lists them."),
        ("POST /v1/skills/payloads answers with it.", "create_skill_payload answers with it."),
        ("GET /v1/cargos/1 shows it.", "GET /v1/cargos/1 shows it."),
        ("/openapi.json says what each parameter may be.", ""),
        ("", ""),
    ],
)
def test_commands_become_tools(hint, told):
    assert for_models(hint) == told


def test_the_tools_that_advice_names_are_there(tools):
    for told in (*_TOOLS.values(), *_ROUTES.values()):
        assert told.partition(" ")[0] in tools


def test_of_commands_that_begin_alike_the_longer_is_tried_first():
    names = list(_TOOLS)
    for at, name in enumerate(names):
        assert not any(later.startswith(f"{name} ") for later in names[at + 1 :])


def test_an_error_keeps_its_kind_and_what_it_says():
    def look():
        """Look."""
        raise NotFoundError("There is none.", hint="List yours: skillyard release list", details={"field": "x"})

    with pytest.raises(NotFoundError) as caught:
        yard_tool(look).call()
    assert (caught.value.hint, caught.value.details) == ("List yours: list_skill_releases", {"field": "x"})


def test_every_tool_is_in_the_page_that_tells_them(tools):
    page = PAGE.read_text()
    assert [name for name in tools if f"`{name}`" not in page] == []


def test_tools_are_described_within_reason(tools):
    """All of them together are in every prompt of a client that asks for all."""
    assert sum(len(tool.description) + len(json.dumps(tool.parameters)) for tool in tools.values()) < 50_000
    for tool in tools.values():
        assert 10 <= len(tool.description) < 700, tool.name


def test_an_argument_may_have_another_name():
    def look(name: str):
        """Look."""
        return name

    tool = yard_tool(look, also={"file_name": "name"})
    assert tool.call(file_name="a") == "a"
    assert tool.call(file_name="a", name=None) == "a"
    assert "there is no argument 'file_name'" in tool.text_or_error({"file_name": "a", "name": "b"})[0]
    assert tool.parameters["required"] == ["name"]
    assert "file_name" not in tool.parameters["properties"]
