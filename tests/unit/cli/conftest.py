import json
import os
from dataclasses import dataclass
from typing import Any

import pytest

from skillyard.cli.main import main


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys):
    """Run a command line in this process."""

    def _run(*words: object) -> Result:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return _run


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """An empty machine: a person's home and a project, nothing installed, nothing set."""
    for name in [name for name in os.environ if name.startswith("SKILLYARD_")]:
        monkeypatch.delenv(name)
    for name in ("DOCUMENT_ROOT", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    person, project = tmp_path / "person", tmp_path / "project"
    person.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.chdir(project)
    return tmp_path


def write_skill(folder, *, name=None, description="Does one thing well. Use it for that thing.", body="# Do it\n"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: {name or folder.name}\ndescription: {description}\n---\n\n{body}")
    return folder


@pytest.fixture
def skill(tmp_path):
    """Make a skill folder: `skill("pdf")`, below the project unless a folder is given."""

    def _skill(folder, *, under=None, **fields):
        return write_skill((under or tmp_path / "project/.agents/skills") / folder, **fields)

    return _skill
