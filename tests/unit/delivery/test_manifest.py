import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.delivery.bundle_source import Origin
from skillyard.delivery.manifest import MAX_ENTRIES, MAX_MANIFEST_BYTES, Manifest, ManifestEntry
from skillyard.skill.folder_names import folder_problem

DIGEST = "sha256:" + "0a" * 32
ENTRY = ManifestEntry(digest=DIGEST, origin=Origin(kind="attached", skill="team/pdf", version="1.2.0"))


def document(skills: object, version: object = 1) -> bytes:
    return json.dumps({"version": version, "skills": skills}).encode()


def raw(**changes: object) -> dict[str, object]:
    return {"digest": DIGEST, "origin": "attached", "skill": "team/pdf", "version": "1.2.0", **changes}


def test_what_is_written_is_read_again():
    manifest = Manifest(entries={"pdf": ENTRY, "문서": ManifestEntry(digest=DIGEST, origin=Origin(kind="builtin"))})
    assert Manifest.read(manifest.write()) == manifest


def test_the_same_entries_are_the_same_bytes():
    other = ManifestEntry(digest=DIGEST, origin=Origin(kind="builtin"))
    assert Manifest(entries={"a": ENTRY, "b": other}).write() == Manifest(entries={"b": other, "a": ENTRY}).write()


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        document({}, version=2),
        document([]),
        document({f"s{number}": raw() for number in range(MAX_ENTRIES + 1)}),
        document({"pdf": raw(skill="x" * MAX_MANIFEST_BYTES)}),
    ],
)
def test_what_is_no_manifest_says_nothing(data: bytes | None):
    assert Manifest.read(data) == Manifest(is_sound=False)


@pytest.mark.parametrize(
    "folder",
    [
        "../x",
        "..",
        ".",
        "",
        "/etc",
        "a/b",
        "a\\b",
        "C:x",
        ".ssh",
        ".skillyard.json",
        "x\0y",
        "x\ny",
        "nul",
        "com1",
        "__pycache__",
        "node_modules",
        "．．",
        "a.",
        "\ud800",
        "x" * 300,
    ],
)
def test_a_name_that_could_lead_elsewhere_is_left_out(folder: str):
    assert folder_problem(folder)
    assert Manifest.read(document({folder: raw(), "pdf": raw()})).entries == {"pdf": ENTRY}


@pytest.mark.parametrize(
    "entry",
    [
        None,
        [],
        "x",
        {},
        raw(digest="sha256:../../x"),
        raw(digest=DIGEST + "\n"),
        raw(digest=7),
        raw(origin="../x"),
        raw(origin=None),
        raw(origin=""),
    ],
)
def test_a_damaged_entry_is_left_out_and_its_neighbours_stay(entry: object):
    assert Manifest.read(document({"bad": entry, "pdf": raw()})).entries == {"pdf": ENTRY}


@pytest.mark.parametrize("text", ["x" * 201, "a\u202eb", "\ud800", 7, None])
def test_a_text_that_cannot_be_shown_is_dropped(text: object):
    entry = Manifest.read(document({"pdf": raw(skill=text)})).entries["pdf"]
    assert entry.origin == Origin(kind="attached", version="1.2.0")


@given(st.binary() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(document))
def test_whatever_lies_there_is_read_without_an_error(data: bytes):
    manifest = Manifest.read(data)
    assert Manifest.read(manifest.write()).entries == manifest.entries


@given(st.dictionaries(st.text(), st.fixed_dictionaries({"digest": st.just(DIGEST), "origin": st.text()})))
def test_no_name_that_is_read_leads_out_of_its_folder(skills: dict[str, object]):
    for folder in Manifest.read(document(skills)).entries:
        assert "/" not in folder
        assert not folder.startswith(".")
