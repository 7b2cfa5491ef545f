"""Putting a server into the files of other programs, and taking it out again."""

import json
import os
import tomllib

import pytest

from skillyard.agents.clients.install import Act, carry_out, plan_install, plan_uninstall
from skillyard.agents.clients.table import CLIENTS, Server, find_client
from skillyard.errors import ConflictError, InputError, NotFoundError, UnavailableError, UsageError
from skillyard.library.agents import AGENTS
from skillyard.library.json_text import parse_json_text
from skillyard.library.roots import Machine

SERVER = Server(command=["skillyard", "mcp", "serve"], environment={"A": "b"})
REMOTE = Server(url="https://yard.example.org/mcp", with_token=True)


@pytest.fixture
def machine(tmp_path):
    home, project = tmp_path / "person", tmp_path / "project"
    home.mkdir()
    (project / ".git").mkdir(parents=True)
    return Machine(home=home, cwd=project, env={})


@pytest.fixture
def yard(tmp_path):
    return tmp_path / "yard"


def put(name, machine, yard, *, server=SERVER, user=False):
    change = plan_install(find_client(name), server, name="skillyard", machine=machine, user=user)
    carry_out(change, home=yard)
    return change


def take(name, machine, yard, *, user=False):
    change = plan_uninstall(find_client(name), name="skillyard", machine=machine, user=user, home=yard)
    carry_out(change, home=yard)
    return change


def entries(client, file):
    text = file.read_text()
    table = tomllib.loads(text) if file.suffix == ".toml" else parse_json_text(text, file="f")
    for key in client.keys:
        table = table[key]
    return table


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
@pytest.mark.parametrize("user", [False, True], ids=["project", "user"])
def test_every_client_gets_the_server_and_is_as_before_when_it_goes(client, user, machine, yard):
    if user and not client.user:
        with pytest.raises(UsageError, match="projects only"):
            put(client.id, machine, yard, user=user)
        return
    before = sorted(machine.home.parent.rglob("*"))
    change = put(client.id, machine, yard, user=user)
    assert change.file.is_relative_to(machine.home if user or not client.project else machine.cwd)
    assert "skillyard" in json.dumps(entries(client, change.file)["skillyard"])
    assert put(client.id, machine, yard, user=user).act is Act.NONE
    assert take(client.id, machine, yard, user=user).act is Act.REMOVE
    assert sorted(path for path in machine.home.parent.rglob("*") if not path.is_relative_to(yard)) == before


def test_a_folder_that_was_made_for_the_file_stays_once_there_is_something_else_in_it(machine, yard):
    put("kiro", machine, yard)
    (machine.cwd / ".kiro/notes.md").write_text("Mine.")
    put("kiro", machine, yard, server=Server(command=["skillyard", "mcp", "serve", "--registry"]))
    take("kiro", machine, yard)
    assert [path.name for path in (machine.cwd / ".kiro").iterdir()] == ["notes.md"]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_no_client_is_ever_given_the_token_itself(client):
    entry = client.entry(REMOTE)
    if entry is not None:
        assert "SKILLYARD_TOKEN" in json.dumps(entry)
    assert client.entry(Server(url="https://yard.example.org/mcp")) != entry or entry is None


def test_programs_that_moved_their_file_are_met_where_they_are_now(machine, yard):
    change = put("kilo", machine, yard)
    assert change.file == machine.cwd / ".kilo/kilo.jsonc"
    entry = {"type": "local", "command": [*SERVER.command], "enabled": True, "environment": {"A": "b"}}
    assert entries(find_client("kilo"), change.file)["skillyard"] == entry
    (machine.home / ".gemini/antigravity").mkdir(parents=True)
    assert put("antigravity", machine, yard, user=True).file == machine.home / ".gemini/config/mcp_config.json"
    take("antigravity", machine, yard, user=True)
    before = machine.home / ".gemini/antigravity/mcp_config.json"
    before.write_text("{}")
    assert put("antigravity", machine, yard, user=True).file == before
    (machine.home / ".gemini/config").mkdir()
    (machine.home / ".gemini/config/mcp_config.json").write_text("{}")
    assert take("antigravity", machine, yard, user=True).file == before
    assert before.read_text() == "{}"
    assert put("antigravity", machine, yard).file == machine.cwd / ".agents/mcp_config.json"


def test_a_link_to_what_is_not_there_yet_stays_and_its_target_goes_again(machine, yard):
    (machine.cwd / ".mcp.json").symlink_to("shared.json")
    put("claude", machine, yard)
    assert "skillyard" in (machine.cwd / "shared.json").read_text()
    take("claude", machine, yard)
    assert (machine.cwd / ".mcp.json").is_symlink()
    assert not (machine.cwd / "shared.json").exists()


def test_a_link_to_itself_is_told(machine, yard):
    (machine.cwd / ".mcp.json").symlink_to(".mcp.json")
    with pytest.raises(UnavailableError, match="cannot be read"):
        put("claude", machine, yard)


def test_the_names_of_known_agents_mean_the_same_here():
    ids = {agent.id for agent in AGENTS}
    for client in CLIENTS:
        for name in (client.id, *client.aliases):
            assert find_client(name.upper()) is client
        if client.id not in ids:
            assert client.id in {"claude-desktop", "vscode", "zed"}


def test_an_agent_whose_file_cannot_be_changed_is_told_so():
    with pytest.raises(NotFoundError, match="Goose") as caught:
        find_client("goose")
    assert "skillyard mcp serve" in caught.value.hint
    with pytest.raises(NotFoundError) as caught:
        find_client("cursr")
    assert "'cursor'" in caught.value.hint


def test_a_file_with_comments_is_byte_for_byte_as_before(machine, yard):
    file = machine.cwd / ".cursor/mcp.json"
    file.parent.mkdir()
    before = b'\xef\xbb\xbf{ // mine\r\n\t"mcpServers": {"x": {"command": "x"}}, // x\r\n}'
    file.write_bytes(before)
    file.chmod(0o640)
    put("cursor", machine, yard)
    assert b"// mine" in file.read_bytes()
    assert entries(find_client("cursor"), file) == {
        "x": {"command": "x"},
        "skillyard": {"command": "skillyard", "args": ["mcp", "serve"], "env": {"A": "b"}},
    }
    assert file.stat().st_mode & 0o777 == 0o640
    take("cursor", machine, yard)
    assert file.read_bytes() == before


def test_what_was_written_since_stays_when_the_server_goes(machine, yard):
    change = put("gemini", machine, yard)
    text = change.file.read_text()
    change.file.write_text(text.replace("{", '{\n  // since\n  "theme": "dark",', 1))
    take("gemini", machine, yard)
    assert "// since" in change.file.read_text()
    assert parse_json_text(change.file.read_text(), file="f") == {"theme": "dark", "mcpServers": {}}


def test_an_entry_that_was_there_before_comes_back(machine, yard):
    file = machine.cwd / ".mcp.json"
    file.write_text('{"mcpServers": {"skillyard": {"command": "mine"}}}')
    assert put("claude", machine, yard).act is Act.REPLACE
    put("claude", machine, yard, server=Server(command=["other"]))
    file.write_text(file.read_text() + "\n// since\n")
    assert take("claude", machine, yard).act is Act.RESTORE
    assert entries(find_client("claude"), file) == {"skillyard": {"command": "mine"}}
    assert "// since" in file.read_text()
    assert take("claude", machine, yard).act is Act.REMOVE  # now it is an entry like any other


def test_installed_twice_it_still_leads_back_to_the_beginning(machine, yard):
    file = machine.cwd / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text("# Mine.\n")
    put("codex", machine, yard)
    put("codex", machine, yard, server=REMOTE)
    assert tomllib.loads(file.read_text())["mcp_servers"]["skillyard"]["bearer_token_env_var"] == "SKILLYARD_TOKEN"
    take("codex", machine, yard)
    assert file.read_text() == "# Mine.\n"


def test_a_file_that_changes_meanwhile_is_not_written_over(machine, yard):
    change = plan_install(find_client("cursor"), SERVER, name="skillyard", machine=machine, user=False)
    change.file.parent.mkdir()
    change.file.write_text("{}")
    with pytest.raises(ConflictError, match="just now"):
        carry_out(change, home=yard)
    assert change.file.read_text() == "{}"


def test_a_link_stays_a_link(machine, yard, tmp_path):
    real = tmp_path / "dotfiles/mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = machine.home / ".cursor/mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    put("cursor", machine, yard, user=True)
    assert link.is_symlink()
    assert "skillyard" in real.read_text()


def test_a_file_that_is_no_json_is_told_by_its_line_and_left_alone(machine, yard):
    file = machine.cwd / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  "mcpServers": {\n')
    with pytest.raises(InputError, match=r"mcp\.json"):
        put("cursor", machine, yard)
    assert file.read_text() == '{\n  "mcpServers": {\n'
    file.write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        put("cursor", machine, yard)


def test_a_large_file_of_a_client_is_changed_too(machine, yard):
    file = machine.home / ".claude.json"
    file.write_text(json.dumps({"projects": {f"/p{n}": {"history": ["x" * 9000]} for n in range(130)}}, indent=2))
    assert file.stat().st_size > 1024 * 1024
    before = file.read_bytes()
    put("claude", machine, yard, user=True)
    assert entries(find_client("claude"), file)["skillyard"]["type"] == "stdio"
    take("claude", machine, yard, user=True)
    assert file.read_bytes() == before


def test_secrets_that_stand_near_are_not_shown(machine):
    file = machine.cwd / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"x": {"headers": {"Authorization": "Bearer abcdefghijklmnop0123456789"}}}}')
    change = plan_install(find_client("cursor"), SERVER, name="skillyard", machine=machine, user=False)
    assert "abcdefghijklmnop" not in change.diff()
    assert "abcdefghijklmnop" not in json.dumps(change.as_dict())


def test_what_is_kept_for_the_way_back_is_for_its_owner_only(machine, yard):
    put("cursor", machine, yard)
    (record,) = (yard / "mcp-clients").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600


def test_a_client_that_cannot_keep_a_token_out_of_its_file_is_given_no_address(machine, yard):
    with pytest.raises(UsageError, match="Trae") as caught:
        put("trae", machine, yard, server=REMOTE)
    assert "--http" in caught.value.hint


@pytest.mark.parametrize("name", ["", " skillyard", "a\nb", "x" * 65])
def test_what_is_no_name_is_refused_before_anything_is_read(name, machine):
    with pytest.raises(UsageError, match="name of a server"):
        plan_install(find_client("cursor"), SERVER, name=name, machine=machine, user=False)


@pytest.mark.skipif(os.name == "nt", reason="variables of other systems")
def test_variables_say_where_files_are(machine, tmp_path):
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": str(tmp_path / "x"), "COPILOT_HOME": "relative"}
    moved = Machine(home=machine.home, cwd=machine.cwd, env=env)
    assert find_client("claude").files(moved, user=True) == (tmp_path / "c/.claude.json",)
    assert find_client("codex").files(moved, user=True) == (tmp_path / "x/config.toml",)
    assert find_client("copilot").files(moved, user=True) == (machine.home / ".copilot/mcp-config.json",)
