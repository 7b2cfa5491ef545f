from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.delivery.source import Source, SourceKind
from skillyard.delivery.source_text import parse_source
from skillyard.errors import InputError, NotFoundError, SkillyardError, UsageError

HEX = "a" * 64
GITHUB = "https://github.com/o/r"


def git(location: str, *, ref: str = "", subpath: str = "", digest: str = "") -> Source:
    return Source(kind=SourceKind.GIT, location=location, ref=ref, subpath=subpath, digest=digest)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("o/r", git(GITHUB)),
        ("o/r.git", git(GITHUB)),
        ("github:o/r", git(GITHUB)),
        ("gitlab:o/r", git("https://gitlab.com/o/r")),
        ("o/r#v1", git(GITHUB, ref="v1")),
        ("o/r@v1", git(GITHUB, ref="v1")),
        ("o/r@feature/x", git(GITHUB, ref="feature/x")),
        ("o/r/skills/pdf", git(GITHUB, subpath="skills/pdf")),
        ("o/r//skills/pdf", git(GITHUB, subpath="skills/pdf")),
        ("o/r//skills/pdf#v1", git(GITHUB, subpath="skills/pdf", ref="v1")),
        ("o/r@v1//skills/pdf", git(GITHUB, subpath="skills/pdf", ref="v1")),
        ("o/r//skills/pdf@v1", git(GITHUB, subpath="skills/pdf", ref="v1")),
        (f"o/r#v1&sha256={HEX}", git(GITHUB, ref="v1", digest=f"sha256:{HEX}")),
        ("https://github.com/o/r", git(GITHUB)),
        ("https://www.github.com/o/r/", git(GITHUB)),
        ("https://github.com/o/r.git", git(GITHUB)),
        ("https://github.com/o/r.git@v1", git(GITHUB, ref="v1")),
        ("https://github.com/o/r//skills/pdf", git(GITHUB, subpath="skills/pdf")),
        ("https://github.com/o/r/tree/main", git(GITHUB, ref="main")),
        ("https://github.com/o/r/tree/main/skills/pdf", git(GITHUB, ref="main", subpath="skills/pdf")),
        ("https://github.com/o/r/tree/main/skills/pdf/", git(GITHUB, ref="main", subpath="skills/pdf")),
        ("https://github.com/o/r/blob/main/skills/pdf/SKILL.md", git(GITHUB, ref="main", subpath="skills/pdf")),
        ("https://github.com/o/r/blob/main/SKILL.md", git(GITHUB, ref="main")),
        (
            "https://gitlab.example.com/a/b/c/-/tree/main/skills/pdf",
            git("https://gitlab.example.com/a/b/c", ref="main", subpath="skills/pdf"),
        ),
        ("https://git.example.com/a/r.git", git("https://git.example.com/a/r.git")),
        ("git+https://git.example.com/a/r", git("https://git.example.com/a/r")),
        ("git+https://git.example.com/a/r@v1//s/x", git("https://git.example.com/a/r", ref="v1", subpath="s/x")),
        ("ssh://git@example.com/o/r", git("ssh://git@example.com/o/r")),
        ("ssh://git@example.com:2222/o/r.git#v1", git("ssh://git@example.com:2222/o/r.git", ref="v1")),
        ("git@example.com:o/r.git", git("git@example.com:o/r.git")),
        ("git@example.com:o/r.git@v1//skills/x", git("git@example.com:o/r.git", ref="v1", subpath="skills/x")),
    ],
)
def test_every_form_of_a_repository_is_understood(text: str, expected: Source, tmp_path: Path):
    assert parse_source(text, cwd=tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "kind", "location"),
    [
        ("https://example.com", "index", "https://example.com/.well-known/agent-skills/index.json"),
        ("https://example.com/", "index", "https://example.com/.well-known/agent-skills/index.json"),
        (
            "https://example.com/.well-known/agent-skills/",
            "index",
            "https://example.com/.well-known/agent-skills/index.json",
        ),
        ("https://example.com/a/pdf.skill", "url", "https://example.com/a/pdf.skill"),
        ("https://example.com/a/SKILL.md", "url", "https://example.com/a/SKILL.md"),
        ("https://example.com/download?id=1", "url", "https://example.com/download?id=1"),
        (
            "https://github.com/o/r/releases/download/v1/x.zip",
            "url",
            "https://github.com/o/r/releases/download/v1/x.zip",
        ),
        ("http://127.0.0.1:8000/x.zip", "url", "http://127.0.0.1:8000/x.zip"),
    ],
)
def test_other_web_addresses_are_downloads_or_an_index(text: str, kind: str, location: str, tmp_path: Path):
    source = parse_source(text, cwd=tmp_path)
    assert (source.kind, source.location) == (kind, location)


def test_a_digest_is_read_from_the_fragment_or_given_beside(tmp_path: Path):
    url = "https://example.com/pdf.skill"
    digest = f"sha256:{HEX}"
    assert parse_source(f"{url}#sha256={HEX}", cwd=tmp_path).digest == digest
    assert parse_source(url, cwd=tmp_path, digest=digest).digest == digest
    assert parse_source(url, cwd=tmp_path, digest=digest.upper().replace("SHA", "sha")).digest == digest
    with pytest.raises(UsageError, match="two different digests"):
        parse_source(f"{url}#sha256={'b' * 64}", cwd=tmp_path, digest=digest)


def test_what_is_on_disk_wins_over_every_other_reading(tmp_path: Path):
    (tmp_path / "o" / "r").mkdir(parents=True)
    (tmp_path / "a#b").mkdir()
    (tmp_path / "pdf.skill").write_bytes(b"")
    assert parse_source("o/r", cwd=tmp_path) == Source(kind=SourceKind.FOLDER, location=str(tmp_path / "o/r"))
    assert parse_source("./a#b", cwd=tmp_path).location == str(tmp_path / "a#b")
    assert parse_source("pdf.skill", cwd=tmp_path).kind is SourceKind.ARCHIVE
    assert parse_source(f"pdf.skill#sha256={HEX}", cwd=tmp_path).digest == f"sha256:{HEX}"


def test_a_skill_file_means_its_folder(tmp_path: Path):
    (tmp_path / "pdf").mkdir()
    (tmp_path / "pdf" / "SKILL.md").write_text("")
    assert parse_source("pdf/SKILL.md", cwd=tmp_path).location == str(tmp_path / "pdf")


def test_local_repositories(tmp_path: Path, make_repository):
    repository = make_repository({"a": "x"})
    bare = tmp_path / "bare.git"
    repository.git("clone", "--quiet", "--bare", ".", str(bare))
    url = f"file://{repository.path}"
    assert parse_source("./repo", cwd=tmp_path).kind is SourceKind.FOLDER
    assert parse_source("git+./repo", cwd=tmp_path) == git(url)
    assert parse_source(f"git+{url}#main", cwd=tmp_path) == git(url, ref="main")
    assert parse_source(f"{url}//skills/x", cwd=tmp_path) == git(url, subpath="skills/x")
    assert parse_source("./bare.git", cwd=tmp_path) == git(f"file://{bare}")
    assert parse_source("./bare.git@main//skills/x", cwd=tmp_path) == git(
        f"file://{bare}", ref="main", subpath="skills/x"
    )


@pytest.mark.parametrize("text", ["", "  ", "-x", "--upload-pack=x"])
def test_no_source_or_an_option_is_a_usage_error(text: str, tmp_path: Path):
    with pytest.raises(UsageError):
        parse_source(text, cwd=tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c 'touch pwned'",
        "git+ext::sh -c 'touch pwned'",
        "fd::3",
        "git://example.com/r",
        "git+git://example.com/r",
        "ftp://example.com/x",
        "git+--upload-pack=touch",
        "git@host:--upload-pack=touch",
        "o/r#--upload-pack=touch",
        "o/r@-x",
        "o/r//../../etc",
        "https://github.com/o/r/tree/main/../../x",
        "https://user:secret@example.com/x.skill",
    ],
)
def test_hostile_sources_are_refused(text: str, tmp_path: Path):
    with pytest.raises(SkillyardError):
        parse_source(text, cwd=tmp_path)


@pytest.mark.parametrize("text", ["./nowhere", "/nowhere/at/all", "nowhere.skill", "one-word", "file:///nowhere"])
def test_what_is_nowhere_is_not_found_and_the_forms_are_named(text: str, tmp_path: Path):
    with pytest.raises(NotFoundError) as caught:
        parse_source(text, cwd=tmp_path)
    assert "owner/repo" in caught.value.hint


def test_a_branch_of_something_that_is_no_repository_is_a_usage_error(tmp_path: Path):
    (tmp_path / "pdf").mkdir()
    with pytest.raises(UsageError, match="not a git repository"):
        parse_source("./pdf#v1", cwd=tmp_path)


@pytest.mark.parametrize("text", ["~nobody-of-this-name/x", "http://[", "https://[::1", "https://exa\u2100mple.com/x"])
def test_an_impossible_address_is_a_typed_error(text: str, tmp_path: Path):
    with pytest.raises(SkillyardError):
        parse_source(text, cwd=tmp_path)


SCHEMES = ["git+", "https://", "http://", "ssh://", "file://", "git@", "github:", "ext::"]
NAMES = ["o/r", "host", ".git", "sha256=", "tree/main", "SKILL.md", "한", "%2e"]
SIGNS = ["/", "//", "@", "#", ":", "-", "..", "~", " ", "\x00", "[", "&", "?a=b", "\\"]
pieces = st.sampled_from([*SCHEMES, *NAMES, *SIGNS])


@given(text=st.lists(pieces, min_size=1, max_size=8).map("".join))
def test_any_text_is_a_safe_source_or_a_typed_error(tmp_path: Path, text: str):
    try:
        source = parse_source(text, cwd=tmp_path)
    except SkillyardError:
        return
    assert not source.location.startswith("-")
    assert not source.ref.startswith("-")
    assert ".." not in source.subpath.split("/")
    assert source.kind is not SourceKind.GIT or "::" not in source.location or "://" in source.location


def test_a_transport_helper_is_refused_by_name(tmp_path: Path):
    with pytest.raises(InputError, match="transport helper"):
        parse_source("ext::sh", cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("up/skills/pdx", "Did you mean up/skills/pdf? "),
        ("up/skills/pdf//nothing", ""),
        ("up/skill/pdf", "Did you mean up/skills? "),
    ],
)
def test_a_mistyped_path_is_not_taken_for_a_repository(tmp_path: Path, text: str, meant: str):
    (tmp_path / "up/skills/pdf").mkdir(parents=True)
    with pytest.raises(NotFoundError, match="is here, but it has no") as caught:
        parse_source(text, cwd=tmp_path)
    assert caught.value.hint == f"{meant}For the repository on GitHub, write github:{text}"
    assert parse_source(f"github:{text}", cwd=tmp_path).kind is SourceKind.GIT
