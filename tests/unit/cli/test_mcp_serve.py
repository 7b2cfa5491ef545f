"""`skillyard mcp serve`: which uses it counts, and where. The server itself is tried as a process elsewhere."""

import pytest

from skillyard import Skillyard
from skillyard.agents.toolsets.skills import SkillTools
from skillyard.cli import mcp as command
from skillyard.server.mcp import stdio


@pytest.fixture
def loads(monkeypatch):
    """Stands for a client that loads skills and goes away."""
    monkeypatch.setattr(command, "_LAST_SECONDS", 60.0)

    def load(*names):
        def serve(source, *_, **__):
            for name in names:
                SkillTools(source, session="s-1").load_skill(name)

        monkeypatch.setattr(stdio, "serve_stdio", serve)

    return load


def test_uses_of_folders_are_counted_in_the_yard_of_this_machine_and_none_is_made_for_it(
    run, skill, machine, loads, monkeypatch, new_home
):
    home = machine / "yard"
    monkeypatch.setenv("SKILLYARD_HOME", str(home))
    folder = skill("pdf")
    loads("pdf")
    assert run("mcp", "serve").code == 0
    assert not (home / "registry.sqlite").exists()

    new_home(home)
    with Skillyard(home=home) as yard:
        yard.publish(folder, version="1.0.0")
    monkeypatch.setenv("SKILLYARD_SERVER", "http://127.0.0.1:9")
    assert run("mcp", "serve").code == 0
    monkeypatch.delenv("SKILLYARD_SERVER")
    assert run("mcp", "serve").code == 0
    with Skillyard(home=home) as yard:
        assert [(day["event"], day["version"], day["count"]) for day in yard.usage_of("pdf")] == [
            ("loaded", "1.0.0", 1)
        ]


def test_tools_work_on_the_current_folder_unless_that_is_home_or_another_is_named(run, machine, monkeypatch):
    given = []
    monkeypatch.setattr(stdio, "serve_stdio", lambda *_, local, **__: given.append(local))
    project = machine / "project"
    project.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(machine))
    for folder, more in ((project, ()), (machine, ()), (machine, ("--local", str(project)))):
        monkeypatch.chdir(folder)
        assert run("mcp", "serve", *more).code == 0
    assert given == [project, None, project]
    assert run("mcp", "serve", "--local", str(machine / "absent")).code == 2
