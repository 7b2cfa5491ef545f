import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError
from skillyard.skill import bundle as bundle_module
from skillyard.skill.bundle import Bundle, BundleFile, bundle_of, left_out_part, require_safe
from skillyard.skill.models import Severity, has_errors

SKILL = BundleFile("SKILL.md", b"---\nname: x\ndescription: y\n---\n")


def codes(read):
    return [finding.code for finding in read.findings]


def test_the_digest_is_sha256_over_sorted_lines_of_path_mode_and_content_hash():
    files = [BundleFile("b.sh", b"\xff\0", executable=True), BundleFile("SKILL.md", b"")]
    lines = (
        b"SKILL.md\0-\0" + hashlib.sha256(b"").hexdigest().encode() + b"\n"
        b"b.sh\0x\0" + hashlib.sha256(b"\xff\0").hexdigest().encode() + b"\n"
    )
    assert Bundle(files).digest == f"sha256:{hashlib.sha256(lines).hexdigest()}"


def test_the_order_of_files_does_not_matter():
    files = [SKILL, BundleFile("a/b", b"1"), BundleFile("a.b", b"2")]
    assert Bundle(files) == Bundle(files[::-1])
    assert Bundle(files).digest == Bundle(files[::-1]).digest
    assert hash(Bundle(files)) == hash(Bundle(files[::-1]))


@pytest.mark.parametrize(
    "other",
    [
        BundleFile("run", b"1", executable=True),
        BundleFile("run", b"2"),
        BundleFile("Run", b"1"),
    ],
)
def test_content_path_and_executable_bit_each_change_the_digest(other):
    assert Bundle([SKILL, BundleFile("run", b"1")]).digest != Bundle([SKILL, other]).digest


def test_binary_empty_and_eval_files_are_kept():
    files = [SKILL, BundleFile("evals/evals.json", b"{}"), BundleFile("x.bin", bytes(256)), BundleFile("e", b"")]
    read = bundle_of(files, folder="x")
    assert read.findings == ()
    assert read.folder == "x"
    assert read.bundle == Bundle(files)
    assert len(read.bundle) == 4
    assert read.bundle.size == sum(len(file.data) for file in files)
    assert read.bundle.get("e") == BundleFile("e", b"")
    assert read.bundle.get("nothing") is None


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("__pycache__/a.cpython-311.pyc", "__pycache__"),
        ("scripts/__pycache__/x", "scripts/__pycache__"),
        ("web/node_modules/a/b.js", "web/node_modules"),
        ("old.pyc", "old.pyc"),
        (".DS_Store", ".DS_Store"),
        ("a/.ds_store", "a/.ds_store"),
        (".git/config", ".git"),
        (".GIT/config", ".GIT"),
        ("sub/.git", "sub/.git"),
        ("__MACOSX/x/._SKILL.md", "__MACOSX"),
        ("a/._b", "a/._b"),
        (".gitignore", ""),
        ("node_modules.md", ""),
        ("a.pyc.md", ""),
        ("evals/evals.json", ""),
    ],
)
def test_litter_is_left_out_and_nothing_else(path, part):
    assert left_out_part(path) == part
    read = bundle_of([SKILL, BundleFile(path, b"1")])
    assert read.bundle == Bundle([SKILL] if part else [SKILL, BundleFile(path, b"1")])
    assert codes(read) == (["left-out"] if part else [])


def test_what_is_left_out_is_named_once_and_shortly():
    read = bundle_of([SKILL, *(BundleFile(f"{name}.pyc", b"") for name in "abcdefgh")])
    (finding,) = read.findings
    assert finding.severity is Severity.INFO
    assert "a.pyc" in finding.message
    assert "and 3 more" in finding.message


def test_litter_on_an_escaping_path_is_still_refused():
    read = bundle_of([SKILL, BundleFile("../../.git/hooks/post-checkout", b"")])
    assert read.bundle is None
    assert "path-escape" in codes(read)


def test_a_lower_case_skill_file_is_renamed_and_said_so():
    read = bundle_of([BundleFile("skill.md", b"x"), BundleFile("a", b"")])
    assert read.bundle == Bundle([BundleFile("SKILL.md", b"x"), BundleFile("a", b"")])
    assert [(finding.code, finding.severity) for finding in read.findings] == [("skill-file-renamed", Severity.WARNING)]


def test_both_spellings_of_the_skill_file_collide():
    read = bundle_of([SKILL, BundleFile("skill.md", b"other")])
    assert read.bundle is None
    assert codes(read) == ["path-collision"]


def test_a_bundle_without_a_skill_file_is_refused_and_a_near_miss_named():
    assert codes(bundle_of([])) == ["skill-file-missing"]
    (finding,) = bundle_of([BundleFile("Skill.md", b"")]).findings
    assert "'Skill.md'" in finding.message


def test_all_problems_are_found_at_once():
    read = bundle_of([BundleFile("../a", b""), BundleFile("b", b""), BundleFile("B", b"")])
    assert read.bundle is None
    assert set(codes(read)) == {"skill-file-missing", "path-escape", "path-collision"}


@pytest.mark.parametrize(
    ("limit", "value", "code"),
    [
        ("MAX_BUNDLE_FILES", 2, "bundle-files"),
        ("MAX_FILE_BYTES", 99, "bundle-file-size"),
        ("MAX_BUNDLE_BYTES", 120, "bundle-size"),
    ],
)
def test_each_limit_is_checked(monkeypatch, limit, value, code):
    files = [SKILL, BundleFile("a", bytes(100)), BundleFile("b", b"")]
    assert bundle_of(files).bundle is not None
    monkeypatch.setattr(bundle_module, limit, value)
    assert codes(bundle_of(files)) == [code]


def test_an_error_of_the_reader_means_no_bundle():
    trouble = bundle_of([]).findings
    assert bundle_of([SKILL], findings=trouble).bundle is None


def test_requiring_a_refused_bundle_raises_with_every_finding():
    read = bundle_of([BundleFile("../a", b"")])
    with pytest.raises(InputError) as raised:
        read.require()
    assert len(raised.value.details["findings"]) == len(read.findings) == 2
    assert raised.value.hint
    assert "1 more" in raised.value.message


@pytest.mark.parametrize("path", ["../x", "a.pyc", "/x"])
def test_a_bundle_built_by_hand_with_unsafe_files_is_not_let_through(path):
    with pytest.raises(InputError):
        require_safe(Bundle([SKILL, BundleFile(path, b"")]))


@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=20), st.booleans()), max_size=8))
def test_any_files_give_a_safe_bundle_or_an_error(files):
    read = bundle_of([SKILL, *(BundleFile(*file) for file in files)])
    assert (read.bundle is None) == has_errors(read.findings)
    if read.bundle is not None:
        require_safe(read.bundle)
        assert bundle_of(read.bundle).bundle.digest == read.bundle.digest
