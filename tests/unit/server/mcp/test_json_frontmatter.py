import pytest

from skillyard.server.mcp.json_frontmatter import json_fields
from skillyard.skill.yaml_read import read_mapping


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *(("text", "text"), ("'1'", "1"), ('"true"', "true"), ("1", 1), ("-7", -7), ("0x1F", 31), ("0o17", 15)),
        *(("1.10", 1.1), ("1e3", 1000.0), ("true", True), ("False", False), ("null", None), ("~", None)),
        *(("yes", "yes"), ("no", "no"), ("2026-01-02", "2026-01-02"), (".inf", ".inf"), ("1:30", "1:30")),
        *(("1e999", "1e999"), ("9" * 400, "9" * 400), ("[1, '2', {a: true}]", [1, "2", {"a": True}])),
    ],
)
def test_a_value_is_what_readers_of_yaml_1_2_take_it_for(written, read):
    value = json_fields(read_mapping(f"field: {written}\n"))["field"]
    assert value == read
    assert type(value) is type(read)


def test_metadata_is_typed_all_the_way_down():
    fields = json_fields(read_mapping("metadata:\n  version: 1.10\n  author: yard\n"))
    assert fields == {"metadata": {"version": 1.1, "author": "yard"}}
