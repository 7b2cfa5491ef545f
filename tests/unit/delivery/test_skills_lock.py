import hashlib
import json
from pathlib import Path

import pytest

from skillyard.delivery.skills_lock import lock_files, read_skills_lock
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import InputError

LOCAL = Source(kind=SourceKind.LOCAL)


def git(location: str, **fields: str) -> Source:
    return Source(kind=SourceKind.GIT, location=location, **fields)


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        (
            {"source": "o/r", "sourceType": "github", "skillPath": "skills/pdf/SKILL.md", "ref": "v1"},
            git("https://github.com/o/r", subpath="skills/pdf", ref="v1"),
        ),
        (
            {
                "source": "o/r",
                "sourceUrl": "https://github.com/o/r.git",
                "sourceType": "github",
                "skillPath": "SKILL.md",
            },
            git("https://github.com/o/r"),
        ),
        (
            {"source": "git@example.com:o/r.git", "sourceUrl": "git@example.com:o/r.git", "sourceType": "git"},
            git("git@example.com:o/r.git"),
        ),
        (
            {
                "source": "g/r",
                "sourceUrl": "https://gitlab.com/g/r.git",
                "sourceType": "gitlab",
                "skillPath": "a/SKILL.md",
            },
            git("https://gitlab.com/g/r", subpath="a"),
        ),
        (
            {"source": "example.com", "sourceUrl": "https://example.com", "sourceType": "well-known"},
            Source(
                kind=SourceKind.INDEX,
                location="https://example.com/.well-known/agent-skills/index.json",
                subpath="pdf",
            ),
        ),
        (
            {"source": "127.0.0.1", "sourceUrl": "http://127.0.0.1:18500", "sourceType": "well-known"},
            Source(
                kind=SourceKind.INDEX,
                location="http://127.0.0.1:18500/.well-known/agent-skills/index.json",
                subpath="pdf",
            ),
        ),
        (
            {
                "source": "a.example",
                "sourceUrl": "https://a.example/.well-known/agent-skills/index.json",
                "sourceType": "well-known",
            },
            Source(
                kind=SourceKind.INDEX,
                location="https://a.example/.well-known/agent-skills/index.json",
                subpath="pdf",
            ),
        ),
        ({"source": "a.example", "sourceUrl": "https://a.example/team/a", "sourceType": "well-known"}, LOCAL),
        ({"source": "a.example", "sourceUrl": "/etc", "sourceType": "well-known"}, LOCAL),
        ({"source": "a.example", "sourceType": "well-known"}, LOCAL),
        ({"source": "some-package", "sourceType": "node_modules"}, LOCAL),
        ({"source": "/gone/away", "sourceType": "local"}, LOCAL),
        ({"source": "g/r", "sourceType": "git"}, LOCAL),
        ({"source": "ext::sh -c x", "sourceType": "git"}, LOCAL),
        ({"source": "--upload-pack=x", "sourceType": "github"}, LOCAL),
        ({"source": "o/r", "sourceType": "github", "ref": "--upload-pack=x"}, LOCAL),
        ({"source": "o/r", "sourceType": "github", "skillPath": "../../x/SKILL.md"}, LOCAL),
        ({"source": 7, "sourceType": None}, LOCAL),
        ({}, LOCAL),
    ],
)
def test_each_kind_of_source_is_taken_over_or_becomes_local(tmp_path: Path, fields: dict[str, object], source: Source):
    path = tmp_path / "skills-lock.json"
    path.write_text(json.dumps({"version": 1, "skills": {"pdf": fields}}))
    assert read_skills_lock(path)["pdf"].source == source


def test_a_local_source_that_is_there_is_taken_over(tmp_path: Path):
    (tmp_path / "mine").mkdir()
    path = tmp_path / "skills-lock.json"
    path.write_text(json.dumps({"version": 1, "skills": {"pdf": {"source": "./mine", "sourceType": "local"}}}))
    assert read_skills_lock(path)["pdf"].source.location == str(tmp_path / "mine")


def test_no_file_tracks_nothing(tmp_path: Path):
    assert read_skills_lock(tmp_path / "skills-lock.json") == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"skills": []}', "[" * 100_000])
def test_a_broken_file_is_a_typed_error(tmp_path: Path, text: str):
    path = tmp_path / "skills-lock.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"skills-lock\.json"):
        read_skills_lock(path)


def hashed(*pairs: tuple[str, str]) -> str:
    return hashlib.sha256("".join(path + text for path, text in pairs).encode()).hexdigest()


def test_a_matching_hash_vouches_for_the_content(tmp_path: Path, make_bundle):
    texts = {
        "SKILL.md": "---\nname: pdf\ndescription: d\n---\n",
        "a_b.md": "1",
        "a-b.md": "2",
        "Zed.md": "3",
        "über.md": "5",
        "references/x.md": "4",
    }
    order = ["a_b.md", "a-b.md", "references/x.md", "SKILL.md", "über.md", "Zed.md"]
    path = tmp_path / "skills-lock.json"
    computed = hashed(*((name, texts[name]) for name in order))
    path.write_text(json.dumps({"version": 1, "skills": {"pdf": {"computedHash": computed}}}))
    entry = read_skills_lock(path)["pdf"]
    assert entry.vouches_for(make_bundle(texts))
    assert not entry.vouches_for(make_bundle({**texts, "a_b.md": "changed"}))


def test_no_hash_vouches_for_nothing(tmp_path: Path, make_bundle):
    path = tmp_path / "skills-lock.json"
    path.write_text('{"version": 3, "skills": {"pdf": {"source": "o/r"}}}')
    assert not read_skills_lock(path)["pdf"].vouches_for(make_bundle())


def test_the_files_are_where_the_installer_keeps_them(tmp_path: Path):
    project, home = tmp_path / "p", tmp_path / "h"
    assert lock_files(project=project, user_home=home, env={}) == (
        project / "skills-lock.json",
        home / ".agents/.skill-lock.json",
    )
    _, own = lock_files(project=project, user_home=home, env={"XDG_STATE_HOME": "/state"})
    assert own == Path("/state/skills/.skill-lock.json")
