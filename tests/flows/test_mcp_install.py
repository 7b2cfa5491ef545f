"""What is written into an agent's file starts a server that the agent can use."""

import json
import os
import sys
import tomllib

import pytest
from mcp import Client, StdioServerParameters
from tests import commands

pytestmark = pytest.mark.anyio


@pytest.fixture
def machine(tmp_path, new_home):
    """A person's home, a project with a skill, and a yard."""
    skill = tmp_path / "project/.agents/skills/pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Reads PDF files.\n---\n\n# PDF\n")
    (tmp_path / "person").mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SKILLYARD_", "XDG_"))}
    places = {"HOME": str(tmp_path / "person"), "SKILLYARD_HOME": str(new_home(tmp_path / "yard"))}
    path = f"{os.path.dirname(sys.executable)}:{kept['PATH']}"  # noqa: PTH120 -- links stay as they are
    return tmp_path, {**kept, **places, "PATH": path}


def run(machine, *words):
    folder, environment = machine
    done = commands.run(
        [*words, "--json"],
        env=environment,
        cwd=folder / "project",
        check=True,
    )
    return json.loads(done.stdout)


async def asked(machine, command, arguments, environment, tool, **given):
    """What a tool of the server says that an agent starts so."""
    folder, own = machine
    # Agents with windows start programs without the variables of a shell.
    basics = {name: own[name] for name in ("HOME", "PATH")}
    server = StdioServerParameters(
        command=command, args=arguments, env={**basics, **environment}, cwd=str(folder / "project")
    )
    async with Client(server, read_timeout_seconds=60) as client:
        names = [each.name for each in (await client.list_tools()).tools]
        result = await client.call_tool(tool, given)
        return names, "\n".join(block.text for block in result.content)


async def test_the_entry_of_a_project_serves_the_skills_of_that_project(machine):
    run(machine, "mcp", "install", "--agent", "claude", "-y")
    entry = json.loads((machine[0] / "project/.mcp.json").read_text())["mcpServers"]["skillyard"]
    names, said = await asked(machine, entry["command"], entry["args"], {}, "load_skill", skill_name="pdf")
    assert said.endswith("# PDF\n")
    assert "list_skills" not in names


async def test_ones_own_entry_has_the_tools_of_the_yard_that_it_names(machine):
    run(machine, "mcp", "install", "--agent", "codex", "--user", "--toolsets", "registry,sandbox", "-y")
    entry = tomllib.loads((machine[0] / "person/.codex/config.toml").read_text())["mcp_servers"]["skillyard"]
    assert entry["env"] == {"SKILLYARD_HOME": machine[1]["SKILLYARD_HOME"]}
    words = {"name": "made", "description": "Made over MCP.", "content": "# Made\n"}
    names, said = await asked(machine, entry["command"], entry["args"], entry["env"], "create_skill", **words)
    assert json.loads(said)["full_name"].endswith("/made")
    assert {"read_skill_document", "run_shell"} <= set(names)
    assert "load_skill" not in names
    assert [skill["name"] for skill in run(machine, "registry", "list")["skills"]] == ["made"]
