import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from skillyard.app import validation
from skillyard.cli import text, validate


@pytest.fixture
def tree(skill, tmp_path):
    root = tmp_path / "tree"
    skill("good", under=root)
    skill("other", under=root / ".hidden/deep", name="Not_The_Folder")
    lower = skill("lower", under=root)
    (lower / "SKILL.md").rename(lower / "skill.md")
    empty = root / "empty"
    empty.mkdir()
    (empty / "SKILL.md").write_text("")
    return root


def by_id(result):
    return {report["id"]: report for report in result.json["results"]}


def test_a_good_folder_is_valid(run, tree):
    result = run("validate", tree / "good", "--json")
    assert result.code == 0
    assert result.json == {
        "results": [{"path": str(tree / "good"), "id": "good", "name": "good", "valid": True, "findings": []}],
        "summary": {"checked": 1, "valid": 1, "invalid": 0},
    }


def test_the_current_folder_has_a_name_too(run, tree, monkeypatch):
    monkeypatch.chdir(tree / "good")
    assert run("validate", ".", "--json").json["results"][0]["id"] == "good"
    assert run("validate", "SKILL.md", "--json").json["results"][0]["id"] == "good"
    assert run("validate", "SKILL.md").code == 0


@pytest.mark.parametrize("path", ["..", "../SKILL.md", "../../good", "../../good/SKILL.md"])
def test_a_folder_named_from_inside_has_a_name_too(run, tree, monkeypatch, path):
    (tree / "good/scripts").mkdir()
    monkeypatch.chdir(tree / "good/scripts")
    result = run("validate", path, "--json")
    assert (result.code, result.json["results"][0]["id"]) == (0, "good")


def test_a_linked_folder_goes_by_the_name_of_the_link(run, tree):
    (tree / "alias").symlink_to(tree / "good")
    for path in ("alias", "alias/SKILL.md"):
        assert run("validate", tree / path, "--json").json["results"][0]["id"] == "alias"


def test_a_missing_path_among_others_is_a_result_of_its_own(run, tree, monkeypatch):
    monkeypatch.chdir(tree)
    result = run("validate", "good", "none", "none/SKILL.md", "good/SKILL.md/x.skill", "lower", "--json")
    assert result.code == 1
    assert [report["valid"] for report in result.json["results"]] == [True, False, False, False, True]
    assert [report["findings"][0]["code"] for report in result.json["results"][1:4]] == ["not-found"] * 3
    assert result.json["summary"] == {"checked": 5, "valid": 2, "invalid": 3}
    assert run("validate", "-r", "good", "none", "--json").json["summary"]["invalid"] == 1


def test_a_path_that_may_not_be_looked_at_is_a_finding_among_others(run, tree, monkeypatch):
    look = Path.stat

    def refuse(path, **options):
        if path.name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    result = run("validate", tree / "good", tree / "locked", "--json")
    assert result.json["results"][1]["findings"][0]["code"] == "unreadable"
    assert run("validate", tree / "locked").code == 4


@pytest.mark.parametrize("folder", [".git", "__pycache__", "node_modules"])
def test_what_is_no_part_of_a_skill_is_not_searched(run, tree, skill, folder):
    skill("stray", under=tree / folder)
    assert "stray" not in by_id(run("validate", "-r", tree, "--json"))


def test_every_skill_file_of_a_tree_gets_a_result(run, tree):
    result = run("validate", "-r", tree, "--json")
    assert result.code == 1
    assert set(by_id(result)) == {"good", "other", "lower", "empty"}
    assert result.json["summary"] == {"checked": 4, "valid": 2, "invalid": 2}
    assert by_id(result)["good"]["path"] == str(tree / "good/SKILL.md")
    assert by_id(result)["lower"]["findings"][0]["code"] == "skill-file-renamed"


def test_both_spellings_in_one_folder_get_a_result_each(run, tree):
    (tree / "good/skill.md").write_text("nothing")
    paths = [report["path"] for report in run("validate", "-r", tree / "good", "--json").json["results"]]
    assert paths == [str(tree / "good/SKILL.md"), str(tree / "good/skill.md")]


def test_the_profile_decides(run, tree):
    assert run("validate", tree / ".hidden/deep/other").code == 1
    assert run("validate", "--profile", "lenient", tree / ".hidden/deep/other").code == 0
    assert run("validate", "--profile", "harsh", tree).code == 2


def test_archives_are_checked_like_folders(run, tree, tmp_path):
    run("pack", tree / "good")
    result = run("validate", "good.skill", "--json")
    assert result.json["results"][0]["id"] == "good"
    assert result.json["results"][0]["valid"] is True
    (tmp_path / "project/bomb.zip").write_bytes(b"PK\x03\x04 nothing")
    bad = run("validate", "bomb.zip", "--json")
    assert bad.code == 1
    assert bad.json["results"][0]["findings"][0]["code"].startswith("archive-")


def test_every_finding_names_place_message_and_fix(run, tree):
    out = run("validate", tree / ".hidden/deep/other").out
    assert "✗ other" in out
    assert "SKILL.md:2" in out
    assert "[name-mismatch]" in out
    assert "fix" in out
    assert "1 skill checked: 0 valid, 1 invalid." in out


def test_in_a_tree_only_what_needs_a_look_is_listed(run, tree):
    out = run("validate", "-r", tree).out
    assert "✗ other" in out
    assert "✓ good" not in out


def test_a_folder_without_a_skill_is_invalid_and_says_what_is_missing(run, tmp_path):
    (tmp_path / "nothing").mkdir()
    result = run("validate", tmp_path / "nothing", "--json")
    assert result.code == 1
    assert result.json["results"][0]["findings"][0]["code"] == "skill-file-missing"


def test_an_empty_tree_is_a_negative_result(run, tmp_path):
    (tmp_path / "nothing").mkdir()
    result = run("validate", "-r", tmp_path / "nothing", "--json")
    assert result.json["summary"] == {"checked": 0, "valid": 0, "invalid": 0}
    assert result.code == 1
    assert str(tmp_path / "nothing") in run("validate", "-r", tmp_path / "nothing").err


def test_a_folder_of_skills_leads_to_the_option_for_trees(run, tree):
    finding = run("validate", tree, "--json").json["results"][0]["findings"][0]
    assert finding["code"] == "skill-file-missing"
    assert f"skillyard validate -r {tree}" in finding["fix"]


def test_a_skill_named_by_its_file_is_judged_like_its_folder(run, tree):
    folder, file = (run("validate", tree / path, "--json").json["results"][0] for path in ("lower", "lower/skill.md"))
    assert folder["findings"][0]["code"] == "skill-file-renamed"
    assert file["findings"] == folder["findings"]


def test_every_finding_names_its_file(run, tree, tmp_path):
    (tmp_path / "notes.txt").write_text("no archive")
    results = run("validate", "-r", tree, tmp_path / "notes.txt", "--json").json["results"]
    assert {report["id"]: {finding["file"] for finding in report["findings"]} for report in results} == {
        "good": set(),
        "other": {"SKILL.md"},
        "lower": {"skill.md"},
        "empty": {"SKILL.md"},
        "notes.txt": {"notes.txt"},
    }
    assert "SKILL.md" not in run("validate", tmp_path / "notes.txt").out


@pytest.mark.parametrize("words", [["none"], ["-r", "none"], ["none.skill"]])
def test_a_path_that_is_not_there_is_not_found(run, words):
    assert run("validate", *words).code == 3


def test_a_link_a_pipe_and_an_unfit_file_are_findings_not_hangs(run, tree, skill):
    os.mkfifo(tree / "good/pipe")
    (skill("linked", under=tree) / "secret").symlink_to("/etc/passwd")
    piped = tree / "piped"
    piped.mkdir()
    os.mkfifo(piped / "SKILL.md")
    reports = by_id(run("validate", "-r", tree, "--json"))
    assert reports["good"]["findings"][0]["code"] == "special-file-skipped"
    assert reports["linked"]["valid"] is False
    assert reports["linked"]["name"] == "linked"
    assert reports["piped"]["valid"] is False


def test_a_loop_of_links_is_walked_once(run, tree):
    (tree / "loop").symlink_to(tree)
    assert len(run("validate", "-r", tree, "--json").json["results"]) == 4


def test_a_markdown_file_of_another_name_is_judged_without_its_folder(run, tree):
    (tree / "good/SKILL.md").rename(tree / "draft.md")
    assert run("validate", tree / "draft.md").code == 0


def test_broken_references_are_told_but_do_not_make_a_skill_invalid(run, tree):
    (tree / "good/SKILL.md").write_text("---\nname: good\ndescription: d\n---\nSee [the guide](references/guide.md).\n")
    result = run("validate", tree / "good", "--json")
    assert result.json["results"][0]["valid"] is True
    assert any("references/guide.md" in finding["message"] for finding in result.json["results"][0]["findings"])
    for words, told in ((["-r"], False), (["-r", "--references"], True), (["--no-references"], False)):
        assert bool(run("validate", *words, tree / "good", "--json").json["results"][0]["findings"]) is told


def test_a_zip_with_a_hostile_name_cannot_steer_the_terminal(run, tmp_path):
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.writestr("a/SKILL.md", "---\nname: a\ndescription: d\n---\n")
        archive.writestr("a/\x1b[2Jx", "")
    result = run("validate", "x.zip")
    assert result.code == 1
    assert "\x1b" not in result.out + result.err


def test_an_archive_that_cannot_be_read_is_a_finding(run, tmp_path):
    os.mkfifo(tmp_path / "project/pipe.skill")
    result = run("validate", "pipe.skill", "--json")
    assert result.code == 1
    assert result.json["results"][0]["findings"][0]["code"] == "unreadable"


def test_a_tree_deeper_than_any_stack_is_walked(run, tree, monkeypatch):
    monkeypatch.chdir(tree)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    monkeypatch.chdir(tree)
    result = run("validate", "-r", ".", "--json")
    subprocess.run(["rm", "-r", "d"], check=True)  # deeper than Python itself removes
    assert len(result.json["results"]) == 4


def test_a_folder_that_cannot_be_looked_into_is_told(run, tree, monkeypatch):
    look = os.scandir

    def refuse(path):
        if str(path).endswith("good"):
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(os, "scandir", refuse)
    reports = by_id(run("validate", "-r", tree, "--json"))
    assert reports["good"]["findings"][0]["code"] == "unreadable"
    assert reports["lower"]["valid"] is True


def test_of_very_many_reports_the_invalid_ones_are_printed_first(run, skill, tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "MAX_SHOWN", 1)
    monkeypatch.setattr(text, "MAX_SHOWN", 1)
    root = tmp_path / "tree"
    for name in ("a", "b"):
        skill(name, under=root, body="x\n" * 600)  # long enough for a warning
    (root / "z").mkdir()
    (root / "z/SKILL.md").write_text("nothing")
    shown = run("validate", "-r", root)
    assert shown.code == 1
    assert shown.out.startswith("✗ z")
    assert "… and 2 more skills; --json shows all." in shown.out
    assert "3 skills checked: 2 valid, 1 invalid." in shown.out


def test_a_tree_of_endless_folders_is_given_up_with_a_finding(run, skill, tmp_path, monkeypatch):
    monkeypatch.setattr(validation, "MAX_TREE_FOLDERS", 2)
    skill("a", under=tmp_path / "tree")
    skill("b", under=tmp_path / "tree")
    answer = run("validate", "-r", tmp_path / "tree", "--json")
    assert answer.code == 1
    assert [result["id"] for result in answer.json["results"]] == ["a", "tree"]
    assert answer.json["results"][1]["findings"][0]["code"] == "too-many-folders"


@pytest.mark.parametrize("name", ["SKILL.MD", "Skill.md"])
def test_a_file_that_is_nearly_called_right_is_never_passed_in_silence(run, tree, skill, name):
    folder = skill("nearly", under=tree)
    (folder / "SKILL.md").rename(folder / name)
    for result in (run("validate", "-r", tree, "--json"), run("validate", folder / name, "--json")):
        report = by_id(result)["nearly"]
        assert [finding["code"] for finding in report["findings"]] == ["file-name"]
        assert f"mv -n {folder / name} {folder / 'SKILL.md'}" in report["findings"][0]["fix"]
        assert result.code == 1


def test_fields_of_agents_are_accepted_by_default_and_refused_by_the_specification(run, tree, skill):
    folder = skill("deploy", under=tree)
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text(text.replace("name:", "disable-model-invocation: true\nname:", 1))
    default = run("validate", folder, "--json")
    assert default.code == 0
    assert [finding["severity"] for finding in default.json["results"][0]["findings"]] == ["info"]
    assert "Move it" not in run("validate", folder).out
    assert run("validate", folder, "--profile", "agents").code == 0
    assert run("validate", folder, "--profile", "strict").code == 1


def test_places_are_paths_that_can_be_opened(run, tree):
    out = run("validate", "-r", tree).out
    assert f"{tree}/.hidden/deep/other/SKILL.md:2" in out


def test_a_new_skill_is_valid_and_its_todos_are_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("init", "pdf-forms").code == 0
    result = run("validate", "pdf-forms")
    assert result.code == 0
    assert "TODOs are left" in result.out
