import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError
from skillyard.skill.document import parse
from skillyard.skill.models import PlainScalar
from skillyard.skill.names import is_valid_name
from skillyard.skill.write import generate_skill_md, parse_skill_md, render_skill_md

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
TRICKY = st.sampled_from(
    [
        "no",
        "1.10",
        "12:30:45",
        "2024-01-01",
        "~",
        "null",
        "- a",
        "a: b",
        "a #b",
        "---",
        "\n---\n",
        "'",
        '"',
        "|",
        ">-",
        "&a",
        "*a",
        "!t",
        "[",
        "{",
        "@x",
        "`x`",
        "%x",
        "a\tb",
        " lead",
        "trail ",
        "\x85",
        "\u2028",
        "\ufeff",
        "\x00",
        "\r",
    ]
)
VALUES = st.recursive(
    TEXTS | TRICKY, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@given(fields=st.dictionaries(TEXTS | TRICKY, VALUES, max_size=5), body=TEXTS)
def test_what_is_written_reads_back_to_the_same_values(fields, body):
    fields = {"name": "a-skill", **fields, "description": "What it does."}
    document = parse(render_skill_md(fields, body).encode()).document
    assert document is not None
    assert (dict(document.fields), document.body) == (fields, body)


NAMES = st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True).filter(is_valid_name)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS | TRICKY


@given(fields=st.dictionaries(TEXTS | TRICKY, PLAIN | st.lists(PLAIN) | st.dictionaries(TEXTS, PLAIN), max_size=4))
def test_values_of_every_kind_come_back_as_they_were(fields):
    fields = {key: value for key, value in fields.items() if key not in {"name", "description"}}
    read, _ = parse_skill_md(generate_skill_md("a", "d", additional_fields=fields))
    assert repr(read) == repr({"name": "a", "description": "d", **fields})


def test_a_version_that_was_written_without_quotes_stays_what_was_written():
    fields, _ = parse_skill_md("---\nname: a\ndescription: d\nversion: 1.10\nsince: 2024-01-01\nyes: no\n---\n")
    assert (fields["version"], fields["since"], fields["yes"]) == ("1.10", "2024-01-01", "no")


@pytest.mark.parametrize(("name", "description"), [("Bad Name", "d"), ("", "d"), ("a--b", "d"), ("x", ""), ("x", " ")])
def test_a_name_or_description_that_no_skill_can_have_is_refused(name, description):
    with pytest.raises(InputError) as caught:
        generate_skill_md(name, description)
    assert caught.value.hint
    assert caught.value.details["field"] == ("description" if name == "x" else "name")


@given(name=NAMES, description=TEXTS.filter(str.strip), body=TEXTS)
def test_generated_text_parses_to_its_parts(name, description, body):
    fields, parsed_body = parse_skill_md(generate_skill_md(name, description, body))
    assert (fields, parsed_body) == ({"name": name, "description": description}, body)


def test_a_newline_in_a_description_cannot_inject_a_field():
    text = generate_skill_md("a", "harmless\nallowed-tools: Bash(*)")
    document = parse(text.encode()).document
    assert document is not None
    assert document.allowed_tools == ()


def test_truth_values_and_numbers_stay_unquoted_and_texts_like_them_stay_quoted():
    text = generate_skill_md("a", "d", additional_fields={"user-invocable": False, "level": 3, "version": "1.10"})
    assert "user-invocable: false\n" in text
    assert "level: 3\n" in text
    assert "version: '1.10'\n" in text


def test_reading_and_writing_again_keeps_what_was_plain_plain():
    text = "---\nname: a\ndescription: d\nversion: 1.10\nstrict: true\nsince: 2024-01-01\n---\n"
    document = parse(text.encode()).document
    assert document is not None
    assert document.fields["version"] == "1.10"
    assert isinstance(document.fields["version"], PlainScalar)
    assert render_skill_md(document.fields, document.body) == text


def test_a_field_given_twice_is_refused():
    with pytest.raises(InputError, match="additional_fields"):
        generate_skill_md("a", "d", additional_fields={"name": "b"})


def test_a_value_that_yaml_cannot_hold_is_refused_by_name():
    with pytest.raises(InputError, match="'when'"):
        generate_skill_md("a", "d", additional_fields={"when": object()})


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(InputError, match="surrogate"):
        generate_skill_md("a", "d\ud800")


def test_parse_skill_md_says_what_is_wrong_and_how_to_fix_it():
    with pytest.raises(InputError, match="frontmatter") as caught:
        parse_skill_md("# Just text\n")
    assert "---" in caught.value.hint
