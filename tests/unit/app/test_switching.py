from pathlib import Path

import pytest

from skillyard.app.switching import switch_for_agent
from skillyard.config.load import load_settings
from skillyard.library.audit import audit
from skillyard.library.roots import Machine


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG_DIR", "ROOTS", "DOCUMENT_ROOT", "ACTIVE_ENVIRONMENT"):
        monkeypatch.delenv(f"SKILLYARD_{name}", raising=False)
    for name in ("DOCUMENT_ROOT", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "data"))
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def write_skill(folder: Path, body: str = "Do it.") -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: Does it.\n---\n{body}\n")


def seen(agent: str) -> list[str]:
    view = next(view for view in audit(Machine.here()).agents if view.id == agent)
    return [entry.id for entry in view.sees]


def test_a_skill_linked_from_another_agents_folder_is_switched(home: Path):
    write_skill(home / "project/.agents/skills/pdf")
    (home / "project/.claude/skills").mkdir(parents=True)
    (home / "project/.claude/skills/pdf").symlink_to("../../.agents/skills/pdf")
    assert seen("claude-code") == ["pdf"]
    assert switch_for_agent(load_settings(), ["pdf"], "claude", on=False).files == (home / ".claude/settings.json",)
    assert seen("claude-code") == []
    switch_for_agent(load_settings(), ["pdf"], "claude", on=True)
    assert seen("claude-code") == ["pdf"]


def test_every_copy_is_switched_for_an_agent_that_shows_all(home: Path):
    write_skill(home / ".agents/skills/pdf", "one")
    write_skill(home / ".codex/skills/pdf", "two")
    assert seen("codex") == ["pdf", "pdf"]
    switch_for_agent(load_settings(), ["pdf"], "codex", on=False)
    assert seen("codex") == []
    switch_for_agent(load_settings(), ["pdf"], "codex", on=True)
    assert seen("codex") == ["pdf", "pdf"]
