"""Strict verdicts beside those of the reference validator, agreeing but for the documented differences."""

from pathlib import Path

import pytest
from skills_ref import validate

from skillyard.skill.document import parse
from skillyard.skill.models import Profile

DESCRIPTION = "description: Fills forms."


def skill(tmp_path: Path, text: str | bytes, folder: str = "pdf-forms") -> tuple[bool, bool]:
    """The verdicts on a skill: the reference's and ours."""
    data = text.encode() if isinstance(text, str) else text
    path = tmp_path / folder
    path.mkdir()
    (path / "SKILL.md").write_bytes(data)
    return validate(path) == [], parse(data, folder=folder, profile=Profile.STRICT).valid


def md(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "", "Body", ""])


@pytest.mark.parametrize(
    "text",
    [
        md("name: pdf-forms", DESCRIPTION),
        md("name: pdf-forms", DESCRIPTION, "license: MIT", "compatibility: git", "allowed-tools: Read Grep"),
        md("name: pdf-forms", DESCRIPTION, "metadata:", "  version: 1.0"),
        md("name: pdf-forms", "description: >-", "  Folded", "  text."),
        md('name: "pdf-forms"', DESCRIPTION),
        md("name: PDF-forms", DESCRIPTION),
        md("name: pdf--forms", DESCRIPTION),
        md("name: -pdf-forms", DESCRIPTION),
        md("name: pdf_forms", DESCRIPTION),
        md("name: other", DESCRIPTION),
        md("name: " + "a" * 65, DESCRIPTION),
        md("name:", DESCRIPTION),
        md(DESCRIPTION),
        md("name: pdf-forms"),
        md("name: pdf-forms", "description:"),
        md("name: pdf-forms", "description: " + "d" * 1024),
        md("name: pdf-forms", "description: " + "d" * 1025),
        md("name: pdf-forms", "description: Use when: asked"),
        md("name: pdf-forms", DESCRIPTION, "compatibility: " + "c" * 501),
        md("name: pdf-forms", DESCRIPTION, "version: 1.0"),
        md("name: pdf-forms", "name: pdf-forms", DESCRIPTION),
        md("name: &a pdf-forms", DESCRIPTION),
        md("name: !!str pdf-forms", DESCRIPTION),
        "no frontmatter",
        "---\nname: pdf-forms\n",
    ],
)
def test_strict_agrees_with_the_reference(tmp_path, text):
    reference, ours = skill(tmp_path, text)
    assert ours == reference


@pytest.mark.parametrize("name", ["문서-작성", "数据", "überblick", "ｐｄｆ"])
def test_names_in_any_script_are_judged_alike(tmp_path, name):
    reference, ours = skill(tmp_path, md(f"name: {name}", DESCRIPTION), folder=name)
    assert ours == reference


@pytest.mark.parametrize(
    ("text", "ours_is_valid"),
    [
        (md("name: pdf-forms", DESCRIPTION, "metadata: {a: b}"), True),
        (md("name: pdf-forms", DESCRIPTION, "metadata: text"), False),
        (md("name: pdf-forms", DESCRIPTION, "compatibility: ''"), False),
        ("\ufeff" + md("name: pdf-forms", DESCRIPTION), True),
    ],
    ids=["flow style", "metadata as text", "empty compatibility", "byte order mark"],
)
def test_documented_differences(tmp_path, text, ours_is_valid):
    reference, ours = skill(tmp_path, text)
    assert ours is ours_is_valid
    assert reference is not ours_is_valid


def test_a_device_name_is_refused_only_here(tmp_path):
    assert skill(tmp_path, md("name: nul", DESCRIPTION), folder="nul") == (True, False)


@pytest.mark.parametrize("data", [b"---\nname: a\xff\n---\n", b"---\nname: a\x07\ndescription: d\n---\n"])
def test_bytes_that_crash_the_reference_get_a_finding(tmp_path, data):
    with pytest.raises((UnicodeDecodeError, AttributeError)):
        skill(tmp_path, data)
    assert not parse(data, folder="pdf-forms", profile=Profile.STRICT).valid
