import pytest

from skillyard.app.environments import use
from skillyard.app.libraries import open_library
from skillyard.config.load import load_settings
from skillyard.config.paths import config_dir
from skillyard.library.switches import Switches, save_switches


@pytest.fixture(autouse=True)
def person(tmp_path, monkeypatch):
    for name in ("SKILLYARD_HOME", "SKILLYARD_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DOCUMENT_ROOT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def write_skill(folder):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: Does it.\n---\n")


def ids(library):
    return {entry.id for entry in library.catalog().entries}


def test_an_open_library_notices_switches_and_folders_that_come_later(person):
    write_skill(person / ".agents/skills/first")
    library = open_library(load_settings())
    assert "first" in ids(library)
    write_skill(person / ".claude/skills/second")
    assert {"first", "second"} <= ids(library)
    save_switches(config_dir(), Switches().disable("first"))
    assert "first" not in ids(library)
    assert "second" in ids(library)


def test_named_folders_notice_switches_too(person):
    write_skill(person / "mine/tool")
    library = open_library(load_settings(), roots=[person / "mine"])
    assert ids(library) == {"tool"}
    save_switches(config_dir(), Switches().disable("tool"))
    assert ids(library) == set()


def test_what_is_served_to_an_agent_is_the_active_environment_alone_whichever_it_is(person):
    write_skill(person / ".agents/skills/other")
    for name in ("day", "night"):
        write_skill(config_dir() / f"environments/{name}/skills/{name}-skill")
    library = open_library(load_settings(), active_only=True)
    assert {"other", "skillyard"} <= ids(library)
    use("day")
    assert ids(library) == {"day-skill"}
    use("night")
    assert ids(library) == {"night-skill"}
    use(None)
    assert {"other", "skillyard"} <= ids(library)
