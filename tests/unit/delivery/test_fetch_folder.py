from pathlib import Path

import pytest

from skillyard.delivery.fetch import fetch_source
from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.source_text import parse_source
from skillyard.errors import ConflictError, LimitError, NotFoundError, UsageError
from skillyard.skill.archive import pack
from skillyard.skill.limits import MAX_ARCHIVE_BYTES


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_folder_that_is_a_skill_is_one(tmp_path: Path, skill_md):
    write(tmp_path / "pdf", {"SKILL.md": skill_md("pdf"), "a.txt": "a", "__pycache__/x.pyc": "", ".git/config": ""})
    skill = fetch_source(parse_source("./pdf", cwd=tmp_path)).skills[0]
    assert (skill.id, skill.source.subpath, skill.resolved) == ("pdf", "", "")
    assert [file.path for file in skill.bundle] == ["SKILL.md", "a.txt"]


def test_a_tree_yields_every_skill_below_it(tmp_path: Path, skill_md):
    files = {
        f"{folder}/SKILL.md": skill_md(folder.rpartition("/")[2]) for folder in ("skills/a", ".claude/skills/b", "c")
    }
    write(tmp_path, files | {"node_modules/x/SKILL.md": skill_md("x")})
    (tmp_path / "link").symlink_to(tmp_path / "c")
    fetched = fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)))
    assert [skill.source.subpath for skill in fetched.skills] == ["c", "skills/a", ".claude/skills/b"]


def test_the_installed_folder_is_the_name_if_valid_else_the_folder(tmp_path: Path, skill_md):
    write(
        tmp_path,
        {
            "one/SKILL.md": skill_md("alpha"),
            "two/SKILL.md": skill_md("Not A Name"),
            ".three/SKILL.md": skill_md("Third One"),
        },
    )
    fetched = fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)))
    assert [skill.id for skill in fetched.skills] == ["alpha", "two", "third-one"]


@pytest.mark.parametrize(
    ("frontmatter", "version"), [("version: 1.10", "1.10"), ("metadata:\n  version: v2", "v2"), ("", "")]
)
def test_the_version_is_the_one_in_the_frontmatter(tmp_path: Path, frontmatter: str, version: str):
    write(tmp_path / "pdf", {"SKILL.md": f"---\nname: pdf\ndescription: d\n{frontmatter}\n---\n"})
    assert fetch_source(parse_source("./pdf", cwd=tmp_path)).skills[0].version == version


def test_an_archive_is_read_and_its_digest_checked(tmp_path: Path, make_bundle):
    bundle = make_bundle({"evals/evals.json": "{}"})
    (tmp_path / "x.skill").write_bytes(pack(bundle, "pdf"))
    assert fetch_source(parse_source("x.skill", cwd=tmp_path, digest=bundle.digest)).skills[0].bundle == bundle
    with pytest.raises(ConflictError):
        fetch_source(parse_source(f"x.skill#sha256={'0' * 64}", cwd=tmp_path))


def test_an_archive_over_the_limit_is_refused_unread(tmp_path: Path):
    path = tmp_path / "x.skill"
    with path.open("wb") as stream:
        stream.truncate(MAX_ARCHIVE_BYTES + 1)
    with pytest.raises(LimitError):
        fetch_source(parse_source("x.skill", cwd=tmp_path))


def test_a_digest_for_several_skills_is_a_usage_error(tmp_path: Path, skill_md):
    write(tmp_path, {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    with pytest.raises(UsageError, match="has 2"):
        fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path), digest="sha256:" + "0" * 64))


def test_a_folder_or_file_that_is_gone_is_not_found(tmp_path: Path):
    for kind in (SourceKind.FOLDER, SourceKind.ARCHIVE):
        with pytest.raises(NotFoundError):
            fetch_source(Source(kind=kind, location=str(tmp_path / "gone")))


def test_what_was_adopted_here_has_nothing_to_fetch():
    with pytest.raises(UsageError):
        fetch_source(Source(kind=SourceKind.LOCAL))


def test_all_skills_of_a_source_together_have_a_limit(tmp_path: Path, skill_md, monkeypatch):
    monkeypatch.setattr("skillyard.delivery.fetched.MAX_SOURCE_BYTES", 100)
    write(tmp_path, {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    with pytest.raises(LimitError) as caught:
        fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)))
    assert "--skill" in caught.value.hint


def test_a_name_that_no_skill_has_is_answered_with_those_there_are(tmp_path: Path, skill_md):
    write(tmp_path, {f"s{number:02}/SKILL.md": skill_md(f"s{number:02}") for number in range(25)})
    with pytest.raises(NotFoundError, match="no skill gamma") as caught:
        fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)), only=["gamma"])
    assert "s00, s01" in caught.value.hint
    assert "s19 and 5 more" in caught.value.hint


def test_one_name_of_several_that_no_skill_has_refuses_them_all_and_names_the_nearest(tmp_path: Path, skill_md):
    write(tmp_path, {"a/SKILL.md": skill_md("alpha"), "n/SKILL.md": skill_md("notes")})
    with pytest.raises(NotFoundError, match="no skill note;") as caught:
        fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)), only=["ALPHA", "note"])
    assert caught.value.hint == "Did you mean 'notes'? It has: alpha, notes."
    assert caught.value.details["value"] == ["note"]


def test_a_refused_skill_that_was_asked_for_is_not_called_unknown(tmp_path: Path, skill_md):
    write(tmp_path, {"a/SKILL.md": skill_md("alpha"), "broken/SKILL.md": "no frontmatter"})
    fetched = fetch_source(Source(kind=SourceKind.FOLDER, location=str(tmp_path)), only=["alpha", "broken"])
    assert ([skill.id for skill in fetched.skills], [skill.id for skill in fetched.refused]) == (["alpha"], ["broken"])
