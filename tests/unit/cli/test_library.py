import pytest

from skillyard.cli import library, text


def test_the_layers_in_reach_are_listed_together(run, skill, tmp_path):
    skill("project-one", under=tmp_path / "project/.claude/skills")
    skill("user-one", under=tmp_path / "person/.agents/skills")
    listed = run("list", "--json").json
    by_id = {entry["id"]: entry for entry in listed["skills"]}
    assert by_id["project-one"]["source"].endswith(".claude/skills")
    assert by_id["user-one"]["source"] == "~/.agents/skills"
    assert by_id["skill-creator"]["source"] == "built-in"
    assert set(by_id["user-one"]) == {"id", "name", "description", "location", "source"}
    assert by_id["user-one"]["location"] == str(tmp_path / "person/.agents/skills/user-one/SKILL.md")


def test_a_named_folder_is_the_only_one_listed(run, skill, tmp_path):
    skill("here", under=tmp_path / "mine")
    skill("there", under=tmp_path / "other")
    skill("elsewhere")
    listed = run("list", "--root", tmp_path / "mine", "--root", tmp_path / "other", "--json").json
    assert [entry["id"] for entry in listed["skills"]] == ["here", "there"]


def test_settings_add_folders(run, skill, tmp_path, monkeypatch):
    skill("extra", under=tmp_path / "mine")
    skill("document", under=tmp_path / "docs/skills")
    monkeypatch.setenv("SKILLYARD_ROOTS", str(tmp_path / "mine"))
    monkeypatch.setenv("DOCUMENT_ROOT", str(tmp_path / "docs"))
    assert {"extra", "document"} <= {entry["id"] for entry in run("list", "--json").json["skills"]}


def test_what_is_broken_or_hidden_is_told_beside_the_rest(run, skill, tmp_path):
    skill("same", under=tmp_path / "one")
    skill("same", under=tmp_path / "two")
    (tmp_path / "one/broken").mkdir()
    (tmp_path / "one/broken/SKILL.md").write_text("nothing")
    words = ("list", "--root", tmp_path / "one", "--root", tmp_path / "two")
    listed = run(*words, "--json").json
    assert [entry["id"] for entry in listed["skills"]] == ["same"]
    assert listed["problems"][0]["id"] == "broken"
    assert listed["problems"][0]["findings"][0]["fix"]
    assert listed["shadowed"][0]["by"]["location"] == str(tmp_path / "one/same/SKILL.md")
    text = run(*words).out
    assert "broken" in text
    assert "is hidden by" in text


def test_a_folder_that_is_not_there_is_not_found(run, tmp_path):
    result = run("list", "--root", tmp_path / "none")
    assert result.code == 3
    assert str(tmp_path / "none") in result.err


def test_an_empty_place_says_how_to_start(run, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run("list", "--root", tmp_path / "empty")
    assert result.out == ""
    assert "skillyard init" in result.err


def test_what_is_switched_off_is_told(run, skill, tmp_path):
    location = skill("tool", under=tmp_path / "mine") / "SKILL.md"
    run("skill", "disable", "tool", "--root", tmp_path / "mine")
    words = ("list", "--root", tmp_path / "mine")
    listed = run(*words, "--json").json
    assert listed["skills"] == []
    assert listed["disabled"] == [
        {
            "id": "tool",
            "location": str(location),
            "source": str(tmp_path / "mine"),
            "by": {"skill": "tool", "root": str(tmp_path / "mine"), "agent": ""},
        }
    ]
    assert f"skillyard skill enable tool --root {tmp_path / 'mine'}" in run(*words).out


def test_a_line_break_in_a_name_forges_no_line(run, skill, tmp_path):
    folder = tmp_path / "mine/a\nforged"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("nothing")
    skill("b\nforged", under=tmp_path / "mine", name="b")
    for words in (["list", "--root", tmp_path / "mine"], ["validate", "-r", tmp_path / "mine"], ["validate", folder]):
        result = run(*words)
        assert "forged" in result.out
        assert not [line for line in (result.out + result.err).splitlines() if line.startswith("forged")]


def test_an_active_environment_that_is_not_there_is_told(run, monkeypatch):
    monkeypatch.setenv("SKILLYARD_ACTIVE_ENVIRONMENT", "lost")
    for words in (["list"], ["find", "skill"]):
        result = run(*words)
        assert "'lost'" in result.err
        assert "skillyard env list" in result.err
    assert run("list", "--json").err == ""


def test_a_search_finds_by_description_and_body(run, skill, tmp_path):
    skill("tables", under=tmp_path / "mine", description="Reads spreadsheets.")
    skill("other", under=tmp_path / "mine", description="Paints.", body="Knows the aardvark.")
    found = run("find", "spreadsheets", "--root", tmp_path / "mine", "--json").json
    assert found["query"] == "spreadsheets"
    assert [hit["id"] for hit in found["results"]] == ["tables"]
    assert set(found["results"][0]) == {"id", "name", "description", "score", "location", "snippet"}
    assert found["results"][0]["snippet"] == {"text": "Reads spreadsheets.", "marks": [[6, 18]]}
    assert run("find", "aardvark", "--root", tmp_path / "mine", "--json").json["results"][0]["id"] == "other"


def test_a_search_without_a_match_is_a_negative_result(run, skill, tmp_path):
    skill("tables", under=tmp_path / "mine", description="Reads spreadsheets.")
    result = run("find", "volcano", "--root", tmp_path / "mine")
    assert result.code == 1
    assert result.out == ""
    assert "Nothing here fits" in result.err
    assert run("find", "volcano", "--root", tmp_path / "mine", "--json").json["results"] == []


def test_a_hostile_description_cannot_steer_the_terminal(run, skill, tmp_path):
    skill("evil", under=tmp_path / "mine", description='"up \\e[2J\\e]0;title\\a \\x9b1A down"')
    for words in (["list"], ["find", "down"], ["show", "evil"]):
        result = run(*words, "--root", tmp_path / "mine")
        assert not {"\x1b", "\x07", "\x9b"} & set(result.out + result.err)
        as_json = run(*words, "--root", tmp_path / "mine", "--json")
        assert not {"\x1b", "\x07", "\x9b"} & set(as_json.out)


@pytest.mark.parametrize("wanted", ["pdf-readr", "PDF", "reader", "zzz"])
def test_a_skill_that_is_not_there_names_what_is_near(run, skill, tmp_path, wanted):
    skill("pdf-reader", under=tmp_path / "mine")
    result = run("show", wanted, "--root", tmp_path / "mine")
    assert result.code == 3
    assert ("'pdf-reader'" in result.err) == (wanted != "zzz")


def test_an_environment_cannot_be_named_by_a_path(run, skill, tmp_path):
    skill("secret", under=tmp_path / "person/.config/skillyard/outside/skills")
    (tmp_path / "project/skillyard.toml").write_text('active_environment = "../outside"')
    result = run("list", "--json")
    assert result.code == 1
    assert "../outside" in result.json["error"]["message"]


def test_a_link_between_two_named_folders_is_followed(run, skill, tmp_path):
    real = skill("real", under=tmp_path / "one")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/linked").symlink_to(real)
    alone = run("list", "--root", tmp_path / "two", "--json").json
    assert [problem["findings"][0]["code"] for problem in alone["problems"]] == ["link-outside"]
    both = run("list", "--root", tmp_path / "one", "--root", tmp_path / "two", "--json").json
    assert [entry["id"] for entry in both["skills"]] == ["linked", "real"]


def test_of_very_many_problems_the_first_are_printed_and_all_are_in_the_document(run, tmp_path, monkeypatch):
    monkeypatch.setattr(library, "MAX_SHOWN", 2)
    monkeypatch.setattr(text, "MAX_SHOWN", 2)
    (tmp_path / "mine").mkdir()
    for name in "abcde":
        (tmp_path / "mine" / name).symlink_to("nowhere")
    shown = run("list", "--root", tmp_path / "mine")
    assert shown.out.count("link-dangling") == 2
    assert "… and 3 more problems; --json shows all." in shown.out
    assert len(run("list", "--root", tmp_path / "mine", "--json").json["problems"]) == 5


def test_a_very_long_wrong_name_is_answered_at_once(run, skill):
    skill("a" * 60)
    answer = run("show", "a" * 50_000)
    assert answer.code == 3
    assert "no skill" in answer.err
