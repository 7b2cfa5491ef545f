import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.library import quick_validate
from skillyard.library.builtin import builtin_root
from skillyard.library.quick_validate import get_quick_validate_script, validate_skill
from skillyard.skill.document import parse
from skillyard.skill.models import Profile
from skillyard.skill.write import render_skill_md

VALID = (True, "Skill is valid")
WITHOUT_PACKAGES = [sys.executable, "-S", "-E", "-s", "-B"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "pdf-forms"
    path.mkdir()
    return path


def check(folder: Path, frontmatter: str | bytes) -> tuple[bool, str]:
    data = frontmatter if isinstance(frontmatter, bytes) else f"---\n{frontmatter}\n---\n\n# Body\n".encode()
    (folder / "SKILL.md").write_bytes(data)
    return validate_skill(folder)


@pytest.mark.parametrize(
    "frontmatter",
    [
        "name: pdf-forms\ndescription: Fills in forms.",
        'name: "pdf-forms"\ndescription: "Use when: forms, \\"fields\\" \\u00e9"',
        "'name': 'pdf-forms'\ndescription: 'It''s for forms: all of them'",
        "name: pdf-forms # the folder\n# a comment\ndescription: Fills in forms # and more",
        "name: pdf-forms\ndescription: >\n  Fills in\n  forms.\n\n  Use it: often.",
        "name: pdf-forms\ndescription: |-\n  Fills in\n    forms # not a comment",
        "name: pdf-forms\ndescription: >2+ # kept\n  Fills in forms.",
        "name: pdf-forms\ndescription:\n  Fills in\n  forms.",
        'name: pdf-forms\ndescription: "Fills in\n\n  forms\\\n  and more"',
        "name: pdf-forms\ndescription: a --- b",
        "name: pdf-forms\ndescription: x\n...",
        "name: pdf-forms\ndescription: see http://x.example/a#b",
        'name: pdf-forms\ndescription: x\nmetadata: {"a": {"b": ["}", \'{\']}, c: don\'t} # d',
        "name: pdf-forms\ndescription: x\nmetadata: {\n  a: b\n}\ntags:\n- a\n- b: c",
        "name: pdf-forms\ndescription: x\nmetadata:\n  author: me\n  list:\n    - 1\nversion: 1.0",
        "name: pdf-forms\ndescription: x\ncompatibility: Needs Python.\nlicense:",
    ],
)
def test_frontmatter_as_people_write_it_is_valid(folder, frontmatter):
    assert check(folder, frontmatter) == VALID
    parsed = parse((folder / "SKILL.md").read_bytes(), folder=folder.name, profile=Profile.LENIENT)
    assert parsed.valid, "the example itself is wrong"


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_byte_order_marks_and_any_line_ends_are_read(folder, start, end):
    assert check(folder, start + end.join([b"---", b"name: pdf-forms", b"description: x", b"--- ", b"Body"])) == VALID


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_in_every_script_are_valid_in_every_unicode_form(tmp_path, form):
    folder = tmp_path / unicodedata.normalize(form, "보고서")
    folder.mkdir()
    assert check(folder, "name: 보고서\ndescription: x") == VALID


@pytest.mark.parametrize(
    ("frontmatter", "problem"),
    [
        ("description: x", "name is missing"),
        ("name: pdf-forms", "description is missing"),
        ("name:\ndescription: x", "name is empty"),
        ("name: pdf-forms\ndescription: # only a comment", "description is empty"),
        ("name: PDF-Forms\ndescription: x", "upper-case"),
        ("name: pdf--forms\ndescription: x", "single hyphens"),
        ("name: pdf_forms\ndescription: x", "letters, digits and hyphens only; found '_'"),
        ("name: p\u200bf\ndescription: x", r"found '\u200b'"),
        ("name: \u3164\ndescription: x", r"found '\u1160'"),
        (f"name: {'x' * 65}\ndescription: x", "name has 65 characters; at most 64"),
        ("name: nul\ndescription: x", "device name"),
        ("name: other\ndescription: x", "must equal the folder's name 'pdf-forms'"),
        ("name: [a]\ndescription: x", "name is not text"),
        (f"name: pdf-forms\ndescription: {'x' * 1025}", "description has 1025 characters; at most 1024"),
        ("name: pdf-forms\ndescription: a <b> c", "angle brackets"),
        ("name: pdf-forms\ndescription:\n- a\n- b", "description is not text"),
        ("name: pdf-forms\ndescription:\n  a: b", "description is not text"),
        ("name: pdf-forms\ndescription: Use when: forms", "'description' has a colon before a space"),
        ("name: pdf-forms\ndescription: x\n  y: z", "'description' has a colon before a space"),
        ("name: pdf-forms\ndescription: @x", "'description' starts with '@'"),
        ("name: pdf-forms\ndescription: - x", "'description' starts with '-'"),
        ("name: pdf-forms\ndescription: &a x", "'description' starts with '&'"),
        ("name: pdf-forms\ndescription: >x", "'description' starts with '>'"),
        ("name: pdf-forms\ndescription: a # b\n  c", "goes on after a comment"),
        ('name: pdf-forms\ndescription: "x', "a quote that is never closed"),
        ('name: pdf-forms\ndescription: "x" y', "goes on after the closing quote"),
        ('name: pdf-forms\ndescription: "C:\\dir"', r"unknown escape \d"),
        ('name: pdf-forms\ndescription: "\\UFFFFFFFF"', "unknown escape"),
        ("name: pdf-forms\ndescription: [x] y", "goes on after the closing bracket"),
        ("name: pdf-forms\ndescription: x\nmetadata: {a: [b}", "brackets that do not match"),
        ("name: pdf-forms\ndescription: x\nmetadata: {a: [b]", "a bracket that is never closed"),
        ("name: pdf-forms\ndescription: |\n    a\n  b", "indented less than its first"),
        ("name: pdf-forms\ndescription: x\n- y", "does not belong to it"),
        ("name: pdf-forms\ndescription: x\nname: pdf-forms", "'name' is there twice"),
        ("name: pdf-forms\ndescription: x\nloose text", "line 4: expected `field: value`"),
        ("name: pdf-forms\ndescription: x\0y", r"control character '\x00'"),
        ("name: pdf-forms\ndescription: x\u2028y", r"control character '\u2028'"),
        (f"name: pdf-forms\ndescription: x\ncompatibility: {'x' * 501}", "at most 500"),
    ],
)
def test_each_mistake_is_named(folder, frontmatter, problem):
    valid, message = check(folder, frontmatter)
    assert not valid
    assert problem in message


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "must start with frontmatter"),
        (b"# Title\n---\n", "must start with frontmatter"),
        (b"--- name: x\n---\n", "must start with frontmatter"),
        (b"---\nname: x\n", "never closed"),
        (b"---\nname: pdf-forms\n --- \n", "never closed"),
        (b"---\nname: \xff\n---\n", "not UTF-8 text (byte 10)"),
        (b"\xff\xfe-\x00-\x00", "not UTF-8"),
        (b"---\n" + b"a" * 2**20, "more than 1048576 bytes"),
        (b"---\n" + b"#\n" * 2**18 + b"---\n", "more than 262144 characters"),
    ],
)
def test_files_that_have_no_frontmatter_are_explained(folder, data, problem):
    valid, message = check(folder, data)
    assert not valid
    assert problem in message


def test_all_problems_are_reported_one_a_line(folder):
    valid, message = check(folder, "name: Bad_Name\ndescription: 'a <b>\nversion: [1\nloose")
    assert not valid
    assert [line.partition(":")[0] for line in message.splitlines()] == [
        *["line 3", "line 4", "line 5"],
        *["line 2", "line 2", "line 2"],
    ]


def test_a_flood_of_problems_is_cut_off(folder):
    _, message = check(folder, "\n".join(["junk"] * 10_000))
    assert 50 < len(message.splitlines()) < 60


def test_a_broken_value_is_reported_once(folder):
    _, message = check(folder, 'name: pdf-forms\ndescription: "x')
    assert len(message.splitlines()) == 1


def test_a_missing_folder_and_a_file_in_its_place_are_explained(tmp_path):
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "missing", tmp_path / "file", "nul\0byte"):
        valid, message = validate_skill(path)
        assert not valid
        assert "not a folder" in message or "cannot be read" in message


def test_a_lower_case_file_name_is_to_be_renamed(folder):
    (folder / "skill.md").write_text("---\nname: pdf-forms\ndescription: x\n---\n")
    assert validate_skill(folder) == (False, "SKILL.md is missing; rename skill.md to it")


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_no_ordinary_file_is_refused_without_opening_it(folder, kind):
    path = folder / "SKILL.md"
    if kind == "link":
        path.symlink_to("/etc/hostname")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert validate_skill(folder) == (
        False,
        "SKILL.md must be an ordinary file, not a link, a folder or a device",
    )


def test_a_linked_skill_goes_by_the_name_of_the_link(folder, tmp_path, monkeypatch):
    check(folder, "name: other-name\ndescription: x")
    link = tmp_path / "other-name"
    link.symlink_to(folder)
    assert validate_skill(link) == VALID
    monkeypatch.chdir(link)
    assert not validate_skill(".")[0], "the working folder is known by its own name only"


@given(st.binary(max_size=200))
@example(b"---\n\xed\xa0\x80\n---\n")
def test_no_bytes_make_it_fail(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "hostile"
    folder.mkdir(exist_ok=True)
    valid, message = check(folder, data)
    assert isinstance(valid, bool)
    assert all(message.splitlines())


WORDS = ("name", "description", "TODO", "가", "...", "---", "&a", "*a", "!t", "\\x4", "\\u12", "\n  ", "- ", ": ", " #")
pieces = st.sampled_from([*WORDS, *"\n\t\r\x85\u2028:\"'\\[]{},|>2#?%@"])


@given(st.lists(pieces, max_size=25).map("".join))
def test_no_arrangement_of_marks_makes_it_fail(tmp_path_factory, frontmatter):
    folder = tmp_path_factory.getbasetemp() / "marks"
    folder.mkdir(exist_ok=True)
    valid, message = check(folder, frontmatter)
    assert valid == (message == "Skill is valid")


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80))
@example("\n\n")
def test_it_reads_what_skillyard_writes(text):
    script = quick_validate._module()
    problems: list[str] = []
    lines = script._frontmatter(render_skill_md({"name": "pdf-forms", "description": text}, ""), problems)
    fields = script._read_fields(lines, problems)
    assert problems == []
    assert fields["description"].text == text.strip()


def script(path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*WITHOUT_PACKAGES, str(path), *arguments], capture_output=True, check=False)


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    path = tmp_path / "quick_validate.py"
    path.write_text(get_quick_validate_script(), encoding="utf-8")
    return path


def test_packages_are_out_of_reach_in_these_tests():
    assert subprocess.run([*WITHOUT_PACKAGES, "-c", "import yaml"], capture_output=True, check=False).returncode == 1


def test_the_script_is_the_one_in_the_built_in_skill():
    path = builtin_root() / "skill-creator/scripts/quick_validate.py"
    assert get_quick_validate_script().encode() == path.read_bytes()


def test_loading_the_check_leaves_nothing_in_the_skill(tmp_path, monkeypatch):
    monkeypatch.setattr(quick_validate, "builtin_root", lambda: tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    copy = tmp_path / "skill-creator/scripts/quick_validate.py"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((builtin_root() / copy.relative_to(tmp_path)).read_bytes())
    assert quick_validate._module.__wrapped__().validate_skill(tmp_path)
    assert list(copy.parent.iterdir()) == [copy]


def test_the_script_prints_skill_is_valid(folder, shipped):
    check(folder, "name: pdf-forms\ndescription: x")
    result = script(shipped, str(folder))
    assert (result.returncode, result.stdout, result.stderr) == (0, b"Skill is valid\n", b"")


def test_the_script_prints_every_problem_and_fails(folder, shipped):
    _, message = check(folder, "name: Bad_Name\ndescription: a <b>")
    result = script(shipped, str(folder))
    assert result.returncode == 1
    assert result.stdout.decode() == f"{message}\n"


def test_the_script_mentions_other_fields_without_failing(folder, shipped):
    check(folder, "name: pdf-forms\ndescription: 'TODO: x'\nversion: 1")
    result = script(shipped, str(folder))
    assert (result.returncode, result.stdout) == (0, b"Skill is valid\n")
    assert b"note: description still starts with TODO" in result.stderr
    assert b"'version'" in result.stderr


def test_wrong_usage_is_told_apart_from_an_invalid_skill(shipped):
    assert script(shipped).returncode == 2


@pytest.mark.parametrize("name", ["보고서".encode(), b"\xff\xfe"])
def test_names_that_the_terminal_cannot_show_do_not_break_the_report(tmp_path, shipped, name):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    folder.mkdir()
    check(folder, "name: other\ndescription: x")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = subprocess.run([sys.executable, shipped, folder], capture_output=True, check=False, env=ascii_only)
    assert result.returncode == 1
    assert result.stdout.startswith(b"line 2: name 'other' must equal the folder's name '\\")
