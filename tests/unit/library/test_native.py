import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from skillyard.errors import ConflictError, InputError, NotAllowedError
from skillyard.library.agents import find_agent
from skillyard.library.native import native_state, switch_native
from skillyard.library.roots import Machine
from skillyard.skill.library import SkillEntry

CLAUDE = find_agent("claude")
CODEX = find_agent("codex")
GEMINI = find_agent("gemini")


@pytest.fixture
def entry(machine: Machine, write_skill) -> SkillEntry:
    path = write_skill(machine.home / ".agents/skills/pdf", name="PDF tools")
    return SkillEntry("pdf", "PDF tools", "Reads.", str(path), "here")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("settings", "off"),
    [
        ({"skillOverrides": {"pdf": "off"}}, True),
        ({"skillOverrides": {"PDF tools": "user-invocable-only"}}, True),
        ({"skillOverrides": {"pdf": "name-only"}}, False),
        ({"skillOverrides": {"other": "off"}}, False),
        ({"permissions": {"deny": ["Skill(pdf)"]}}, True),
        ({"permissions": {"deny": ["Skill"]}}, True),
        ({"permissions": {"deny": ["Bash(rm *)"]}}, False),
        ({"skillOverrides": ["pdf"]}, False),
    ],
)
def test_what_claude_codes_settings_hide_is_known(machine: Machine, entry, settings: dict, off: bool):
    write(machine.home / ".claude/settings.json", json.dumps(settings))
    assert native_state(CLAUDE, machine).is_off(entry) is off


def test_the_projects_settings_overrule_the_persons(machine: Machine, entry):
    write(machine.home / ".claude/settings.json", '{"skillOverrides": {"pdf": "off"}}')
    write(machine.cwd / ".claude/settings.local.json", '{"skillOverrides": {"pdf": "on"}}')
    assert not native_state(CLAUDE, machine).is_off(entry)


@pytest.mark.parametrize(
    ("rules", "off"),
    [
        ('[[skills.config]]\npath = "{path}"\nenabled = false\n', True),
        ('[[skills.config]]\nname = "PDF tools"\nenabled = false\n', True),
        ('[[skills.config]]\npath = "{path}"\nenabled = true\n', False),
        ('[[skills.config]]\npath = "{path}"\nname = "pdf"\nenabled = false\n', False),
        ('[[skills.config]]\npath = "/elsewhere/SKILL.md"\nenabled = false\n', False),
        (
            '[[skills.config]]\npath = "{path}"\nenabled = false\n[[skills.config]]\npath = "{path}"\nenabled = true\n',
            False,
        ),
    ],
)
def test_what_codexs_settings_hide_is_known(machine: Machine, entry, rules: str, off: bool):
    write(machine.home / ".codex/config.toml", rules.format(path=entry.location))
    assert native_state(CODEX, machine).is_off(entry) is off


def test_codex_knows_a_skill_by_its_real_path(machine: Machine, entry):
    link = machine.home / "linked"
    link.symlink_to(Path(entry.location).parent)
    write(machine.home / ".codex/config.toml", f'[[skills.config]]\npath = "{link}/SKILL.md"\nenabled = false\n')
    assert native_state(CODEX, machine).is_off(entry)


def test_what_the_disabled_list_hides_is_known(machine: Machine, entry):
    write(machine.home / ".gemini/settings.json", '{"skills": {"disabled": ["pdf TOOLS"]}} // mine')
    assert native_state(GEMINI, machine).is_off(entry)


def test_a_broken_settings_file_is_told_and_hides_nothing(machine: Machine, entry):
    path = write(machine.home / ".claude/settings.json", "{")
    state = native_state(CLAUDE, machine)
    assert not state.is_off(entry)
    assert [error.details["file"] for error in state.troubles] == [str(path)]


@pytest.mark.parametrize("agent", [CLAUDE, CODEX, GEMINI, find_agent("qwen")], ids=lambda agent: agent.id)
def test_a_skill_is_turned_off_and_on_again_in_the_agents_own_settings(machine: Machine, entry, agent):
    (path,) = switch_native(agent, [entry], machine, on=False)
    assert native_state(agent, machine).is_off(entry)
    assert switch_native(agent, [entry], machine, on=False) == ()
    assert switch_native(agent, [entry], machine, on=True) == (path,)
    assert not native_state(agent, machine).is_off(entry)
    assert switch_native(agent, [entry], machine, on=True) == ()


def test_turning_on_finds_the_file_that_turned_it_off(machine: Machine, entry):
    path = write(machine.cwd / ".claude/settings.json", '{"skillOverrides": {"pdf": "off", "x": "off"}}')
    assert switch_native(CLAUDE, [entry], machine, on=True) == (path,)
    assert json.loads(path.read_text()) == {"skillOverrides": {"x": "off"}}


def test_other_settings_stay_as_they_are(machine: Machine, entry):
    claude = write(machine.home / ".claude/settings.json", '{"model": "größe", "permissions": {"deny": ["x"]}}')
    switch_native(CLAUDE, [entry], machine, on=False)
    assert json.loads(claude.read_text()) == {
        "model": "größe",
        "permissions": {"deny": ["x"]},
        "skillOverrides": {"pdf": "off", "PDF tools": "off"},
    }
    codex = write(machine.home / ".codex/config.toml", 'model = "x" # keep me\n\n[tools]\nweb = true\n')
    switch_native(CODEX, [entry], machine, on=False)
    assert codex.read_text().startswith('model = "x" # keep me\n\n[tools]\nweb = true\n')


@pytest.mark.parametrize(
    "before",
    [
        'skills = { config = [{ name = "other", enabled = false }] }\n',
        "[skills]\ninclude_instructions = true\n",
        "[skills.bundled]\nenabled = false\n",
        '[[skills.config]]\nname = "other"\nenabled = false\n',
    ],
)
def test_every_spelling_of_codexs_settings_can_be_changed(machine: Machine, entry, before: str):
    path = write(machine.home / ".codex/config.toml", before)
    switch_native(CODEX, [entry], machine, on=False)
    rules = tomllib.loads(path.read_text())["skills"]["config"]
    assert {"path": entry.location, "enabled": False} in rules
    switch_native(CODEX, [entry], machine, on=True)
    assert tomllib.loads(path.read_text()) == tomllib.loads(before)


@pytest.mark.parametrize("before", ["skills = 1\n", 'skills.config = "x"\n', "broken"])
def test_codex_settings_that_make_no_sense_are_left_alone(machine: Machine, entry, before: str):
    path = write(machine.home / ".codex/config.toml", before)
    with pytest.raises(InputError):
        switch_native(CODEX, [entry], machine, on=False)
    assert path.read_text() == before


def test_settings_with_comments_are_not_rewritten(machine: Machine, entry):
    path = write(machine.home / ".gemini/settings.json", '{"theme": "dark"} // mine\n')
    with pytest.raises(InputError, match="has comments") as caught:
        switch_native(GEMINI, [entry], machine, on=False)
    assert "/skills disable PDF tools" in caught.value.hint
    assert path.read_text() == '{"theme": "dark"} // mine\n'


def test_an_agent_without_a_switch_says_so(machine: Machine, entry):
    with pytest.raises(NotAllowedError, match="Cursor has no switch"):
        switch_native(find_agent("cursor"), [entry], machine, on=False)


def test_variables_lead_to_the_settings(machine: Machine, entry, tmp_path: Path):
    moved = replace(machine, env={"CODEX_HOME": str(tmp_path / "codex")})
    assert switch_native(CODEX, [entry], moved, on=False) == (tmp_path / "codex/config.toml",)


@pytest.mark.parametrize(("name", "state"), [("PDF", "off"), ("pdf TOOLS", "user-invocable-only")])
def test_turning_on_takes_out_every_spelling_of_the_name(machine: Machine, entry, name: str, state: str):
    path = write(machine.home / ".claude/settings.json", json.dumps({"skillOverrides": {name: state, "x": "off"}}))
    assert switch_native(CLAUDE, [entry], machine, on=True) == (path,)
    assert json.loads(path.read_text()) == {"skillOverrides": {"x": "off"}}


@pytest.mark.parametrize("name", ["pdf", "pdf tools"])
def test_turning_on_takes_out_every_spelling_of_the_name_for_codex(machine: Machine, entry, name: str):
    path = write(machine.home / ".codex/config.toml", f'[[skills.config]]\nname = "{name}"\nenabled = false\n')
    assert switch_native(CODEX, [entry], machine, on=True) == (path,)
    assert not native_state(CODEX, machine).is_off(entry)


@pytest.mark.parametrize("rule", ["Skill", "Skill(pdf)", "Skill(PDF tools)"])
def test_a_permission_that_keeps_a_skill_off_is_named_and_nothing_is_written(machine: Machine, entry, rule: str):
    own = write(machine.home / ".claude/settings.json", '{"skillOverrides": {"pdf": "off"}}')
    project = write(machine.cwd / ".claude/settings.json", json.dumps({"permissions": {"deny": ["Bash", rule]}}))
    with pytest.raises(ConflictError) as caught:
        switch_native(CLAUDE, [entry], machine, on=True)
    assert f"stays off for Claude Code: {project} has {rule!r} in permissions.deny" in caught.value.message
    assert own.read_text() == '{"skillOverrides": {"pdf": "off"}}'


def test_a_project_that_keeps_a_skill_on_is_named_and_nothing_is_written(machine: Machine, entry):
    project = write(machine.cwd / ".claude/settings.json", '{"skillOverrides": {"PDF": "on"}}')
    with pytest.raises(ConflictError, match=r"stays on for Claude Code: .* has 'PDF' as 'on'") as caught:
        switch_native(CLAUDE, [entry._replace(name="pdf")], machine, on=False)
    assert caught.value.details["file"] == str(project)
    assert not (machine.home / ".claude/settings.json").exists()


def test_every_copy_that_codex_shows_is_turned_off_and_on(machine: Machine, entry, write_skill):
    other = entry._replace(location=str(write_skill(machine.home / ".codex/skills/pdf")))
    (path,) = switch_native(CODEX, [entry, other], machine, on=False)
    state = native_state(CODEX, machine)
    assert state.is_off(entry)
    assert state.is_off(other)
    assert switch_native(CODEX, [entry, other], machine, on=True) == (path,)
    assert path.read_text() == ""


def test_what_is_off_already_is_not_written_again(machine: Machine, entry):
    path = write(machine.home / ".gemini/settings.json", '{"skills": {"disabled": ["pdf tools", "x"]}}')
    assert switch_native(GEMINI, [entry], machine, on=False) == ()
    assert path.read_text() == '{"skills": {"disabled": ["pdf tools", "x"]}}'


def test_a_commented_file_that_says_nothing_of_the_skill_is_in_nobodys_way(machine: Machine, entry):
    own = write(machine.home / ".gemini/settings.json", '{"skills": {"disabled": ["pdf"]}}')
    write(machine.cwd / ".gemini/settings.json", '{"theme": "dark"} // ours')
    assert switch_native(GEMINI, [entry], machine, on=True) == (own,)


@pytest.mark.parametrize("path", ["a\\u0000b", "a/" * 100_000])
def test_a_path_that_no_file_can_have_hides_nothing(machine: Machine, entry, path: str):
    write(machine.home / ".codex/config.toml", f'[[skills.config]]\npath = "{path}"\nenabled = false\n')
    assert not native_state(CODEX, machine).is_off(entry)
    assert switch_native(CODEX, [entry], machine, on=False)
