import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.bundle_rules import BUNDLE_RULES
from skillyard.skill.limits import MAX_PATH_BYTES, MAX_PATH_DEPTH
from skillyard.skill.models import Severity, has_errors
from skillyard.skill.paths import collision_findings, is_safe_segment, path_findings, printable


def codes(path):
    return {finding.code for finding in path_findings(path)}


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md",
        "references/v1..v2.md",
        "scripts/run.py",
        ".env.example",
        "a b/c d.txt",
        "참고/한글 문서.md",
        "资料/说明.md",
        "assets/⚠️ notes.md",
        "...hidden",
        "console.md",
        "com10.txt",
        "a" * 255,
        "/".join(["a"] * MAX_PATH_DEPTH),
    ],
)
def test_an_ordinary_path_is_safe(path):
    assert path_findings(path) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "path-empty"),
        ("a//b", "path-empty"),
        ("a/", "path-empty"),
        ("/etc/passwd", "path-absolute"),
        ("C:/Windows/x", "path-absolute"),
        ("c:x", "path-absolute"),
        ("\\\\server\\share", "path-absolute"),
        ("../x", "path-escape"),
        ("a/../../x", "path-escape"),
        ("./x", "path-escape"),
        ("a/.", "path-escape"),
        ("..", "path-escape"),
        ("．．/x", "path-escape"),
        ("‥/x", "path-escape"),
        ("a／b", "path-escape"),
        ("a＼b", "path-escape"),
        ("a\\b", "path-backslash"),
        ("a\0b", "path-hidden"),
        ("a\nb", "path-hidden"),
        ("a\tb", "path-hidden"),
        ("a\x1b[2Jb", "path-hidden"),
        ("a\u202egpj.exe", "path-hidden"),
        ("a\u200bb", "path-hidden"),
        ("a\ufeffb", "path-hidden"),
        ("a\U000e0041b", "path-hidden"),
        ("a\udcffb", "path-encoding"),
        ("nul", "path-reserved"),
        ("docs/CON.md", "path-reserved"),
        ("aux.tar.gz", "path-reserved"),
        ("COM1", "path-reserved"),
        ("lpt9.txt", "path-reserved"),
        ("com¹", "path-reserved"),
        ("ＮＵＬ", "path-reserved"),
        ("a.", "path-edge"),
        ("a /b", "path-edge"),
        ("...", "path-edge"),
        ("a" * 256, "path-length"),
        ("가" * 86, "path-length"),
        ("a/" * MAX_PATH_BYTES + "b", "path-length"),
        ("/".join(["a"] * (MAX_PATH_DEPTH + 1)), "path-depth"),
    ],
)
def test_an_unsafe_path_is_an_error_with_its_own_code(path, code):
    assert code in codes(path)
    assert has_errors(path_findings(path))


def test_every_problem_of_a_path_is_reported_not_only_the_first():
    assert codes("../nul/a\u202eb.") == {"path-escape", "path-reserved", "path-hidden", "path-edge"}


def test_a_character_only_windows_refuses_is_a_warning():
    (finding,) = path_findings("runs/12:30.json")
    assert (finding.code, finding.severity) == ("path-portable", Severity.WARNING)


def test_a_finding_names_the_path_and_the_fix():
    (finding,) = path_findings("a/../b")
    assert "'a/../b'" in finding.message
    assert finding.file == "a/../b"
    assert finding.fix == BUNDLE_RULES["path-escape"].fix


@pytest.mark.parametrize(
    "paths",
    [
        ["a.md", "A.md"],
        ["a.md", "a.md"],
        ["Docs/a.md", "docs/b.md"],
        ["a", "a/b"],
        ["A", "a/b"],
        ["caf\u00e9.md", "cafe\u0301.md"],
        ["ﬁle.md", "file.md"],
        ["straße", "STRASSE"],
        ["①.md", "1.md"],
        ["K.md", "k.md"],
        ["⚠.md", "⚠\ufe0f.md"],
    ],
)
def test_paths_that_are_one_on_some_disks_collide(paths):
    (finding,) = collision_findings(paths)
    assert finding.code == "path-collision"
    assert finding.severity is Severity.ERROR
    assert all(repr(path.split("/")[0])[1:-1] in finding.message for path in paths)


def test_a_folder_named_on_its_own_collides_with_a_file_but_not_with_itself():
    assert [finding.code for finding in collision_findings(["a"], ["a"])] == ["path-collision"]
    assert collision_findings(["a/b"], ["a", "a"]) == []


def test_paths_too_deep_or_long_for_any_skill_are_not_compared():
    assert collision_findings(["a/" * 40 + "b", "A/" * 40 + "b", "a" * 2000, "A" * 2000]) == []


def test_different_paths_do_not_collide():
    assert collision_findings(["SKILL.md", "a/b", "a/c", "ab", "a.b/c"]) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "nul", "a\n", "x" * 256, "\udcff"])
def test_an_unsafe_name_is_no_segment(name):
    assert not is_safe_segment(name)


def test_what_is_printed_is_short_visible_and_encodable():
    text = printable("a\u202e\x1b\udcff" + "x" * 10_000)
    assert len(text) < 200
    assert text.isprintable()
    text.encode()


@given(st.text(st.characters(), max_size=300))
def test_no_text_makes_the_check_raise_and_what_passes_stays_inside(path):
    findings = path_findings(path)
    assert all(finding.message.isprintable() for finding in findings)
    if not has_errors(findings):
        parts = path.split("/")
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(parts)
        assert "\0" not in path
        path.encode()


@given(st.lists(st.text(st.sampled_from("aA/é\u0301e"), min_size=1), max_size=6))
def test_collisions_do_not_depend_on_the_order(paths):
    found = [finding.message for finding in collision_findings(paths)]
    assert found == [finding.message for finding in collision_findings(paths[::-1])]


def test_accents_without_end_in_many_paths_are_not_slow():
    paths = ["\u0301\u0323" * 500 + str(number) for number in range(2_000)]
    started = time.process_time()
    assert collision_findings(paths) == []
    assert all(path_findings(path) for path in paths)
    assert time.process_time() - started < 2
