import pytest

from skillyard.learning.skills.placeholders import losses, placeholders
from skillyard.skill.bundle import Bundle, BundleFile


def skill(text, **files):
    return Bundle([BundleFile("SKILL.md", text.encode()), *(BundleFile(path, data) for path, data in files.items())])


@pytest.mark.parametrize(
    "line",
    [
        "... rest unchanged ...",
        "...",
        "[rest of the file unchanged]",
        "(remaining steps stay the same)",
        "<!-- existing content -->",
        "# ... existing code ...",
        "The rest of the document is unchanged.",
        "(이하 생략)",
        "나머지 내용은 그대로",
        "기존 내용 유지",
        "其余内容不变",
        "以下省略",
    ],
)
def test_a_line_that_stands_for_the_rest_is_found(line):
    assert list(placeholders(skill(f"# Title\n\nDo it.\n\n{line}\n"), None))


@pytest.mark.parametrize(
    "line",
    [
        "Wait ... then go on.",
        "## Rest days",
        "# The remaining budget",
        "Keep the existing files (see below) as they are.",
        "1. [Other skills](references/other.md)",
        "나머지를 나누어 담는다.",
        "| ... | the same |",
    ],
)
def test_a_line_that_says_something_is_none(line):
    assert not list(placeholders(skill(f"# Title\n\nDo it.\n\n{line}\n"), None))


def test_what_the_old_text_had_is_its_own_affair():
    old = skill("...\n")
    assert not list(placeholders(skill("Do it.\n...\n"), old))


def test_a_file_that_shrinks_and_a_section_that_is_gone_are_losses():
    old = skill("# A\n\n## Why\n\n" + "Because it is so.\n" * 10 + "\n## How\n\n" + "By doing it well.\n" * 10)
    shorter = skill("# A\n\n## Why\n\n## How\n\nSo.\n")
    assert "% of it would be left" in next(losses(shorter, old, set()))
    renamed = skill(old.get("SKILL.md").data.decode().replace("## How", "## Other"))
    assert "the section 'How' is gone" in next(losses(renamed, old, {"SKILL.md"}))
    assert not list(losses(renamed, old, set()))  # somebody found and replaced just that
    moved = skill(renamed.get("SKILL.md").data.decode(), **{"references/how.md": b"# How\n"})
    assert not list(losses(moved, old, {"SKILL.md"}))


def test_a_file_that_is_gone_is_a_loss():
    old = skill("Do it.\n", **{"references/a.md": b"Much to know. " * 20})
    assert "references/a.md: only 0 %" in next(losses(skill("Do it.\n"), old, set()))
