from pathlib import Path

import pytest

from skillyard.config.files import PROJECT_KEYS, folder_setting, home_folder
from skillyard.config.load import load_settings, parse_value, setting_origins, shown
from skillyard.config.paths import project_config_file, user_config_file
from skillyard.config.settings import Settings
from skillyard.errors import InputError, NotAllowedError
from skillyard.skill.limits import MAX_FOLDER_DEPTH


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_each_layer_is_stronger_than_the_one_below(monkeypatch):
    assert load_settings().max_depth == 5
    user = write(user_config_file(), "max_depth = 1")
    assert (load_settings().max_depth, setting_origins()["max_depth"]) == (1, str(user))
    project = write(project_config_file(), "max_depth = 2")
    assert (load_settings().max_depth, setting_origins()["max_depth"]) == (2, str(project))
    monkeypatch.setenv("SKILLYARD_MAX_DEPTH", "3")
    assert (load_settings().max_depth, setting_origins()["max_depth"]) == (3, "env SKILLYARD_MAX_DEPTH")
    assert load_settings({"max_depth": 4}).max_depth == 4
    assert setting_origins({"max_depth": 4})["max_depth"] == "flag --max-depth"


@pytest.mark.parametrize("home", ["/data", "~/data", "data"])
def test_the_home_alone_is_the_one_of_all_settings(monkeypatch, home):
    assert home_folder() == load_settings().home
    write(user_config_file(), f"home = {home!r}\nport = 8000")
    assert home_folder() == load_settings().home
    monkeypatch.setenv("SKILLYARD_HOME", f"{home}/other")
    assert home_folder() == load_settings().home


def test_a_folder_alone_is_the_one_of_all_settings(monkeypatch):
    assert folder_setting("environments") is load_settings().environments is None
    write(user_config_file(), 'environments = "mine"')
    assert folder_setting("environments") == load_settings().environments == user_config_file().parent / "mine"
    monkeypatch.setenv("SKILLYARD_ENVIRONMENTS", "/elsewhere")
    assert folder_setting("environments") == load_settings().environments == Path("/elsewhere")


def test_a_file_that_cannot_be_read_leaves_the_home_where_it_is_by_default():
    default = home_folder()
    write(user_config_file(), "home = ")
    assert home_folder() == default


def test_a_flag_that_was_not_given_changes_nothing(monkeypatch):
    monkeypatch.setenv("SKILLYARD_HOST", "localhost")
    assert load_settings({"host": None}).host == "localhost"
    assert setting_origins({"host": None})["host"] == "env SKILLYARD_HOST"


def test_an_empty_variable_counts_as_not_set(monkeypatch):
    monkeypatch.setenv("SKILLYARD_PORT", "")
    monkeypatch.setenv("DOCUMENT_ROOT", "")
    assert load_settings().port == 8321
    assert load_settings().document_root is None


def test_the_default_depth_is_the_limit_of_the_format():
    assert load_settings().max_depth == MAX_FOLDER_DEPTH


def test_the_document_root_is_also_read_from_its_common_variable(monkeypatch):
    monkeypatch.setenv("DOCUMENT_ROOT", "/srv/documents")
    assert load_settings().document_root == Path("/srv/documents")
    assert setting_origins()["document_root"] == "env DOCUMENT_ROOT"
    monkeypatch.setenv("SKILLYARD_DOCUMENT_ROOT", "/srv/own")
    assert load_settings().document_root == Path("/srv/own")
    assert setting_origins()["document_root"] == "env SKILLYARD_DOCUMENT_ROOT"


@pytest.mark.parametrize(
    ("key", "variable"), [("docker_host", "DOCKER_HOST"), ("computer_use_mcp_url", "COMPUTER_USE_MCP_URL")]
)
def test_what_other_programs_know_by_a_variable_is_read_from_it_too(monkeypatch, key, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    assert getattr(load_settings(), key) == "http://127.0.0.1:1"
    assert setting_origins()[key] == f"env {variable}"
    monkeypatch.setenv(f"SKILLYARD_{variable}", "http://127.0.0.1:2")
    assert getattr(load_settings(), key) == "http://127.0.0.1:2"
    assert setting_origins()[key] == f"env SKILLYARD_{variable}"


def test_the_section_on_injected_skills_is_set_key_by_key(monkeypatch):
    given = load_settings().skill_injection
    assert (given.enabled, given.max_skills, given.include_stages) == (True, 50, ("stable", "canary"))
    write(user_config_file(), "[skill_injection]\nenabled = false\nmax_skills = 7\n")
    monkeypatch.setenv("SKILLYARD_SKILL_INJECTION__MAX_SKILLS", "9")
    given = load_settings().skill_injection
    assert (given.enabled, given.max_skills) == (False, 9)
    monkeypatch.delenv("SKILLYARD_SKILL_INJECTION__MAX_SKILLS")
    monkeypatch.setenv("SKILLYARD_SKILL_INJECTION", '{"include_stages": ["stable"]}')
    assert load_settings().skill_injection.include_stages == ("stable",)
    assert shown("skill_injection", load_settings().skill_injection)["include_stages"] == ["stable"]
    assert parse_value("skill_injection", '{"max_skills": 3}')["max_skills"] == 3


@pytest.mark.parametrize("value", ["{", '{"stages": []}', '{"max_skills": -1}', "yes"])
def test_a_wrong_section_is_refused(monkeypatch, value):
    with pytest.raises(InputError, match="skill_injection"):
        parse_value("skill_injection", value)


def test_the_users_of_sandboxes_are_a_range(monkeypatch):
    monkeypatch.setenv("SKILLYARD_SANDBOX_UIDS", "1000-1001")
    assert load_settings().uids == range(1000, 1002)
    for wrong in ("0-5", "5-4", "1000", "a-b", "1-99999999999"):
        monkeypatch.setenv("SKILLYARD_SANDBOX_UIDS", wrong)
        with pytest.raises(InputError, match="a range of users"):
            load_settings()


def test_the_active_environment_has_a_second_spelling_in_files():
    write(user_config_file(), 'activeEnvironment = "work"')
    assert load_settings().active_environment == "work"


def test_a_key_in_both_spellings_is_refused():
    path = write(user_config_file(), 'activeEnvironment = "work"\nactive_environment = "play"')
    with pytest.raises(InputError, match="twice") as caught:
        load_settings()
    assert str(path) in caught.value.message


def test_paths_in_a_file_are_relative_to_it_and_know_the_tilde(tmp_path):
    write(user_config_file(), 'roots = ["skills", "~/more", "/abs"]\nhome = "data"')
    settings = load_settings()
    here = user_config_file().parent
    assert settings.roots == (here / "skills", tmp_path / "person/more", Path("/abs"))
    assert settings.home == here / "data"


@pytest.mark.parametrize("key", sorted(set(Settings.model_fields) - set(PROJECT_KEYS)))
def test_a_project_cannot_decide_what_reaches_beyond_it(key):
    path = write(project_config_file(), f"{key} = 1")
    with pytest.raises(NotAllowedError) as caught:
        load_settings()
    assert str(path) in caught.value.message
    assert repr(key) in caught.value.message
    assert f"skillyard config set {key}" in caught.value.hint


def test_what_a_project_may_decide_is_known():
    assert set(PROJECT_KEYS) == {"active_environment", "max_depth", "prompt_budget", "roots"}


@pytest.mark.parametrize(
    "roots",
    ['["/"]', '["skills", ".."]', '["~/more"]', '["link"]', '["link/below"]', '"skills:/etc"', '["../project-2"]'],
)
def test_a_project_cannot_name_folders_outside_it(roots, tmp_path):
    (tmp_path / "project/link").symlink_to(tmp_path)
    path = write(project_config_file(), f"roots = {roots}")
    with pytest.raises(NotAllowedError, match="outside the project") as caught:
        load_settings()
    assert str(path) in caught.value.message
    assert "skillyard config set roots" in caught.value.hint


def test_each_of_several_roots_in_one_text_is_relative_to_the_file():
    path = write(user_config_file(), 'roots = "one:two:/abs"')
    assert load_settings().roots == (path.parent / "one", path.parent / "two", Path("/abs"))


def test_a_project_names_folders_of_its_own(tmp_path):
    write(project_config_file(), 'roots = ["skills", "deep/er", "."]')
    here = tmp_path / "project"
    assert load_settings().roots == (here / "skills", here / "deep/er", here)


@pytest.mark.parametrize("roots", ["[1]", "1", '[["/"]]'])
def test_roots_of_a_wrong_type_are_refused(roots):
    write(project_config_file(), f"roots = {roots}")
    with pytest.raises(InputError, match="'roots'"):
        load_settings()


def test_a_trusted_proxy_is_an_address_or_a_network(monkeypatch):
    monkeypatch.setenv("SKILLYARD_TRUSTED_PROXIES", "10.0.0.1, 2001:db8::/32")
    assert load_settings().trusted_proxies == ("10.0.0.1", "2001:db8::/32")
    for wrong in ("*", "proxy.test", "10.0.0.1/8", "10.0.0.1;10.0.0.2"):
        monkeypatch.setenv("SKILLYARD_TRUSTED_PROXIES", wrong)
        with pytest.raises(InputError, match="trusted_proxies"):
            load_settings()


def test_roots_in_the_environment_are_separated_like_path(monkeypatch):
    monkeypatch.setenv("SKILLYARD_ROOTS", "/a:relative:")
    assert load_settings().roots == (Path("/a"), Path.cwd() / "relative")


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("prot = 1", "'port'"), ("promptbudget = 1", "'prompt_budget'"), ("zzz = 1", "active_environment")],
)
def test_an_unknown_key_in_a_file_names_file_key_and_nearest(text, nearest):
    path = write(project_config_file(), text)
    with pytest.raises(InputError) as caught:
        load_settings()
    assert str(path) in caught.value.message
    assert repr(text.split()[0]) in caught.value.message
    assert nearest in caught.value.hint


@pytest.mark.parametrize("text", ["port = ", "port = 1\nport = 2", "[" * 5000])
def test_a_file_that_is_no_toml_is_named(text):
    path = write(user_config_file(), text)
    with pytest.raises(InputError, match="not valid TOML") as caught:
        load_settings()
    assert caught.value.details["file"] == str(path)


def test_a_file_that_is_no_utf8_is_named():
    path = user_config_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"host = '\xff'")
    with pytest.raises(InputError, match="not UTF-8"):
        load_settings()


def test_a_wrong_value_names_setting_value_limit_and_origin():
    path = write(user_config_file(), "port = 70000")
    with pytest.raises(InputError) as caught:
        load_settings()
    for part in ("'port'", "70000", "65535", str(path)):
        assert part in caught.value.message
    assert "skillyard config set port" in caught.value.hint


def test_a_typed_value_becomes_what_the_file_holds():
    assert parse_value("port", "99") == 99
    assert parse_value("roots", "/a:/b") == ["/a", "/b"]
    assert parse_value("roots", '["/a", "/b"]') == ["/a", "/b"]
    assert parse_value("roots", "/[a]:/b") == ["/[a]", "/b"]
    with pytest.raises(InputError, match="a whole number of at least 0"):
        parse_value("prompt_budget", "many")


def test_checking_one_value_does_not_look_at_broken_files():
    write(user_config_file(), "port = 'broken'")
    assert parse_value("port", "99") == 99


def test_every_setting_is_documented():
    page = (Path(__file__).parents[3] / "docs/configuration.md").read_text()
    for name, field in Settings.model_fields.items():
        assert f"| `{name}` | `SKILLYARD_{name.upper()}`" in page
        assert field.description in page


def test_secrets_are_shown_to_nobody(monkeypatch):
    monkeypatch.setenv("SKILLYARD_ADMIN_TOKEN", "correct-horse-battery")
    monkeypatch.setenv("SKILLYARD_DATABASE_URL", "postgresql://yard:hunter2@db.internal/yard")
    settings = load_settings({})
    seen = {key: shown(key, getattr(settings, key)) for key in Settings.model_fields}
    assert seen["admin_token"] == "***"
    assert seen["database_url"] == "postgresql://yard:***@db.internal/yard"
    assert "correct-horse" not in repr(settings)


@pytest.mark.parametrize("key", ["ADMIN_TOKEN", "AUTH"])
def test_a_wrong_value_is_named_with_what_is_taken_but_never_a_secret(monkeypatch, key):
    monkeypatch.setenv(f"SKILLYARD_{key}", "hunter2")
    with pytest.raises(InputError) as refusal:
        load_settings({})
    told = f"{refusal.value.message} {refusal.value.hint} {refusal.value.details}"
    assert ("hunter2" in told) == (key == "AUTH")
    assert ("local or token" if key == "AUTH" else "16 characters") in told
