import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.delivery.lock import Lock, LockEntry, read_lock, write_lock
from skillyard.delivery.place import LockPlace, project_place
from skillyard.delivery.source import Source, SourceKind
from skillyard.errors import InputError, NotAllowedError, SkillyardError

DIGEST = "sha256:" + "a" * 64
GIT = Source(kind=SourceKind.GIT, location="https://example.com/r", ref="main", subpath="skills/pdf")


def entry(skill_id: str = "pdf", **fields: object) -> LockEntry:
    given = {"id": skill_id, "path": f".agents/skills/{skill_id}", "source": GIT, "digest": DIGEST, **fields}
    return LockEntry(**given)  # pyright: ignore[reportArgumentType]


def written(place: LockPlace, **fields: object) -> None:
    """A lock with one entry that has these fields changed."""
    write_lock(place, Lock().having(entry()))
    document = json.loads(place.lock.read_text())
    document["skills"][0] |= fields
    place.lock.write_text(json.dumps(document))


def test_what_is_written_is_read_back(tmp_path: Path):
    place = project_place(tmp_path)
    lock = (
        Lock()
        .having(entry(resolved="c" * 40, version="1.2", links=(".claude/skills/pdf",), verified=False))
        .having(entry("한국어", source=Source(kind=SourceKind.LOCAL)))
    )
    write_lock(place, lock)
    assert read_lock(place) == lock


def test_no_file_is_an_empty_lock(tmp_path: Path):
    assert read_lock(project_place(tmp_path)) == Lock()


def test_the_same_entries_give_the_same_bytes_in_any_order(tmp_path: Path):
    place = project_place(tmp_path)
    texts: list[str] = []
    for ids in (["a", "b", "c"], ["c", "a", "b"]):
        lock = Lock()
        for skill_id in ids:
            lock = lock.having(entry(skill_id))
        write_lock(place, lock)
        texts.append(place.lock.read_text())
    assert texts[0] == texts[1]
    assert texts[0].endswith("}\n")


def test_an_entry_takes_the_place_of_the_one_at_its_path():
    lock = Lock().having(entry()).having(entry(version="2"))
    assert [item.version for item in lock.entries] == ["2"]
    assert lock.without(".agents/skills/pdf") == Lock()


def test_paths_inside_the_project_are_written_relative_and_move_with_it(tmp_path: Path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    source = Source(kind=SourceKind.FOLDER, location=str(old / "own" / "pdf"))
    write_lock(project_place(old), Lock().having(entry(source=source)))
    assert '"source": "./own/pdf"' in (old / "skillyard.lock").read_text()
    old.rename(new)
    assert read_lock(project_place(new)).entries[0].source.location == str(new / "own" / "pdf")


def test_secrets_in_an_address_are_not_written(tmp_path: Path):
    source = Source(kind=SourceKind.URL, location="https://example.com/x.skill?token=hunter2")
    write_lock(project_place(tmp_path), Lock().having(entry(source=source)))
    assert "hunter2" not in (tmp_path / "skillyard.lock").read_text()


def test_a_lock_that_is_a_link_is_replaced_and_not_written_through(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "project").mkdir()
    place = project_place(tmp_path / "project")
    place.lock.symlink_to(precious)
    write_lock(place, Lock())
    assert precious.read_text() == "mine"
    assert not place.lock.is_symlink()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"version": "1", "skills": []}',
        '{"version": 2, "skills": []}',
        '{"version": 1}',
        '{"version": 1, "skills": {}}',
        '{"version": 1, "skills": ["x"]}',
        '{"version": 1, "skills": [{}]}',
        "[" * 100_000,
        "\ufeff{}",
    ],
)
def test_a_broken_lock_is_a_typed_error_and_stays_as_it_is(tmp_path: Path, text: str):
    place = project_place(tmp_path)
    place.lock.write_text(text)
    with pytest.raises(InputError, match=r"skillyard\.lock"):
        read_lock(place)
    assert place.lock.read_text() == text


def test_a_lock_of_a_later_version_asks_for_an_update(tmp_path: Path):
    place = project_place(tmp_path)
    place.lock.write_text('{"version": 2, "skills": []}')
    with pytest.raises(InputError) as caught:
        read_lock(place)
    assert "Update Skillyard" in caught.value.hint


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "../../outside/pdf"},
        {"path": "/etc/pdf"},
        {"path": ".git/pdf"},
        {"path": "a/../pdf"},
        {"links": ["../pdf"]},
        {"links": ["/etc/pdf"]},
    ],
)
def test_an_entry_whose_path_escapes_is_refused(tmp_path: Path, fields: dict[str, object]):
    written(project_place(tmp_path), **fields)
    with pytest.raises(NotAllowedError):
        read_lock(project_place(tmp_path))


@pytest.mark.parametrize(
    "fields",
    [
        {"path": ".agents/skills/other"},
        {"links": [".claude/skills/other"]},
        {"links": "x"},
        {"links": [1]},
        {"id": 7},
        {"id": ""},
        {"digest": "sha256:short"},
        {"digest": None},
        {"kind": "shell"},
        {"kind": "git", "source": "ext::sh -c touch"},
        {"kind": "git", "source": "--upload-pack=x"},
        {"kind": "git", "ref": "--upload-pack=x"},
        {"kind": "git", "subpath": "../x"},
        {"kind": "url", "source": "file:///etc/passwd"},
        {"kind": "folder", "source": "relative/path"},
        {"verified": "no"},
        {"pin": "md5:1"},
    ],
)
def test_an_entry_that_is_wrong_names_itself(tmp_path: Path, fields: dict[str, object]):
    written(project_place(tmp_path), **fields)
    with pytest.raises(InputError, match=r"skills\[0\]"):
        read_lock(project_place(tmp_path))


def test_two_entries_for_one_folder_are_refused(tmp_path: Path):
    place = project_place(tmp_path)
    write_lock(place, Lock(entries=(entry(), entry(version="2"))))
    with pytest.raises(InputError, match="same path"):
        read_lock(place)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    fields=st.dictionaries(
        st.sampled_from(["id", "path", "links", "kind", "source", "ref", "subpath", "pin", "digest", "verified"]),
        json_values,
        min_size=1,
    )
)
def test_any_entry_is_read_or_refused_with_a_typed_error(tmp_path: Path, fields: dict[str, object]):
    written(project_place(tmp_path), **fields)
    try:
        lock = read_lock(project_place(tmp_path))
    except SkillyardError:
        return
    assert all(item.path.endswith(item.id) for item in lock.entries)


def test_a_pipe_in_the_place_of_the_lock_is_named_and_not_waited_for(tmp_path: Path):
    place = project_place(tmp_path)
    os.mkfifo(place.lock)
    with pytest.raises(SkillyardError, match="no plain file"):
        read_lock(place)
