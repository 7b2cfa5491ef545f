"""`skillyard mcp install`, `uninstall` and `clients` as people and scripts use them."""

import json
import sys

import pytest


@pytest.fixture
def project(machine):
    return machine / "project"


def test_what_would_be_written_is_shown_and_a_dry_run_writes_nothing(run, project):
    result = run("mcp", "install", "--agent", "claude", "--dry-run")
    assert result.code == 0
    assert '+    "skillyard": {' in result.out
    assert "dry run" in result.out
    assert not (project / ".mcp.json").exists()


def test_without_a_yes_nothing_is_written_and_it_is_said_how(run, project):
    result = run("mcp", "install", "--agent", "claude")
    assert result.code == 2
    assert "-y" in result.err
    assert not (project / ".mcp.json").exists()


def test_installed_seen_and_taken_back(run, project, machine):
    result = run("mcp", "install", "--agent", "claude", "--agent", "codex", "--toolsets", "skills,registry", "-y")
    assert result.code == 0
    assert "undo: skillyard mcp uninstall --agent claude-code" in result.out
    entry = json.loads((project / ".mcp.json").read_text())["mcpServers"]["skillyard"]
    assert entry == {
        "type": "stdio",
        "command": "skillyard",
        "args": ["mcp", "serve", "--toolsets", "skills,registry"],
    }
    states = {row["agent"]: row for row in run("mcp", "clients", "--json").json["clients"]}
    assert states["claude-code"]["project"]["installed"]
    assert not states["claude-code"]["user"]["installed"]
    assert "✓  claude-code" in run("mcp", "clients").out
    again = run("mcp", "install", "--agent", "claude", "--toolsets", "skills,registry", "--json")
    assert again.json["changes"][0]["act"] == "none"
    gone = run("mcp", "uninstall", "--agent", "claude", "--agent", "codex", "-y", "--json")
    assert [change["act"] for change in gone.json["changes"]] == ["remove", "remove"]
    assert list(project.rglob("*.json")) == []
    assert run("mcp", "uninstall", "--agent", "claude", "-y").code == 3


def test_ones_own_file_names_the_program_by_its_whole_path(run, machine, monkeypatch):
    monkeypatch.setenv("SKILLYARD_HOME", str(machine / "yard"))
    assert run("mcp", "install", "--agent", "cursor", "--user", "-y").code == 0
    entry = json.loads((machine / "person/.cursor/mcp.json").read_text())["mcpServers"]["skillyard"]
    assert entry["command"].startswith("/")
    assert entry["env"] == {"SKILLYARD_HOME": str(machine / "yard")}


def test_an_address_is_written_without_its_token(run, project, monkeypatch):
    monkeypatch.setenv("SKILLYARD_TOKEN", "sky_secret")
    words = ("--server", "https://yard.example.org/", "--http", "--toolsets", "all")
    result = run("mcp", "install", "--agent", "vscode", *words, "-y")
    assert result.code == 0
    text = (project / ".vscode/mcp.json").read_text()
    assert json.loads(text)["servers"]["skillyard"] == {
        "type": "http",
        "url": "https://yard.example.org/mcp?toolsets=all",
        "headers": {"Authorization": "Bearer ${env:SKILLYARD_TOKEN}"},
    }
    assert "sky_secret" not in text + result.out + result.err
    assert "SKILLYARD_TOKEN" in result.err


@pytest.mark.parametrize("how", [["--http"], []], ids=["asked by the agent", "asked by a command"])
def test_an_address_with_a_password_is_refused_before_it_is_written(run, project, how):
    result = run("mcp", "install", "--agent", "cursor", "--server", "https://ann:hunter2@yard.example.org", *how, "-y")
    assert result.code == 2
    assert "SKILLYARD_TOKEN" in result.err
    assert "hunter2" not in result.out + result.err
    assert not (project / ".cursor").exists()


def test_what_is_no_address_is_refused(run, project):
    result = run("mcp", "install", "--agent", "cursor", "--server", "http://ann:hunter2@[", "-y")
    assert (result.code, "--server takes an address" in result.err) == (2, True)
    assert "hunter2" not in result.out + result.err
    assert not (project / ".cursor").exists()


def test_that_no_token_is_sent_is_said(run):
    words = ("--server", "https://yard.example.org", "--http", "-y")
    assert "No token is sent" in run("mcp", "install", "--agent", "cursor", *words).err


def test_the_command_that_undoes_it_can_be_pasted(run):
    assert "--name 'my yard'" in run("mcp", "install", "--agent", "cursor", "--name", "my yard", "-y").out


def test_a_command_for_a_server_elsewhere_names_it(run, project):
    assert run("mcp", "install", "--agent", "codex", "--server", "https://yard.example.org", "-y").code == 0
    text = (project / ".codex/config.toml").read_text()
    assert 'args = ["mcp", "serve", "--server", "https://yard.example.org"]' in text


def test_what_an_agent_starts_is_handed_the_token_where_it_would_be_withheld(run, project, monkeypatch):
    """Codex hands a few variables on to the servers that it starts, and Gemini CLI none whose name tells of a token."""
    words = ("--agent", "codex", "--agent", "gemini", "--agent", "claude", "--server", "https://yard.example.org")
    run("mcp", "install", *words, "-y")
    assert "TOKEN" not in (project / ".codex/config.toml").read_text()
    monkeypatch.setenv("SKILLYARD_TOKEN", "sky_secret")
    result = run("mcp", "install", *words, "-y")
    assert (result.code, "SKILLYARD_TOKEN" in result.err) == (0, True)
    texts = [(project / name).read_text() for name in (".codex/config.toml", ".gemini/settings.json", ".mcp.json")]
    assert 'env_vars = ["SKILLYARD_TOKEN"]' in texts[0]
    assert json.loads(texts[1])["mcpServers"]["skillyard"]["env"] == {"SKILLYARD_TOKEN": "${SKILLYARD_TOKEN}"}
    assert "env" not in json.loads(texts[2])["mcpServers"]["skillyard"]
    assert "sky_secret" not in "".join(texts)


def test_a_folder_or_an_environment_is_entered_as_each_file_needs_it(run, project, machine):
    (project / "sub").mkdir()
    run("mcp", "install", "--agent", "claude", "--root", "sub", "--env", "work", "-y")
    entry = json.loads((project / ".mcp.json").read_text())["mcpServers"]["skillyard"]
    assert entry["args"] == ["mcp", "serve", "--root", "sub", "--env", "work"]
    run("mcp", "install", "--agent", "cursor", "--user", "--root", "sub", "-y")
    entry = json.loads((machine / "person/.cursor/mcp.json").read_text())["mcpServers"]["skillyard"]
    assert entry["args"][-2:] == ["--root", str(project / "sub")]
    outside = run("mcp", "install", "--agent", "cursor", "--root", str(machine / "person"), "-y")
    assert (outside.code, "--user" in outside.err) == (2, True)
    for yard in (("--server", "https://yard.example.org"), ("--registry",)):
        both = run("mcp", "install", "--agent", "cursor", "--root", "sub", *yard, "-y")
        assert (both.code, yard[0] in both.err) == (2, True)


def test_a_program_that_the_agent_would_not_find_is_remarked(run, project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "--user" in run("mcp", "install", "--agent", "cursor", "-y").err
    monkeypatch.setenv("PATH", f"{tmp_path}:{project}")
    (project / "skillyard").write_text("#!/bin/sh\n")
    (project / "skillyard").chmod(0o755)
    assert run("mcp", "install", "--agent", "trae", "-y").err == ""


def test_mistakes_are_told_with_a_way_out(run, machine):
    (machine / "person/.cursor").mkdir()
    nobody = run("mcp", "install")
    assert nobody.code == 2
    assert "--agent cursor" in nobody.err
    assert run("mcp", "install", "--agent", "curser").code == 3
    assert run("mcp", "install", "--agent", "cursor", "--http").code == 2
    assert run("mcp", "install", "--agent", "cursor", "--toolsets", "skills,regstry", "-y").code == 2
    assert "--server" in run("mcp", "install", "--agent", "cursor", "--http").err
    (machine / "project/.cursor").mkdir()
    (machine / "project/.cursor/mcp.json").write_text("{")
    broken = {row["agent"]: row for row in run("mcp", "clients", "--json").json["clients"]}["cursor"]
    assert "mcp.json" in broken["project"]["problem"]
    assert "mcp.json" in run("mcp", "clients").out


def test_a_file_that_cannot_be_read_is_no_success(run, project):
    (project / ".mcp.json").mkdir()
    assert "!  claude-code     project:" in run("mcp", "clients").out


SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"id": message["id"], "result": {"tools": [{"name": "skill"}][%d:]}}), flush=True)
"""


def enter(project, script):
    entry = {"command": sys.executable, "args": ["-c", script]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"skillyard": entry}}))


def test_an_agent_that_gets_the_tools_is_told_with_the_times(run, project):
    enter(project, SERVER % 0)
    result = run("mcp", "test", "--agent", "claude")
    assert result.code == 0
    assert "✓ Claude Code" in result.out
    assert "1 tool after" in result.out
    [document] = run("mcp", "test", "--agent", "claude", "--json").json["tests"]
    assert document["ok"] is True
    assert document["tools"] == 1
    assert document["listed"] < document["allowed"]


def test_an_agent_that_does_not_get_the_tools_is_told_what_to_do(run, project):
    enter(project, SERVER % 1)
    result = run("mcp", "test", "--agent", "claude")
    assert result.code == 1
    assert "The server has no tools." in result.out
    enter(project, "raise SystemExit('no yard')")
    result = run("mcp", "test", "--agent", "claude")
    assert result.code == 1
    assert "no yard" in result.out
    assert run("mcp", "test", "--agent", "cursor").code == 3


def test_tools_that_come_after_an_agent_gave_up_are_a_failure(run, project, machine):
    (project / ".codex").mkdir()
    slow = "import time; time.sleep(1.5)\n" + SERVER % 0
    text = f"[mcp_servers.skillyard]\ncommand = {json.dumps(sys.executable)}\nargs = ['-c', {json.dumps(slow)}]\n"
    (project / ".codex/config.toml").write_text(text)
    result = run("mcp", "test", "--agent", "codex")
    assert result.code == 1
    assert "Codex goes on without them after 1 s" in result.out
    assert "skillyard mcp install --agent codex --user" in result.out
