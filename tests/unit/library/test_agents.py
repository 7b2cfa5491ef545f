from pathlib import Path

import pytest

from skillyard.errors import NotFoundError
from skillyard.library.agents import AGENTS, Scope, expand, find_agent, is_present

HOME = Path("/home/person")


@pytest.mark.parametrize(
    ("name", "agent"),
    [("claude", "claude-code"), ("Claude-Code", "claude-code"), ("gemini", "gemini-cli"), ("factory", "droid")],
)
def test_an_agent_is_found_by_id_and_alias_without_regard_to_case(name: str, agent: str):
    assert find_agent(name).id == agent


def test_an_unknown_agent_names_the_nearest():
    with pytest.raises(NotFoundError) as caught:
        find_agent("cursr")
    assert caught.value.hint == "Did you mean 'cursor'?"
    with pytest.raises(NotFoundError) as caught:
        find_agent("qqqq")
    assert "claude-code" in caught.value.hint


def test_no_two_agents_share_a_name():
    names = [name for agent in AGENTS for name in (agent.id, *agent.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_every_agent_has_an_own_folder_a_sign_and_places_that_can_be_expanded(agent):
    assert any(place.own for place in agent.places)
    assert agent.signs
    for place in (*agent.places, *agent.settings):
        if place.scope is Scope.PROJECT:
            assert not place.path.startswith(("/", "~", "$"))
        else:
            assert expand(place.path, home=HOME, env={}).is_relative_to(HOME)


def test_variables_move_the_folders_of_an_agent():
    path = "$CODEX_HOME/skills"
    assert expand(path, home=HOME, env={}) == HOME / ".codex/skills"
    assert expand(path, home=HOME, env={"CODEX_HOME": "/srv/codex"}) == Path("/srv/codex/skills")
    assert expand(path, home=HOME, env={"CODEX_HOME": "  "}) == HOME / ".codex/skills"


def test_a_relative_variable_is_ignored():
    assert expand("$XDG_CONFIG_HOME/amp", home=HOME, env={"XDG_CONFIG_HOME": "conf"}) == HOME / ".config/amp"


def test_an_agent_is_present_where_its_files_are(tmp_path: Path):
    claude = find_agent("claude")
    assert not is_present(claude, home=tmp_path, env={})
    (tmp_path / ".claude").mkdir()
    assert is_present(claude, home=tmp_path, env={})
    assert not is_present(claude, home=tmp_path, env={"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")})


@pytest.mark.parametrize(
    ("agent", "first"),
    [("claude-code", Scope.USER), ("cline", Scope.USER), ("gemini-cli", Scope.PROJECT), ("roo", Scope.PROJECT)],
)
def test_whose_skills_win_is_the_agents_own_rule(agent: str, first: Scope):
    assert find_agent(agent).places[0].scope is first


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_the_documentation_tells_every_name_and_folder_of_an_agent_in_its_order(agent):
    text = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
    names = ", ".join(f"`{name}`" for name in (agent.id, *agent.aliases))
    folders = ", ".join(f"`{place.path}`" for place in agent.places)
    label = agent.label.partition(" (")[0]
    assert f"| {label} ({names}) | {folders} |" in text


@pytest.mark.parametrize(
    ("agent", "folders"),
    [
        ("qwen-code", (".qwen", ".agents")),
        ("kilo", (".kilo", ".agents")),
        ("openhands", (".agents", ".openhands")),
        ("augment", (".augment", ".claude", ".agents")),
    ],
)
def test_agents_that_share_folders_read_them_in_the_project_and_at_home(agent, folders):
    places = [place.path for place in find_agent(agent).places]
    assert places == [*(f"{folder}/skills" for folder in folders), *(f"~/{folder}/skills" for folder in folders)]


def test_windsurf_and_cline_read_the_folders_that_many_share():
    for agent in ("windsurf", "cline"):
        places = {place.path for place in find_agent(agent).places}
        assert {".agents/skills", "~/.agents/skills"} <= places


def test_qwen_code_looks_one_folder_deep():
    assert find_agent("qwen").depth == 1
