import pytest

from skillyard.cli.main import main


@pytest.fixture
def root(tmp_path, skill):
    folder = skill("reader", under=tmp_path / "mine", body="# Read\r\n\nLook \x07 here.\n")
    (folder / "scripts").mkdir()
    (folder / "scripts/go.sh").write_text("#!/bin/sh\n")
    (folder / "scripts/go.sh").chmod(0o755)
    return tmp_path / "mine"


def test_a_skill_is_shown_with_its_files_and_body(run, root):
    out = run("show", "reader", "--root", root).out
    for part in ("reader", "Does one thing well", "scripts/go.sh", "sha256:", "# Read", r"\x07"):
        assert part in out


def test_the_document_holds_everything(run, root):
    document = run("show", "Reader", "--root", root, "--json").json
    assert document["id"] == "reader"
    assert document["frontmatter"]["name"] == "reader"
    assert {"path": "scripts/go.sh", "bytes": 10, "executable": True} in document["files"]
    assert any(finding["code"] == "body-control-character" for finding in document["findings"])


def test_only_the_files_can_be_asked_for(run, root):
    assert [line.split()[0] for line in run("show", "reader", "--files", "--root", root).out.splitlines()] == [
        "SKILL.md",
        "scripts/go.sh",
    ]


def test_off_a_terminal_the_raw_text_is_exactly_the_file(root, capfdbinary):
    written = b"\xef\xbb\xbf---\r\nname: reader\ndescription: d\n---\n\x07 \xff\xfe no newline at the end"
    (root / "reader/SKILL.md").write_bytes(written)
    assert main(["show", "reader", "--raw", "--root", str(root)]) == 0
    assert capfdbinary.readouterr().out == written


def test_a_broken_skill_is_explained(run, root):
    (root / "reader/SKILL.md").write_text("nothing")
    result = run("show", "reader", "--root", root)
    assert result.code == 1
    assert "frontmatter" in result.err
    assert "error: SKILL.md" in result.err


def test_a_skill_that_is_off_is_explained(run, root, monkeypatch):
    monkeypatch.setenv("SKILLYARD_ROOTS", str(root))
    assert run("skill", "disable", "reader").code == 0
    result = run("show", "reader", "--root", root)
    assert result.code == 3
    assert "switched off everywhere" in result.err
    assert "skillyard skill enable reader" in result.err


def test_a_skill_that_is_off_in_one_folder_is_explained_with_that_folder(run, root):
    assert run("skill", "disable", "reader", "--root", root).code == 0
    result = run("show", "reader", "--root", root)
    assert f"switched off in {root}" in result.err
    assert f"skillyard skill enable reader --root {root}" in result.err
