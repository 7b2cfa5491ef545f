from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard.skill import yaml_read
from skillyard.skill.limits import MAX_FRONTMATTER_NODES
from skillyard.skill.yaml_events import read_events
from skillyard.skill.yaml_read import read_mapping
from skillyard.skill.yaml_refusal import RefusedYamlError

PIECES = [
    "name",
    "a-b",
    "metadata",
    ":",
    ": ",
    " ",
    "  ",
    "\n",
    "\n  ",
    "#",
    " #",
    "'",
    '"',
    "-",
    "[x]",
    "{",
    "|",
    ">-",
]
PIECES += [
    "yes",
    "1.10",
    "text",
    "한국어",
    "中文",
    "\u00a0",
    "\x85",
    "\u2028",
    "\ufeff",
    "\t",
    "\\",
    "&a",
    "*a",
    "!t",
    "~",
]
YAMLISH = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@given(text=YAMLISH)
@example(text="a: b\n  c: d\n")
@example(text="a:\n  b: c\nd: e\n")
@example(text="a:\nb: c\n")
@example(text="a: b #c\n")
@example(text="a: b:\n")
@example(text="a:\n  b:\n")
def test_plain_frontmatter_reads_as_the_full_parser_reads_it(text):
    plain = yaml_read._read_plain(text)
    if plain is not None:
        assert plain == read_events(text, yaml_read.plain_scalar)


def refusal(text: str) -> RefusedYamlError:
    with pytest.raises(RefusedYamlError) as caught:
        read_mapping(text)
    return caught.value


def test_usual_frontmatter_is_plain_and_needs_no_parser():
    text = "name: pdf\ndescription: Fill forms; see a:b and c#d\nmetadata:\n  author: me\n  version: '1.0'\n"
    assert yaml_read._read_plain(text) is not None


@pytest.mark.parametrize("scalar", ["no", "1.10", "12:30:45", "2024-01-01", "~", "null", "0x1F", "1_000", "Yes", "on"])
def test_plain_scalars_stay_what_was_written(scalar):
    assert read_mapping(f"key: {scalar}\nflow: [{scalar}]\n") == {"key": scalar, "flow": [scalar]}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: &x 1\n", "yaml-anchor", 0),
        ("b: 1\na: *x\n", "yaml-alias", 1),
        ("a: !!python/object:os.system x\n", "yaml-tag", 0),
        ("a: 1\nb: 2\na: 3\n", "yaml-duplicate-key", 2),
        ("m:\n  a: 1\n  a: 2\n", "yaml-duplicate-key", 2),
        ("? [a]\n: b\n", "yaml-key", 0),
        ("- a\n- b\n", "frontmatter-not-mapping", 0),
        ("just text\n", "frontmatter-not-mapping", 0),
        ("a: b\n--- {c: d}\n", "yaml-documents", 1),
        ("a: b: c\n", "yaml-invalid", 0),
        ("x: 1\na: '\n", "yaml-invalid", 1),
        ("a: b\x07\n", "control-character", 0),
        ("a: " + "[" * 100_000, "yaml-too-deep", 0),
        ("a: " + "{" * 100_000, "yaml-too-deep", 0),
    ],
)
def test_what_frontmatter_must_not_have_is_refused_with_its_line(text, code, line):
    error = refusal(text)
    assert (error.code, error.line) == (code, line)


def test_deep_blocks_are_refused():
    assert refusal("".join(f"{' ' * depth}a:\n" for depth in range(80))).code == "yaml-too-deep"


def test_too_many_values_are_refused():
    assert refusal("a: [" + "1," * (MAX_FRONTMATTER_NODES + 1) + "]\n").code == "yaml-too-many-nodes"


def test_brackets_in_ordinary_text_are_not_depth():
    text = "a: |\n" + "  [link](x) [other](y)\n" * 100
    assert read_mapping(text)["a"].count("[") == 200


def test_empty_frontmatter_has_no_fields():
    assert read_mapping("") == read_mapping("# only a comment\n") == {}


@given(text=st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    with suppress(RefusedYamlError):
        assert isinstance(read_mapping(text), dict)
