import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError, LimitError
from skillyard.library.jsonc import MAX_BYTES, MAX_DEPTH, parse_jsonc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_comments_and_trailing_commas_are_no_mistakes():
    text = """\
    // what follows is an environment
    {
      "name": "a // b", /* not a comment in a text,
      but this one is */ "list": [1, 2, /* last */ ],
    }
    """
    assert parse_jsonc(text) == {"name": "a // b", "list": [1, 2]}


@given(VALUES)
def test_every_json_value_reads_as_json_reads_it(value: object):
    assert parse_jsonc(json.dumps(value, ensure_ascii=False)) == value
    assert parse_jsonc(json.dumps(value, indent=1)) == value


@given(st.text(max_size=80))
def test_any_other_text_is_refused_with_a_typed_error(text: str):
    try:
        expected = json.loads(text, parse_constant=_refuse)
    except ValueError:
        try:
            parse_jsonc(text)
        except InputError:
            return
        assert any(sign in text for sign in ("//", "/*", ",", "\ufeff"))
    else:
        assert parse_jsonc(text) == expected


def _refuse(constant: str) -> None:
    """`NaN` and its like are Python's own; JSON has no such words."""
    raise ValueError(constant)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1,\n "b" 2}', 2),
        ("{\n\n  name: 1}", 3),
        ("/* a\n b */ [1 2]", 2),
        ('{"a": "open\n"}', 1),
        ("[,]", 1),
        ("[1,,]", 1),
        ('{"a": 1', 1),
        ("", 1),
    ],
)
def test_a_mistake_is_told_with_file_and_line(text: str, line: int):
    with pytest.raises(InputError, match=rf"agents.jsonc is not JSON, line {line}:") as caught:
        parse_jsonc(text, file="agents.jsonc")
    assert caught.value.details == {"file": "agents.jsonc", "line": line}


@pytest.mark.parametrize("text", ["[NaN]", "-Infinity", "1" * 5000])
def test_numbers_that_json_does_not_have_are_refused(text: str):
    with pytest.raises(InputError):
        parse_jsonc(text)


def test_depth_is_bounded():
    assert parse_jsonc("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    with pytest.raises(InputError, match="brackets are open"):
        parse_jsonc("[" * 100_000)


def test_size_is_bounded():
    with pytest.raises(LimitError):
        parse_jsonc(" " * (MAX_BYTES + 1))


def test_a_byte_order_mark_is_no_mistake():
    assert parse_jsonc("\ufeff{}") == {}
