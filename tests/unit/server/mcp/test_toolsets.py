import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.materialise import Nowhere
from skillyard.agents.yard_source import YardSource
from skillyard.library.folder import FolderLibrary
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.server.mcp.tools import called, tool_named
from skillyard.server.mcp.toolsets import Toolbox
from skillyard.server.mcp.wanted import Wanted


@pytest.fixture
def away():
    """The tools of a client whose yard does not answer."""
    with Connection("http://127.0.0.1:9") as connection:
        client = YardClient(connection)
        yield Toolbox(YardSource(client), Wanted(), yard=lambda: client, place=Nowhere())


def test_tools_are_there_while_the_yard_is_away(away):
    """Many clients list tools once, when they start."""
    assert away.tools()["skill"].description == "Execute a skill."
    assert len(away.tools()) == 6


@pytest.mark.parametrize(("name", "argument"), [("skill", "skill"), ("load_skill", "skill_name")])
def test_what_went_wrong_with_a_yard_is_told_to_the_model_that_calls_a_tool(away, name, argument):
    answer = called(tool_named(away, name), {argument: "pdf"})
    assert answer.is_error
    assert "does not answer" in answer.content[0].text


def test_the_first_line_of_the_tool_says_what_it_is_for(tmp_path):
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf/SKILL.md").write_text("---\nname: pdf\ndescription: Reads PDF files.\n---\n")
    toolbox = Toolbox(LibrarySource(FolderLibrary(tmp_path)), Wanted(), yard=lambda: None, place=Nowhere())
    assert toolbox.tools()["skill"].description == (
        "Execute a skill: instructions for a task. Available skills:\n- pdf: Reads PDF files."
    )
