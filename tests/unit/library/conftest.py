"""Small skills on a machine of their own."""

from pathlib import Path
from typing import Protocol

import pytest

from skillyard.library.roots import Machine


class WriteSkill(Protocol):
    def __call__(self, folder: Path, **fields: str) -> Path: ...


@pytest.fixture
def write_skill() -> WriteSkill:
    """Writes a skill into a folder; `name`, `description`, `body`, `file` and `text` can be given."""

    def write(folder: Path, **fields: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        name = fields.get("name", folder.name)
        description = fields.get("description", f"Does {folder.name}.")
        body = fields.get("body", "Do it.")
        text = fields.get("text", f"---\nname: {name}\ndescription: {description}\n---\n{body}\n")
        path = folder / fields.get("file", "SKILL.md")
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """An empty home with a repository in it, in which the person works."""
    home = tmp_path / "person"
    (home / "project" / ".git").mkdir(parents=True)
    return Machine(home=home, cwd=home / "project", env={})


@pytest.fixture
def config_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Skillyard's own configuration folder, empty."""
    monkeypatch.setenv("SKILLYARD_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def claude(machine: Machine) -> Path:
    """Claude Code is here; its folder of skills."""
    folder = machine.home / ".claude" / "skills"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def codex(machine: Machine) -> Path:
    """Codex is here; its folder of skills."""
    folder = machine.home / ".codex" / "skills"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def shared(machine: Machine) -> Path:
    folder = machine.home / ".agents" / "skills"
    folder.mkdir(parents=True)
    return folder
