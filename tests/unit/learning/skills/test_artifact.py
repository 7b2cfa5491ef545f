from skillyard.learning.skills.artifact import SkillArtifact, format_skill_document
from skillyard.skill.document import parse
from skillyard.skill.write import parse_skill_md


def test_a_body_stands_as_it_is_below_the_frontmatter():
    body = "# 제목\n\n---\nname: other\n---\n"
    text = format_skill_document("refunds", 'Pay: "back"\nallowed-tools: Bash', body_markdown=body)
    fields, read = parse_skill_md(text)
    assert read == body
    assert fields == {"name": "refunds", "description": 'Pay: "back"\nallowed-tools: Bash'}


def test_without_a_body_the_parts_make_one():
    text = format_skill_document("refunds", "Pay back.", "How.", ["Look.", "Pay."], "", body_markdown=" ")
    assert text.endswith("---\n\n## Overview\n\nHow.\n\n## Steps\n\n1. Look.\n2. Pay.\n")


def test_an_artifact_cannot_leave_its_folder():
    artifact = SkillArtifact(name="a", description="b", additional_files={"../x.md": "", "/etc/x": "", "SKILL.md": ""})
    read = artifact.bundle()
    assert read.bundle is None
    assert {finding.file for finding in read.findings} >= {"../x.md"}


def test_a_file_that_names_its_interpreter_can_be_run():
    files = {"scripts/a.py": "#!/usr/bin/env python3\n", "scripts/b.py": "print()\n"}
    bundle = SkillArtifact(name="a", description="b", additional_files=files).bundle().require()
    assert [file.executable for file in bundle] == [False, True, False]
    assert parse(bundle.get("SKILL.md").data, folder="a").valid
