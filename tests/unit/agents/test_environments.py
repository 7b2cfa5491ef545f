"""An agent in an environment: what it is told follows the environment, query by query."""

import pytest

from skillyard.agents.library_source import LibrarySource
from skillyard.agents.skill_tool import SkillTool
from skillyard.app.libraries import open_library
from skillyard.config.load import load_settings
from skillyard.library.environments import Environments

SKILL = "---\nname: {name}\ndescription: Does {name}.\n---\n\nDo {name}.\n"


@pytest.fixture
def environments(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("SKILLYARD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("SKILLYARD_HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    made = Environments(tmp_path / "config")
    for name in ("day", "night"):
        write(made.create(name), f"{name}-skill")
    return made


def write(environment, name):
    folder = environment.skills_dir / name
    folder.mkdir()
    (folder / "skill.md").write_text(SKILL.format(name=name))


def test_the_tool_tells_of_the_environment_that_is_active_at_each_query(environments):
    environments.switch("day")
    skill_tool = SkillTool(LibrarySource(open_library(load_settings())))
    skill_tool.changes()
    assert "- day-skill: Does day-skill." in skill_tool.tool().description
    assert skill_tool.tool().call(skill="day-skill")["success"] is True

    environments.switch("night")
    assert "- night-skill: " in skill_tool.tool().description
    assert "day-skill" not in skill_tool.tool().description
    changes = skill_tool.changes()
    assert (changes.added, changes.removed) == (("night-skill",), ("day-skill",))
    assert (
        skill_tool.tool().call(skill="day-skill")["error"].startswith("Skill not found: day-skill. Available skills: ")
    )

    write(environments.get("night"), "new-skill")
    assert skill_tool.changes().text() == "Added: new-skill."
    assert "Do new-skill." in skill_tool.tool().call(skill="New-Skill")["output"]


def test_one_environment_alone_is_a_source_too(environments):
    day = environments.get("day")
    skill_tool = SkillTool(LibrarySource(day.library))
    assert skill_tool.description() == (
        f"Execute a skill. Available skills:\n{day.get_skills_info_for_tool_description()}"
    )
