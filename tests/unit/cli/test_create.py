import hashlib
import zipfile

import pytest

from skillyard.app import packing
from skillyard.skill.archive import pack
from skillyard.skill.bundle import Bundle, BundleFile


def test_a_new_skill_is_valid_at_once(run, tmp_path):
    made = run("init", "my-skill", "--with", "scripts,references,assets,evals", "--json")
    assert made.code == 0
    folder = tmp_path / "project/my-skill"
    assert made.json["path"] == "my-skill"
    assert {path.name for path in folder.iterdir()} == {"SKILL.md", "scripts", "references", "assets", "evals"}
    checked = run("validate", "my-skill", "--json")
    assert checked.code == 0
    assert checked.json["results"][0]["valid"] is True


@pytest.mark.parametrize("words", [["--with", "scripts", "--with", "evals"], ["--with", "scripts, evals"]])
def test_parts_can_be_named_together_or_one_by_one(run, tmp_path, words):
    assert run("init", "my-skill", *words).code == 0
    assert {path.name for path in (tmp_path / "project/my-skill").iterdir()} == {"SKILL.md", "scripts", "evals"}


def test_a_new_skill_goes_where_it_is_told(run, tmp_path):
    run("init", "my-skill", "--path", tmp_path / "deep/skills", "-d", "Reads: everything, for everyone.")
    text = (tmp_path / "deep/skills/my-skill/SKILL.md").read_text()
    assert "Reads: everything, for everyone." in text
    assert run("validate", tmp_path / "deep/skills/my-skill").code == 0


def test_a_dry_run_writes_nothing(run, tmp_path):
    result = run("init", "my-skill", "--dry-run")
    assert "my-skill/SKILL.md" in result.out
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("init", "My Skill"), 1, "my-skill"),
        (("init", "ok", "--with", "skripts"), 2, "scripts, references"),
        (("init", "../escape"), 1, "escape"),
    ],
)
def test_mistakes_name_what_fits(run, tmp_path, words, code, said):
    result = run(*words)
    assert result.code == code
    assert said in result.err
    assert list((tmp_path / "project").iterdir()) == []


def test_what_is_there_is_never_overwritten(run, skill, tmp_path):
    skill("mine", under=tmp_path / "project", body="precious")
    assert run("init", "mine").code == 5
    assert "precious" in (tmp_path / "project/mine/SKILL.md").read_text()


@pytest.fixture
def folder(skill, tmp_path):
    folder = skill("tool", under=tmp_path / "project")
    (folder / "evals").mkdir()
    (folder / "evals/evals.json").write_text("{}")
    return folder


def test_packing_says_what_was_packed(run, folder, tmp_path):
    packed = run("pack", folder, "--json").json
    file = tmp_path / "project/tool.skill"
    assert set(packed) == {"file", "digest", "sha256", "files", "bytes"}
    assert packed["file"] == "tool.skill"
    assert packed["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert packed["bytes"] == file.stat().st_size
    assert packed["files"] == 2
    assert zipfile.ZipFile(file).namelist() == ["tool/SKILL.md", "tool/evals/evals.json"]


def test_packing_twice_gives_the_same_bytes(run, folder, tmp_path):
    first = run("pack", folder, "-o", "a.skill", "--json").json
    second = run("pack", folder, "-o", "b.skill", "--json").json
    assert first["sha256"] == second["sha256"]
    assert run("pack", folder, "-o", "a.skill").code == 0


def test_slim_leaves_the_evals_out(run, folder):
    assert run("pack", folder, "--slim", "--json").json["files"] == 1


def test_the_reported_digest_is_that_of_the_unpacked_skill(run, folder, tmp_path):
    for words in ([], ["--slim"]):
        packed = run("pack", folder, *words, "--json").json
        unpacked = run("skill", "unpack", "tool.skill", "-o", tmp_path / f"out{len(words)}", "--json").json
        assert unpacked["digest"] == packed["digest"]


def test_an_output_folder_gets_the_file(run, folder, tmp_path):
    (tmp_path / "dist").mkdir()
    assert run("pack", folder, "-o", tmp_path / "dist", "--json").json["file"] == str(tmp_path / "dist/tool.skill")


def test_a_slash_at_the_end_names_a_folder_to_be_made(run, folder, tmp_path):
    packed = run("pack", folder, "-o", f"{tmp_path}/new/dist/", "--json").json
    assert packed["file"] == str(tmp_path / "new/dist/tool.skill")
    assert (tmp_path / "new/dist/tool.skill").is_file()


def test_both_sums_are_told_by_name(run, folder):
    packed = run("pack", folder, "--json").json
    lines = [line.split() for line in run("pack", folder).out.splitlines()[1:]]
    assert lines == [["content", packed["digest"]], ["file", f"sha256:{packed['sha256']}"]]


@pytest.mark.parametrize(("below", "path"), [("", "."), ("", "SKILL.md"), ("evals", ".."), ("evals", "../SKILL.md")])
def test_packing_from_inside_puts_the_file_beside_the_skill(run, folder, monkeypatch, below, path):
    monkeypatch.chdir(folder / below)
    first = run("pack", path, "--json").json
    assert first["file"] == str(folder.parent / "tool.skill")
    assert run("pack", path, "--json").json == first


@pytest.mark.parametrize("output", ["tool/tool.skill", "tool", "tool/evals", "link/x.skill"])
def test_a_skill_is_not_packed_into_itself(run, folder, tmp_path, output):
    (tmp_path / "project/link").symlink_to(folder)
    before = sorted(folder.rglob("*"))
    result = run("pack", folder, "-o", output)
    assert result.code == 2
    assert str(tmp_path / "project/tool.skill") in result.err
    assert sorted(folder.rglob("*")) == before


def test_an_archive_that_is_not_the_skill_is_not_written(run, folder, tmp_path, monkeypatch):
    other = pack(Bundle([BundleFile("SKILL.md", b"another")]), "tool")
    monkeypatch.setattr(packing, "pack", lambda *_, **__: other)
    assert run("pack", folder).code == 1
    assert not (tmp_path / "project/tool.skill").exists()


def test_a_linked_skill_is_packed_under_the_name_of_the_link(run, folder, skill, tmp_path):
    (folder / "SKILL.md").write_text("---\nname: link\ndescription: d\n---\n")
    (tmp_path / "project/link").symlink_to(folder)
    assert run("pack", "link", "--json").json["file"] == "link.skill"


def test_an_invalid_skill_is_not_packed_and_the_reasons_are_told(run, skill, tmp_path):
    skill("bad", under=tmp_path / "project", name="Other_Name")
    result = run("pack", "bad")
    assert result.code == 1
    assert "Other_Name" in result.err
    assert not (tmp_path / "project/bad.skill").exists()
    assert run("pack", "bad", "--json").json["error"]["details"]["findings"]


def test_a_file_that_is_no_packed_skill_is_not_overwritten(run, folder, tmp_path):
    (tmp_path / "project/notes.txt").write_text("mine")
    assert run("pack", folder, "-o", "notes.txt").code == 5
    assert (tmp_path / "project/notes.txt").read_text() == "mine"


@pytest.mark.parametrize("words", [("pack", "nothing"), ("skill", "unpack", "nothing.skill")])
def test_what_is_not_there_is_not_found(run, words):
    assert run(*words).code == 3
