import pytest
from pydantic import ValidationError

from skillyard.errors import InputError
from skillyard.learning.skills.artifact import SkillArtifact
from skillyard.learning.skills.edits import FileEdit, SkillEdits, edited, misplaced, overlaid
from skillyard.skill.bundle import Bundle, BundleFile

TEXT = "---\nname: refunds\ndescription: Pay back.\nlicense: MIT\n---\n\nOne.\nTwo.\nTwo.\n"
OLD = Bundle([BundleFile("SKILL.md", TEXT.encode()), BundleFile("scripts/pay.sh", b"echo\n", executable=True)])


def edits(*each, **more):
    return SkillEdits(summary="x", edits=[FileEdit(**edit) for edit in each], **more)


def test_an_edit_touches_one_place_alone():
    revision = edited(OLD, edits({"path": "SKILL.md", "find": "One.", "replace": "One.\nAnd a half."}))
    assert revision.bundle.get("SKILL.md").data.decode() == TEXT.replace("One.", "One.\nAnd a half.")
    assert revision.bundle.get("scripts/pay.sh") == OLD.get("scripts/pay.sh")
    assert not revision.rewritten


def test_a_file_given_whole_is_known_to_be_rewritten_and_stays_executable():
    new = {"path": "references/a.md", "content": "A\n"}
    revision = edited(OLD, edits({"path": "scripts/pay.sh", "content": "echo 1\n"}, new))
    assert revision.rewritten == {"scripts/pay.sh"}
    assert revision.bundle.get("scripts/pay.sh").executable


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"path": "SKILL.md", "find": "Three.", "replace": "x"}, "does not stand in it"),
        ({"path": "SKILL.md", "find": "Two.", "replace": "x"}, "stands in it 2 times"),
        ({"path": "references/none.md", "find": "x", "replace": "y"}, "there is no such file"),
        ({"path": "../till/SKILL.md", "content": "x"}, "till/SKILL.md"),
        ({"path": "/etc/passwd", "content": "x"}, "etc/passwd"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(edit, problem):
    with pytest.raises(InputError, match=problem):
        edited(OLD, edits(edit))


@pytest.mark.parametrize("edit", [{"path": "a"}, {"path": "a", "find": "x"}, {"path": "a", "find": "", "replace": ""}])
def test_an_edit_is_a_place_or_a_whole_file(edit):
    with pytest.raises(ValidationError):
        FileEdit(**edit)


def test_line_ends_of_another_kind_stay():
    old = Bundle([BundleFile("SKILL.md", TEXT.replace("\n", "\r\n").encode())])
    revision = edited(old, edits({"path": "SKILL.md", "find": "One.\nTwo.\nTwo.", "replace": "One.\nTwo."}))
    assert revision.bundle.get("SKILL.md").data.endswith(b"One.\r\nTwo.\r\n")


def test_a_description_is_set_in_the_frontmatter_alone():
    revision = edited(OLD, edits(description="Pay: back"))
    assert revision.bundle.get("SKILL.md").data.decode() == TEXT.replace("Pay back.", "'Pay: back'")


def test_an_artifact_laid_over_a_skill_keeps_its_name_fields_and_files():
    artifact = SkillArtifact(
        name="other", description="New.", body_markdown="Body.\n", additional_files={"assets/a": "1"}
    )
    revision = overlaid(OLD, artifact, "refunds")
    text = revision.bundle.get("SKILL.md").data.decode()
    assert text == "---\nname: refunds\ndescription: New.\nlicense: MIT\n---\n\nBody.\n"
    assert [file.path for file in revision.bundle] == ["SKILL.md", "assets/a", "scripts/pay.sh"]
    assert revision.rewritten == {"SKILL.md"}


@pytest.mark.parametrize(
    "path",
    [".mcp.json", "hooks/x.sh", "LICENSE", "till/SKILL.md", "references/skill.md", "scripts/.env", "evals/a.json"],
)
def test_files_that_a_lesson_may_not_add_are_named(path):
    (problem,) = misplaced(Bundle([*OLD, BundleFile(path, b"x")]), OLD)
    assert problem.startswith(f"{path}: ")


def test_what_is_there_already_is_in_its_place():
    odd = Bundle([*OLD, BundleFile("hooks/x.sh", b"x"), BundleFile("evals/evals.json", b"{}")])
    changed = Bundle([file._replace(data=b"y") if file.path == "hooks/x.sh" else file for file in odd])
    assert not misplaced(changed, odd)
    assert not misplaced(Bundle([*OLD, BundleFile("evals/evals.json", b"{}")]), None)
