import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.bundle import Bundle, BundleFile
from skillyard.skill.models import Finding, Severity
from skillyard.skill.references import MAX_MARKDOWN_BYTES, Reference, find_references, reference_findings

FILES = {
    "references/guide.md": "# Guide\n",
    "references/deep/more.md": "# More\n",
    "references/with space.md": "# Space\n",
    "references/한글.md": "# 한글\n",
    "scripts/run.py": "print(1)\n",
    "assets/logo.png": "x",
    "FORMS.md": "# Forms\n",
}


def bundle(text: str, path: str = "SKILL.md") -> Bundle:
    files = {"SKILL.md": "", **FILES, path: text}
    return Bundle(BundleFile(name, data.encode()) for name, data in files.items())


def found(text: str, path: str = "SKILL.md") -> list[Reference]:
    return [reference for reference in find_references(bundle(text, path), "helper") if reference.source_file == path]


def targets(text: str, path: str = "SKILL.md") -> list[tuple[str, str | None, str]]:
    return [(str(r.kind), r.target_skill, r.target_path) for r in found(text, path)]


def problems(text: str, path: str = "SKILL.md", known=None) -> list[Finding]:
    return list(reference_findings(bundle(text, path), "helper", known))


@pytest.mark.parametrize(
    ("text", "kind", "path"),
    [
        ("[a](references/guide.md)", "link", "references/guide.md"),
        ("[a](./references/guide.md)", "link", "references/guide.md"),
        ("[a](references/guide.md#part)", "link", "references/guide.md"),
        ('[a](references/guide.md "A title")', "link", "references/guide.md"),
        ("[a](<references/with space.md>)", "link", "references/with space.md"),
        ("[a](references/with%20space.md)", "link", "references/with space.md"),
        ("[a](references/%ED%95%9C%EA%B8%80.md)", "link", "references/한글.md"),
        ("[a](references/한글.md)", "link", "references/한글.md"),
        ("[a](references/)", "link", "references"),
        ("[a](FORMS.md)", "link", "FORMS.md"),
        ("[a](helper/references/guide.md)", "link", "references/guide.md"),
        ("[a](../helper/references/guide.md)", "link", "references/guide.md"),
        ("[a][x]\n\n[x]: references/guide.md", "link", "references/guide.md"),
        ("![logo](assets/logo.png)", "image", "assets/logo.png"),
        ("`scripts/run.py`", "code", "scripts/run.py"),
        ("`python scripts/run.py --fast`", "code", "scripts/run.py"),
        ("``scripts/run.py``", "code", "scripts/run.py"),
        ("[[guide]]", "wiki", "references/guide.md"),
        ("[[references/guide.md]]", "wiki", "references/guide.md"),
        ("![[logo.png]]", "wiki", "assets/logo.png"),
    ],
)
def test_a_path_inside_the_skill(text: str, kind: str, path: str):
    assert targets(text) == [(kind, None, path)]
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "skill", "path"),
    [
        ("[a](skill-creator/references/workflows.md)", "link", "skill-creator", "references/workflows.md"),
        ("[a](skill-creator/SKILL.md)", "link", "skill-creator", "SKILL.md"),
        ("[a](../skill-creator/SKILL.md)", "link", "skill-creator", "SKILL.md"),
        ("[a](../skill-creator)", "link", "skill-creator", ""),
        ("[a](../../skills/skill-creator/SKILL.md)", "link", "skill-creator", "SKILL.md"),
        ("`skill-creator/references/workflows.md`", "code", "skill-creator", "references/workflows.md"),
        ("`../skill-creator/SKILL.md`", "code", "skill-creator", "SKILL.md"),
        ("[[skill-creator]]", "wiki", "skill-creator", ""),
        ("[[skill-creator|the creator]]", "wiki", "skill-creator", ""),
        ("[[skill-creator#part]]", "wiki", "skill-creator", ""),
        ("[[skill-creator/references/workflows.md]]", "wiki", "skill-creator", "references/workflows.md"),
        ("[[한글-스킬]]", "wiki", "한글-스킬", ""),
    ],
)
def test_a_path_in_another_skill(text: str, kind: str, skill: str, path: str):
    assert targets(text) == [(kind, skill, path)]
    assert all(reference.external for reference in found(text))
    assert problems(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://example.com/references/guide.md)",
        "[a](//example.com/x.md)",
        "[a](www.example.com)",
        "[a](github.com/org/repo)",
        "[a](mailto:me@example.com)",
        "[a](#section)",
        "[a](/usr/share/doc.md)",
        "[a](~/notes.md)",
        "[a](url)",
        "[a](path/to/file.md)",
        "[a]({path}/file.md)",
        "[a](<path>/file.md)",
        "[a](references/*.md)",
        "[a](references/YYYY-MM-DD.md)",
        "[a]()",
        "[ ] a task",
        "array[0] and call(x)",
        "\\[a\\](references/missing.md)",
        "`[a](references/missing.md)`",
        "```\n[a](references/missing.md) `references/missing.md`\n```",
        "~~~md\n[[other-skill]]\n~~~",
        "<!-- [a](references/missing.md) -->",
        "`src/components/Button.tsx`",
        "`npm run build`",
        "`references/{name}.md`",
        "`and/or`",
        "[[ -f file ]]",
        "[[Note With Spaces]]",
        "---\nlink: '[a](references/missing.md)'\n---\n",
        "[^1]: A footnote.",
    ],
)
def test_what_is_no_reference(text: str):
    assert found(text) == []


def test_a_link_in_another_document_is_read_from_its_folder_and_from_the_root():
    text = "[a](deep/more.md) [b](references/guide.md) [c](../FORMS.md) [d](../../other-skill/SKILL.md)"
    assert targets(text, "references/new.md") == [
        ("link", None, "references/deep/more.md"),
        ("link", None, "references/guide.md"),
        ("link", None, "FORMS.md"),
        ("link", "other-skill", "SKILL.md"),
    ]


def test_a_reference_knows_its_line():
    head = "---\nname: helper\n---\n\nFirst `scripts/run.py`.\n\n```\nx\n```\n\n"
    text = head + "Then [a](FORMS.md),\n[b](references/guide.md).\n"
    assert [(r.text, r.line) for r in found(text)] == [
        ("scripts/run.py", 5),
        ("FORMS.md", 11),
        ("references/guide.md", 12),
    ]


def test_nested_links_and_images_are_both_found():
    assert targets("[![logo](assets/logo.png)](references/guide.md)") == [
        ("link", None, "references/guide.md"),
        ("image", None, "assets/logo.png"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[a](references/missing.md)",
        "![a](assets/missing.png)",
        "[a](missing.md)",
        "[a](docs/missing.md)",
        "See `references/missing.md`.",
        "Run `scripts/missing.py`.",
    ],
)
def test_a_missing_file_is_a_warning_with_its_line(text: str):
    (finding,) = problems(f"# Title\n\n{text}\n")
    assert (finding.code, finding.severity) == ("reference-broken", Severity.WARNING)
    assert (finding.file, finding.line) == ("SKILL.md", 3)
    assert finding.fix


@pytest.mark.parametrize(
    "text",
    [
        "For example `scripts/rotate_pdf.py` would help.",
        "Save the chart to `assets/out.png`.",
        "Create `references/topic.md`.",
        "Output: `assets/report.html`",
        "写入 `references/topic.md`。",
        "`assets/templates`",
        "`../project/scripts/missing.py`",
    ],
)
def test_a_path_in_code_that_is_an_example_or_an_output_is_not_missing(text: str):
    assert problems(text) == []


def test_scripts_of_the_users_project_are_not_missing_from_a_skill_without_scripts():
    alone = Bundle([BundleFile("SKILL.md", b"Run `scripts/deploy.sh`.\n")])
    assert reference_findings(alone, "helper") == ()


def test_the_fix_names_the_file_that_was_meant():
    (wrong_case,) = problems("[a](references/Guide.md)")
    (wrong_folder,) = problems("[a](docs/run.py)")
    assert "`references/guide.md`" in wrong_case.fix
    assert "`scripts/run.py`" in wrong_folder.fix


@pytest.mark.parametrize("target", ["../../etc/passwd", "../README.md", "references/../../../x.md", "../docs/guide.md"])
def test_a_path_out_of_the_skill_is_a_warning(target: str):
    (finding,) = problems(f"[a]({target})")
    assert (finding.code, finding.severity) == ("reference-leaves-skill", Severity.WARNING)


@pytest.mark.parametrize("text", ["[[other-skill]]", "[a](../other-skill/SKILL.md)", "`../other-skill/SKILL.md`"])
def test_an_unknown_skill_is_a_warning_only_when_the_known_ones_are_given(text: str):
    assert problems(text) == []
    assert problems(text, known={"other-skill"}) == []
    assert problems(text, known=lambda name: name == "other-skill") == []
    (finding,) = problems(text, known={"helper"})
    assert finding.code == "reference-unknown-skill"


def test_a_known_skill_is_recognised_in_a_short_path():
    (reference,) = find_references(bundle("`pdf/forms.md`"), "helper", {"pdf"})
    assert (reference.target_skill, reference.target_path) == ("pdf", "forms.md")


def test_the_same_broken_target_is_reported_once_for_each_file():
    assert len(problems("[a](x.md) [b](x.md)\n\n[c](x.md)")) == 1


def test_many_broken_references_are_counted():
    findings = problems("\n".join(f"[a](missing-{number}.md)" for number in range(150)))
    assert len(findings) == 101
    assert findings[-1].message.startswith("50 more")


def test_hidden_characters_of_a_target_are_not_printed():
    (finding,) = problems("[a](references/mis\u202esing.md)")
    assert finding.message.isprintable()


@given(st.binary(max_size=3_000))
def test_any_bytes_are_read_without_an_error(data: bytes):
    reference_findings(Bundle([BundleFile("SKILL.md", data)]), "helper", {"other"})


@given(
    st.lists(
        st.sampled_from(["[", "]", "(", ")", "!", "`", "<", ">", "\\", "a.md", "../", "[[", "]]", " ", "\n", "#", "|"])
    )
)
def test_any_mix_of_marks_is_read_without_an_error(parts: list[str]):
    for reference in find_references(bundle("".join(parts)), "helper"):
        assert reference.line >= 1


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "`",
        "](",
        "[a](",
        "[](",
        "![",
        "[[",
        "[[a",
        "`a``",
        "\\[",
        "[a](b(",
        "[a](<",
        "\n[a]:",
        "<!--",
        "```\n",
        "`\n\n",
    ],
)
def test_hostile_markdown_takes_linear_time(unit: str):
    data = (unit * (1024 * 1024 // len(unit))).encode()
    started = time.process_time()
    find_references(Bundle([BundleFile("SKILL.md", data)]), "helper")
    assert time.process_time() - started < 6


def test_every_finding_is_documented():
    docs = (Path(__file__).parents[3] / "docs" / "references.md").read_text(encoding="utf-8")
    text = "[a](missing.md) [b](../../x.md) [[other-skill]]"
    codes = {finding.code for finding in problems(text, known=())}
    assert len(codes) == 3
    assert all(f"`{code}`" in docs for code in codes)


def test_more_markdown_than_anyone_can_read_is_looked_at_in_part_and_said_so():
    data = b"[a](gone.md)\n" + b"x" * MAX_MARKDOWN_BYTES + b"\n[b](lost.md)\n"
    findings = reference_findings(Bundle([BundleFile("SKILL.md", data)]), "helper")
    assert [finding.code for finding in findings] == ["reference-incomplete", "reference-broken"]
    assert "gone.md" in findings[1].message
