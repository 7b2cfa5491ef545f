import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.skill.agent_fields import AGENT_FIELDS
from skillyard.skill.document import parse, summarize
from skillyard.skill.limits import MAX_FRONTMATTER_BYTES, MAX_SKILL_MD_BYTES
from skillyard.skill.models import Profile, Severity
from skillyard.skill.rules import RULES

GOOD = b"---\nname: pdf-forms\ndescription: Fills PDF forms.\n---\n\n# PDF forms\n"


def codes(data: bytes, *, folder: str | None = "pdf-forms", profile: Profile = Profile.STRICT) -> set[str]:
    return {finding.code for finding in parse(data, folder=folder, profile=profile).findings}


def md(*lines: str, name: str = "name: pdf-forms", description: str = "description: Fills forms.") -> bytes:
    return "\n".join(["---", name, description, *lines, "---", "", "Body", ""]).encode()


def test_a_good_skill_has_no_findings():
    parsed = parse(GOOD, folder="pdf-forms", profile=Profile.STRICT)
    assert parsed.valid
    assert parsed.findings == ()
    assert parsed.document is not None
    assert parsed.document.body == "\n# PDF forms\n"
    assert parsed.document.body_line == 5


def test_all_six_fields_and_the_extra_ones_are_read():
    document = parse(
        md(
            "license: MIT",
            "compatibility: Needs git",
            "metadata:",
            "  version: 1.10",
            "allowed-tools: Bash(git:*) Read",
            "tags: [pdf, forms]",
            "author: someone",
        )
    ).document
    assert document is not None
    assert (document.license, document.compatibility) == ("MIT", "Needs git")
    assert document.metadata == {"version": "1.10"}
    assert document.allowed_tools == ("Bash(git:*)", "Read")
    assert document.tags == ("pdf", "forms")
    assert document.extra == {"tags": ["pdf", "forms"], "author": "someone"}
    assert list(document.fields)[:3] == ["name", "description", "license"]


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        codecs.BOM_UTF16_LE + GOOD.decode().encode("utf-16-le"),
        codecs.BOM_UTF16_BE + GOOD.decode().encode("utf-16-be"),
        b"\n\n" + GOOD,
        GOOD.replace(b"---\n", b"--- \t\n"),
        GOOD.rstrip().removesuffix(b"\n\n# PDF forms"),
    ],
    ids=["bom", "crlf", "cr", "utf-16-le", "utf-16-be", "blank-lines-first", "fence-with-spaces", "no-body"],
)
def test_odd_encodings_and_line_ends_still_load(data):
    parsed = parse(data, folder="pdf-forms")
    assert parsed.valid
    assert parsed.document is not None
    assert (parsed.document.name, parsed.document.description) == ("pdf-forms", "Fills PDF forms.")


def test_three_hyphens_inside_a_value_do_not_end_the_frontmatter():
    document = parse(md(description="description: one --- two")).document
    assert document is not None
    assert document.description == "one --- two"


def test_an_unquoted_colon_loads_leniently_and_fails_strictly():
    data = md(description="description: Use when: the user asks: now")
    lenient = parse(data, folder="pdf-forms")
    assert lenient.valid
    assert lenient.document is not None
    assert lenient.document.description == "Use when: the user asks: now"
    assert "yaml-unquoted" in codes(data)
    assert not parse(data, folder="pdf-forms", profile=Profile.STRICT).valid


@pytest.mark.parametrize(
    ("line", "read_as"),
    [
        ("description: *bold* words", "*bold* words"),
        ("description: @mention first", "@mention first"),
        ("description: `code` first", "`code` first"),
        ('description: "quoted" and more', '"quoted" and more'),
        ("description: , comma first", ", comma first"),
        ("description: it's: fine\n  and goes on", "it's: fine and goes on"),
    ],
)
def test_values_that_break_yaml_are_rescued(line, read_as):
    document = parse(md(description=line)).document
    assert document is not None
    assert document.description == read_as


def test_a_placeholder_list_as_description_is_read_as_written():
    parsed = parse(md(description="description: [TODO: say what it does]"), folder="pdf-forms")
    assert parsed.valid
    assert parsed.document is not None
    assert parsed.document.description == "[TODO: say what it does]"


def test_a_missing_name_falls_back_to_the_folder():
    parsed = parse(b"---\ndescription: d\n---\n", folder="from-folder")
    assert parsed.valid
    assert parsed.document is not None
    assert parsed.document.name == "from-folder"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"# no frontmatter\n", "frontmatter-missing"),
        (b"", "frontmatter-missing"),
        (b"---\nname: a\n", "frontmatter-unclosed"),
        (b"---\nname: a\n--- not a fence\n", "frontmatter-unclosed"),
        (b"---\nname: a\n---\n", "description-missing"),
        (b"---\nname: a\ndescription: # a comment\n---\n", "description-empty"),
        (b"---\ndescription: d\x00\n---\n", "control-character"),
        (b"---\n" + b"#" * (MAX_FRONTMATTER_BYTES + 1) + b"\n---\n", "frontmatter-too-large"),
        (b"x" * (MAX_SKILL_MD_BYTES + 1), "file-too-large"),
    ],
)
def test_what_cannot_be_loaded_says_why_and_how_to_fix_it(data, code):
    parsed = parse(data, folder="a")
    assert not parsed.valid
    finding = next(finding for finding in parsed.findings if finding.code == code)
    assert finding.severity is Severity.ERROR
    assert finding.fix


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (md(name="name: PDF-Forms"), "name-case"),
        (md(name="name: pdf--forms"), "name-hyphens"),
        (md(name="name: pdf_forms"), "name-characters"),
        (md(name="name: " + "a" * 65), "name-length"),
        (md(name="name: nul"), "name-reserved"),
        (md(name='name: "pdf\\u202eforms"'), "name-hidden"),
        (md(name="name: other"), "name-mismatch"),
        (md(name="name: [a]"), "name-type"),
        (md(description="description: " + "d" * 1025), "description-length"),
        (md("compatibility: " + "c" * 501), "compatibility-length"),
        (md("compatibility: ''"), "compatibility-length"),
        (md("metadata: text"), "metadata-type"),
        (md("version: 1.0"), "unknown-field"),
        (md("disable-model-invocation: true"), "agent-field"),
        (md(description='description: "Fills\\0 forms."'), "value-control-character"),
        (md('license: "a\\x1bb"'), "value-control-character"),
    ],
)
def test_strict_refuses_what_the_specification_does_not_allow_and_lenient_loads_it(data, code):
    assert code in codes(data)
    assert not parse(data, folder="pdf-forms", profile=Profile.STRICT).valid
    assert parse(data, folder="pdf-forms").valid


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (md("metadata:", "  variables:", "    user: text"), "metadata-nested"),
        (md("allowed-tools: Read, Grep"), "allowed-tools-commas"),
        (md("allowed-tools: [Read]"), "allowed-tools-type"),
        (md(description="description: Makes <b> bold."), "description-angle-brackets"),
        (md(description='description: "Hidden \\u200b mark."'), "description-hidden"),
        (md() + b"\n" * 600, "body-long"),
        (md() + b"\x00", "body-control-character"),
        (md(description="description: 'TODO: say what it does.'"), "todo-left"),
        (md() + b"1. TODO: the first step\n", "todo-left"),
    ],
)
def test_doubtful_things_are_said_but_do_not_fail(data, code):
    assert code in codes(data)
    assert parse(data, folder="pdf-forms", profile=Profile.STRICT).valid


@pytest.mark.parametrize("field", AGENT_FIELDS)
def test_a_field_that_an_agent_documents_is_kept_whatever_the_profile(field):
    for profile in Profile:
        parsed = parse(md(f"{field}: value"), folder="pdf-forms", profile=profile)
        assert parsed.valid is (profile is not Profile.STRICT)
        assert not [finding for finding in parsed.findings if "ove it" in finding.fix or "elete" in finding.fix]
    (finding,) = parse(md(f"{field}: value"), folder="pdf-forms", profile=Profile.AGENTS).findings
    assert (finding.code, finding.severity, finding.field) == ("agent-field", Severity.INFO, field)


def test_a_field_of_nobody_is_a_warning_beside_what_agents_document():
    parsed = parse(md("colour: blue"), folder="pdf-forms", profile=Profile.AGENTS)
    assert parsed.valid
    assert [(finding.code, finding.severity) for finding in parsed.findings] == [("unknown-field", Severity.WARNING)]


def test_tools_as_agents_document_them_are_as_they_should_be():
    for tools in ("Read, Grep", "[Read, Grep]"):
        assert parse(md(f"allowed-tools: {tools}"), folder="pdf-forms", profile=Profile.AGENTS).findings == ()


def test_text_about_todos_is_no_todo():
    body = b"Find every TODO comment.\n- `TODO: x` in code\n```\nTODO: an example\n```\n"
    assert "todo-left" not in codes(md() + body)


def test_a_colon_without_quotes_is_said_with_the_key_and_its_line():
    data = md(description="description: Use it for: forms")
    (finding,) = parse(data, folder="pdf-forms").findings
    assert (finding.message, finding.line) == ("The value of 'description' contains ': ' and needs quotes.", 3)


def test_two_faults_of_one_frontmatter_each_have_their_line():
    data = md("version: 1", "version: 2", description="description: Use it for: forms")
    findings = parse(data, folder="pdf-forms").findings
    assert [(finding.message, finding.line) for finding in findings] == [
        ("The value of 'description' contains ': ' and needs quotes.", 3),
        ("The key 'version' is there twice.", 5),
    ]


def test_the_documentation_lists_the_fields_of_agents():
    text = (Path(__file__).parents[3] / "docs" / "validation.md").read_text(encoding="utf-8")
    rows = dict(
        line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `") and line.count("|") == 3
    )
    listed = {field.strip("`"): agents for fields, agents in rows.items() for field in fields.split(", ")}
    assert listed == {field: ", ".join(agents) for field, agents in AGENT_FIELDS.items()}


def test_every_finding_is_reported_not_only_the_first():
    data = b"---\nname: Bad_Name--\nversion: 1\nauthor: x\n---\n"
    found = codes(data)
    assert {"name-case", "name-characters", "name-hyphens", "name-mismatch"} <= found
    assert {"description-missing", "unknown-field"} <= found


def test_findings_name_the_line_of_the_file():
    findings = parse(md("version: 1.0"), folder="pdf-forms", profile=Profile.STRICT).findings
    assert [(finding.field, finding.line) for finding in findings] == [("version", 4)]


def test_unicode_names_are_compared_after_normalisation():
    data = md(name="name: 문서-작성")
    decomposed = "문서-작성"
    assert parse(data, folder=decomposed, profile=Profile.STRICT).valid


def test_every_rule_has_a_fix_and_fails_at_least_as_hard_when_strict():
    order = [None, Severity.INFO, Severity.WARNING, Severity.ERROR]
    for code, rule in RULES.items():
        assert rule.fix, code
        assert order.index(rule.strict) >= order.index(rule.severity(Profile.AGENTS)), code
        assert order.index(rule.strict) >= order.index(rule.lenient), code


ALMOST = st.lists(
    st.sampled_from(
        [b"---\n", b"name: a\n", b"description: d\n", b"\xff", b"\x00", b"\r", b": ", b"- ", b"  ", b"'", b"{"]
    )
    | st.binary(max_size=20),
    max_size=20,
).map(b"".join)


@given(data=ALMOST, profile=st.sampled_from(Profile))
def test_no_bytes_raise_and_every_refusal_is_explained(data, profile):
    parsed = parse(data, folder="a", profile=profile)
    assert parsed.document is not None or any(finding.severity is Severity.ERROR for finding in parsed.findings)
    assert all(finding.fix for finding in parsed.findings)


@given(data=ALMOST)
def test_the_summary_agrees_with_the_whole_document(data):
    summary = summarize(data, folder="a")
    document = parse(data, folder="a").document
    if document is not None:
        assert (summary.name, summary.description) == (document.name, document.description)
    else:
        assert summary.description == "" or any(finding.severity is Severity.ERROR for finding in summary.findings)
