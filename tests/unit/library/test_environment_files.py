import json
from pathlib import Path

import pytest

from skillyard.library.environment_files import AgentProfile, ModelProfile, read_environment_files


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return folder


AGENTS = {"id": "helper", "name": "Helper", "role": "answers", "goal": "short answers", "prompt": "Be kind."}


@pytest.mark.parametrize(
    "shape",
    [
        [AGENTS],
        {"helper": {key: value for key, value in AGENTS.items() if key != "id"}},
        {"agents": [AGENTS]},
        {"agents": {"helper": AGENTS}},
    ],
)
def test_agents_are_read_in_every_shape(tmp_path: Path, shape: object):
    files = read_environment_files(write(tmp_path, agents_jsonc=f"// agents\n{json.dumps(shape)}"))
    assert files.agents == (
        AgentProfile(id="helper", name="Helper", role="answers", goal="short answers", prompt="Be kind."),
    )
    assert files.errors == ()


def test_what_else_is_said_of_an_agent_is_kept(tmp_path: Path):
    text = '{"coder": {"temperature": 0.2, "tools": ["bash"], "systemPrompt": "Code.", "model": "fast"}}'
    (agent,) = read_environment_files(write(tmp_path, agents_jsonc=text)).agents
    assert (agent.name, agent.prompt, agent.model) == ("coder", "Code.", "fast")
    assert agent.extra == {"temperature": 0.2, "tools": ["bash"]}


@pytest.mark.parametrize(
    ("files", "model"),
    [
        ({"config_toml": 'model = "openai:gpt-5"'}, "openai:gpt-5"),
        ({"config_jsonc": '{"model": "anthropic:opus",}'}, "anthropic:opus"),
        ({"models_jsonc": '{"default": "fast", "models": {"fast": {"provider": "p", "model": "m"}}}'}, "p:m"),
        ({"models_jsonc": '{"defaultModel": "fast", "fast": {"provider": "p", "model": "m"}}'}, "p:m"),
        ({"models_jsonc": '[{"id": "only", "provider": "p"}]'}, "p:only"),
        ({"models_jsonc": '{"fast": "p:m", "models": {"fast": "p:m"}, "active": "fast"}'}, "p:m"),
        ({"models_jsonc": '[{"id": "a"}, {"id": "b"}]'}, ""),
        ({"config_jsonc": '{"model": {"provider": "p", "id": "m"}}'}, "p:m"),
        ({"config_toml": 'model = "own"', "config_jsonc": '{"model": "other"}'}, "own"),
        ({}, ""),
    ],
)
def test_the_model_is_found_in_every_spelling(tmp_path: Path, files: dict[str, str], model: str):
    assert read_environment_files(write(tmp_path, **files)).model == model


def test_skillyards_own_file_wins_over_the_others(tmp_path: Path):
    write(
        tmp_path,
        config_toml='description = "own"\n[[agents]]\nid = "helper"\nrole = "own"\n',
        config_jsonc='{"description": "other", "agents": {"more": {"role": "third"}}}',
        agents_jsonc='[{"id": "helper", "role": "other"}, {"id": "second"}]',
    )
    files = read_environment_files(tmp_path)
    assert files.description == "own"
    assert [(agent.id, agent.role) for agent in files.agents] == [("helper", "own"), ("second", ""), ("more", "third")]


def test_a_broken_file_is_told_with_its_line_and_the_others_count(tmp_path: Path):
    write(tmp_path, agents_jsonc='{\n "a" 1}', models_jsonc='{"model": "p:m"}', config_toml="= 1")
    files = read_environment_files(tmp_path)
    assert files.model == "p:m"
    assert [error.details.get("line") for error in files.errors] == [None, 2]
    assert str(tmp_path / "agents.jsonc") in files.errors[1].message


@pytest.mark.parametrize("text", ["[]", "{}", "[1, null]", '{"agents": 7}', '{"agents": [{"role": "nameless"}]}'])
def test_files_that_say_nothing_give_no_agents(tmp_path: Path, text: str):
    files = read_environment_files(write(tmp_path, agents_jsonc=text))
    assert (files.agents, files.errors) == ((), ())


def test_keys_never_show_when_a_model_is_printed(tmp_path: Path):
    text = '[{"id": "m", "provider": "p", "baseURL": "https://x", "apiKey": "sk-secret"}]'
    (model,) = read_environment_files(write(tmp_path, models_jsonc=text)).models
    assert model == ModelProfile(id="m", provider="p", model="m", base_url="https://x", extra={"apiKey": "sk-secret"})
    assert "sk-secret" not in repr(model)
