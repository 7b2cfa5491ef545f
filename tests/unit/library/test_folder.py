import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, NotAllowedError
from skillyard.library import folder as folder_module
from skillyard.library import walk as walk_module
from skillyard.library.folder import FolderLibrary
from skillyard.library.index import unpack_findings
from skillyard.skill.document import summarize
from skillyard.skill.models import Severity

TEXT = "---\nname: {name}\ndescription: {description}\n---\n\nBody of {name}\n"


def add(root: Path, path: str, description: str = "What it does.", *, file: str = "SKILL.md") -> Path:
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file
    target.write_text(TEXT.format(name=folder.name, description=description), encoding="utf-8")
    return target


@pytest.fixture
def library(tmp_path: Path) -> FolderLibrary:
    return FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index")


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once, so that what the index keeps can be seen."""
    monkeypatch.setattr(folder_module, "FINE_CLOCK_NS", -(10**18))
    monkeypatch.setattr(folder_module, "COARSE_CLOCK_NS", -(10**18))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The skills that were read from their files."""
    read: list[str] = []

    def counting(data: bytes, *, folder: str):
        read.append(folder)
        return summarize(data, folder=folder)

    monkeypatch.setattr(folder_module, "summarize", counting)
    return read


def ids(library: FolderLibrary) -> list[str]:
    return [entry.id for entry in library.catalog().entries]


def test_a_missing_root_is_an_empty_library(library):
    catalog = library.catalog()
    assert (list(catalog.entries), list(catalog.problems)) == ([], [])


def test_skills_are_listed_by_id_with_where_they_are(tmp_path, library):
    add(tmp_path / "skills", "zeta")
    location = add(tmp_path / "skills", "alpha", "Does alpha.")
    entries = library.catalog().entries
    assert [entry.id for entry in entries] == ["alpha", "zeta"]
    assert (entries[0].description, entries[0].location) == ("Does alpha.", str(location))
    assert entries[0].source == str(tmp_path / "skills")


def test_lower_case_file_names_and_nested_folders_are_found(tmp_path, library):
    add(tmp_path / "skills", "group/deep/inner")
    add(tmp_path / "skills", "lower", file="skill.md")
    assert ids(library) == ["inner", "lower"]


def test_folders_inside_a_skill_are_not_searched(tmp_path, library):
    add(tmp_path / "skills", "outer")
    add(tmp_path / "skills", "outer/assets/template")
    assert ids(library) == ["outer"]


def test_folders_deeper_than_allowed_and_hidden_ones_are_not_searched(tmp_path, library):
    add(tmp_path / "skills", "1/2/3/4/five")
    add(tmp_path / "skills", "1/2/3/4/x/six")
    add(tmp_path / "skills", ".git/hooks")
    add(tmp_path / "skills", "node_modules/package/skill")
    assert ids(library) == ["five"]


def test_the_shallowest_of_one_id_wins_and_the_other_is_reported(tmp_path, library):
    add(tmp_path / "skills", "a/deep/same", "deep")
    add(tmp_path / "skills", "b/same", "shallow")
    catalog = library.catalog()
    assert [entry.description for entry in catalog.entries] == ["shallow"]
    assert [(hidden.entry.description, hidden.by.description) for hidden in catalog.shadowed] == [("deep", "shallow")]


def test_a_root_that_is_a_skill_itself_is_that_skill(tmp_path):
    add(tmp_path, "lonely")
    assert ids(FolderLibrary(tmp_path / "lonely")) == ["lonely"]


def test_a_broken_skill_is_a_problem_and_its_neighbours_are_listed(tmp_path, library):
    add(tmp_path / "skills", "good")
    add(tmp_path / "skills", "broken").write_text("no frontmatter", encoding="utf-8")
    catalog = library.catalog()
    assert [entry.id for entry in catalog.entries] == ["good"]
    assert [(problem.id, problem.findings[0].code) for problem in catalog.problems] == [
        ("broken", "frontmatter-missing")
    ]


def test_problems_are_the_same_when_they_come_from_the_index(tmp_path, library, settled, reads):
    add(tmp_path / "skills", "broken").write_text("no frontmatter", encoding="utf-8")
    first = library.catalog()
    again = FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog()
    assert again.problems == first.problems
    assert reads == ["broken"]


def test_an_unchanged_library_is_not_read_again(tmp_path, library, settled, reads):
    for name in ("a", "b", "c"):
        add(tmp_path / "skills", name)
    first = library.catalog()
    assert FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog() == first
    assert sorted(reads) == ["a", "b", "c"]


def test_only_what_changed_is_read_again(tmp_path, library, settled, reads):
    for name in ("a", "b", "c"):
        add(tmp_path / "skills", name)
    library.catalog()
    reads.clear()
    add(tmp_path / "skills", "b", "Changed.")
    add(tmp_path / "skills", "d")
    (tmp_path / "skills/c/SKILL.md").unlink()
    entries = FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog().entries
    assert [(entry.id, entry.description) for entry in entries] == [
        ("a", "What it does."),
        ("b", "Changed."),
        ("d", "What it does."),
    ]
    assert sorted(reads) == ["b", "d"]


def test_a_change_that_keeps_size_and_mtime_is_seen(tmp_path, library, settled):
    path = add(tmp_path / "skills", "a", "one")
    before = path.stat()
    assert library.catalog().entries[0].description == "one"
    add(tmp_path / "skills", "a", "two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    again = FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index")
    assert again.catalog().entries[0].description == "two"


def test_a_file_as_young_as_the_look_at_it_is_read_again(tmp_path, library, reads):
    add(tmp_path / "skills", "a")
    library.catalog()
    FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog()
    assert reads == ["a", "a"]


def test_a_change_seen_by_the_same_library_object(tmp_path, library):
    add(tmp_path / "skills", "a", "one")
    assert library.catalog().entries[0].description == "one"
    add(tmp_path / "skills", "a", "two")
    assert library.catalog().entries[0].description == "two"


@given(cut=st.integers(0, 4000), flip=st.integers(0, 4000))
def test_a_damaged_index_is_not_trusted(tmp_path, cut, flip):
    root = tmp_path / "skills"
    for name in ("a", "b"):
        add(root, name)
    library = FolderLibrary(root, index_dir=tmp_path / "index")
    expected = library.catalog()
    (index,) = (tmp_path / "index").iterdir()
    data = bytearray(index.read_bytes())
    data[flip % len(data)] ^= 0xFF
    index.write_bytes(data[: max(1, cut % len(data))])
    assert FolderLibrary(root, index_dir=tmp_path / "index").catalog() == expected


def test_a_library_works_where_no_index_can_be_written(tmp_path):
    add(tmp_path / "skills", "a")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert ids(FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "file")) == ["a"]


def test_linked_and_nested_skills_are_listed_in_order_too(tmp_path):
    root = tmp_path / "skills"
    for path in ("b", "group/a", "한국어"):
        add(root, path)
    add(tmp_path / "shared", "aa")
    (root / "aa").symlink_to("../shared/aa")
    assert ids(FolderLibrary(root, known_roots=[tmp_path / "shared"])) == ["a", "aa", "b", "한국어"]


def test_a_link_into_a_known_root_is_followed(tmp_path):
    add(tmp_path / "shared", "x")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills/x").symlink_to("../shared/x")
    library = FolderLibrary(tmp_path / "skills", known_roots=[tmp_path / "shared"])
    (entry,) = library.catalog().entries
    assert entry.location == str(tmp_path / "skills/x/SKILL.md")
    document = library.read(entry).document
    assert document is not None
    assert document.name == "x"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda root, away: (root / "x").symlink_to(away / "x"), "link-outside"),
        (lambda root, away: (root / "x").symlink_to("nowhere"), "link-dangling"),
        (lambda root, away: (root / "x").symlink_to("."), "link-without-skill"),
        (lambda root, away: (root / "x").symlink_to("x"), "link-dangling"),
        (
            lambda root, away: ((root / "x").mkdir(), (root / "x/SKILL.md").symlink_to(away / "x/SKILL.md")),
            "link-outside",
        ),
        (lambda root, away: ((root / "x").mkdir(), (root / "x/SKILL.md").symlink_to("gone.md")), "link-dangling"),
        (lambda root, away: ((root / "x").mkdir(), os.mkfifo(root / "x/SKILL.md")), "not-a-file"),
        (lambda root, away: (root / "x/SKILL.md").mkdir(parents=True), "not-a-file"),
        (lambda root, away: add(root, "x\u202ey"), "folder-name-hidden"),
        (lambda root, away: add(root, "x\ny"), "folder-name-hidden"),
    ],
    ids=[
        "outside",
        "dangling",
        "loop",
        "self",
        "file-outside",
        "file-dangling",
        "fifo",
        "folder-as-file",
        "bidi",
        "newline",
    ],
)
def test_odd_folders_are_problems_and_their_neighbours_are_listed(tmp_path, make, code):
    add(tmp_path / "away", "x", "secret")
    root = tmp_path / "skills"
    add(root, "good")
    make(root, tmp_path / "away")
    catalog = FolderLibrary(root).catalog()
    assert [entry.id for entry in catalog.entries] == ["good"]
    assert [problem.findings[0].code for problem in catalog.problems] == [code]
    assert catalog.problems[0].findings[0].fix


def test_a_name_that_is_not_utf_8_is_a_problem(tmp_path):
    root = tmp_path / "skills"
    add(root, "good")
    folder = root / os.fsdecode(b"bad\xff")
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT.format(name="bad", description="d"), encoding="utf-8")
    catalog = FolderLibrary(root, index_dir=tmp_path / "index").catalog()
    assert [entry.id for entry in catalog.entries] == ["good"]
    assert [problem.findings[0].code for problem in catalog.problems] == ["folder-name-hidden"]


def test_a_skill_file_that_became_a_link_is_not_read(tmp_path, library):
    add(tmp_path / "away", "x")
    path = add(tmp_path / "skills", "x")
    (entry,) = library.catalog().entries
    path.unlink()
    path.symlink_to(tmp_path / "away/x/SKILL.md")
    with pytest.raises(NotAllowedError):
        library.read(entry)


def test_the_bundle_holds_every_file(tmp_path, library):
    add(tmp_path / "skills", "x")
    (tmp_path / "skills/x/assets").mkdir()
    (tmp_path / "skills/x/assets/logo.bin").write_bytes(b"\x00\xff")
    (entry,) = library.catalog().entries
    assert [file.path for file in library.bundle(entry)] == ["SKILL.md", "assets/logo.bin"]


def test_a_bundle_with_a_link_in_it_is_refused(tmp_path, library):
    add(tmp_path / "skills", "x")
    (tmp_path / "skills/x/passwd").symlink_to("/etc/passwd")
    (entry,) = library.catalog().entries
    with pytest.raises(InputError, match="cannot be taken"):
        library.bundle(entry)


def test_a_description_with_an_escaped_nul_does_not_tear_the_index(tmp_path, library, settled):
    add(tmp_path / "skills", "a", '"one\\0two"')
    add(tmp_path / "skills", "b")
    first = library.catalog()
    assert FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog() == first


def test_threads_that_share_a_library_never_see_a_row_of_another_skill(tmp_path):
    root = tmp_path / "skills"
    for number in range(30):
        add(root, f"s{number:02d}", f"Does s{number:02d}.")
    library = FolderLibrary(root, index_dir=tmp_path / "index")
    wrong: list[str] = []

    def look() -> None:
        for _ in range(40):
            wrong.extend(entry.id for entry in library.catalog().entries if entry.description != f"Does {entry.id}.")

    def change() -> None:
        for number in range(40):
            add(root, f"s{number % 30:02d}x", f"Does s{number % 30:02d}x.")
            (root / f"s{number % 30:02d}x/SKILL.md").unlink()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(change), *(pool.submit(look) for _ in range(3))]:
                done.result()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


@pytest.mark.parametrize(
    "tamper",
    [
        lambda header, payload: ({**header, "crc": float("inf")}, payload),
        lambda header, payload: ({**header, "sizes": [float("inf")]}, payload),
        lambda header, payload: ({**header, "sizes": [*header["sizes"][:2], 0, header["sizes"][2], 0]}, payload),
    ],
    ids=["endless checksum", "endless sizes", "a column too short"],
)
def test_an_index_that_lies_about_itself_is_not_trusted(tmp_path, library, settled, tamper):
    for name in ("a", "b"):
        add(tmp_path / "skills", name)
    expected = library.catalog()
    (index,) = (tmp_path / "index").iterdir()
    header, _, payload = index.read_bytes().partition(b"\n")
    changed, payload = tamper(json.loads(header), payload)
    index.write_bytes(json.dumps(changed).encode() + b"\n" + payload)
    assert FolderLibrary(tmp_path / "skills", index_dir=tmp_path / "index").catalog() == expected


def test_the_stamps_tell_how_each_skill_file_looked_at_the_last_catalog(tmp_path: Path, write_skill):
    library = FolderLibrary(tmp_path)
    assert library.stamps().by_location() == {}
    path = write_skill(tmp_path / "pdf")
    (entry,) = library.catalog().entries
    status = path.stat()
    assert library.stamps().by_location() == {entry.location: (status.st_ctime_ns, status.st_size, status.st_ino)}
    path.write_text(path.read_text() + "more")
    assert library.stamps().by_location()[entry.location][1] == status.st_size
    library.catalog()
    assert library.stamps().by_location()[entry.location][1] == status.st_size + 4


def test_of_endless_folders_without_skills_only_the_first_are_looked_into(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_module, "MAX_FOLDERS", 3)
    for name in ("e1", "e2", "e3", "e4", "z/deep"):
        (tmp_path / name).mkdir(parents=True)
    add(tmp_path, "good")
    add(tmp_path, "z/deep/late")
    catalog = FolderLibrary(tmp_path).catalog()
    assert [entry.id for entry in catalog.entries] == ["good"]
    assert [(problem.location, problem.findings[0].code) for problem in catalog.problems] == [
        (str(tmp_path), "too-many-folders")
    ]


def test_of_endless_links_only_the_first_are_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_module, "MAX_LINKS", 2)
    add(tmp_path, "good")
    for name in ("l1", "l2", "l3"):
        (tmp_path / name).symlink_to("good")
    catalog = FolderLibrary(tmp_path).catalog()
    assert [entry.id for entry in catalog.entries] == ["good", "l1", "l2"]
    assert [problem.findings[0].code for problem in catalog.problems] == ["too-many-links"]


def test_endless_bad_links_are_counted_and_good_ones_still_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(walk_module, "MAX_TROUBLES", 2)
    add(tmp_path, "good")
    for name in ("l1", "l2", "l3", "l4"):
        (tmp_path / name).symlink_to("nowhere")
    (tmp_path / "z").symlink_to("good")
    catalog = FolderLibrary(tmp_path).catalog()
    assert [entry.id for entry in catalog.entries] == ["good", "z"]
    codes = [problem.findings[0].code for problem in catalog.problems]
    assert codes == ["link-dangling", "link-dangling", "too-many-problems"]
    assert "2 more" in catalog.problems[-1].findings[0].message


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[1]", '[{"severity": "error"}]', "[" * 100_000])
def test_a_finding_that_the_index_lost_is_told_as_lost(text):
    (finding,) = unpack_findings(text)
    assert (finding.code, finding.severity) == ("unreadable", Severity.ERROR)


def test_a_finding_of_wrong_types_in_the_index_is_not_used():
    whole = {"code": "x", "severity": "error", "message": "m", "fix": "f", "field": "", "file": "", "line": 1}
    assert unpack_findings(json.dumps([whole]))[0].code == "x"
    for key, wrong in (("message", None), ("file", 1), ("line", "1")):
        assert unpack_findings(json.dumps([{**whole, key: wrong}]))[0].code == "unreadable"


def test_a_skill_file_that_is_a_pipe_is_told_under_the_name_of_its_folder(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / name / "skill.md")
    assert [problem.id for problem in FolderLibrary(tmp_path).catalog().problems] == ["one", "two"]
