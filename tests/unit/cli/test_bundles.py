import io
import tarfile
import zipfile

import pytest


def test_unpacking_makes_a_new_folder(run, skill, tmp_path):
    run("pack", skill("tool", under=tmp_path / "source"))
    result = run("skill", "unpack", "tool.skill", "-o", tmp_path / "out", "--json")
    assert result.code == 0
    assert result.json["path"] == str(tmp_path / "out/tool")
    assert (tmp_path / "out/tool/SKILL.md").read_bytes() == (tmp_path / "source/tool/SKILL.md").read_bytes()


def test_unpacking_over_something_is_a_conflict(run, skill, tmp_path):
    run("pack", skill("tool", under=tmp_path / "source"))
    assert run("skill", "unpack", "tool.skill").code == 0
    assert run("skill", "unpack", "tool.skill").code == 5


def test_a_folder_is_no_archive(run, skill):
    result = run("skill", "unpack", skill("tool"))
    assert result.code == 2
    assert "is a folder, not an archive" in result.err


def test_a_tar_without_a_top_folder_is_named_by_its_file(run, skill, tmp_path):
    source = skill("whatever", under=tmp_path / "source") / "SKILL.md"
    with tarfile.open("named.tar.gz", "w:gz") as archive:
        archive.add(source, "SKILL.md")
    assert run("skill", "unpack", "named.tar.gz").code == 0
    assert (tmp_path / "project/named/SKILL.md").exists()


@pytest.mark.parametrize("name", ["../../evil.md", "/tmp/evil.md", "tool/../../evil.md"])
def test_nothing_escapes_from_an_archive(run, tmp_path, name):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tool/SKILL.md", "---\nname: tool\ndescription: d\n---\n")
        archive.writestr(name, "evil")
    (tmp_path / "project/evil.skill").write_bytes(data.getvalue())
    result = run("skill", "unpack", "evil.skill", "--json")
    assert result.code == 1
    assert result.json["error"]["details"]["findings"]
    assert not list(tmp_path.rglob("evil.md"))
    assert not (tmp_path / "project/tool").exists()


def test_equal_skills_do_not_differ(run, skill, tmp_path):
    folder = skill("tool", under=tmp_path / "source")
    run("pack", folder)
    result = run("skill", "diff", folder, "tool.skill", "--json")
    assert result.code == 0
    assert result.json["same"] is True
    assert result.json["files"] == []


def test_differences_are_shown_and_are_a_negative_result(run, skill, tmp_path):
    old = skill("tool", under=tmp_path / "old", body="one\n")
    new = skill("tool", under=tmp_path / "new", body="two\x1b[2J\n")
    (new / "extra.md").write_text("more")
    result = run("skill", "diff", old, new)
    assert result.code == 1
    for part in ("-one", r"+two\x1b[2J", "b/extra.md"):
        assert part in result.out
    assert "\x1b" not in result.out
    document = run("skill", "diff", old, new, "--json").json
    assert document["same"] is False
    assert {file["path"]: file["change"] for file in document["files"]} == {
        "SKILL.md": "changed",
        "extra.md": "added",
    }
