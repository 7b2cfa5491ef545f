"""Editing hand-written JSON: what was there stays, to the last comment."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import InputError
from skillyard.library.json_text import parse_json_text, with_entry, without_entry

ENTRY = {"command": "skillyard", "args": ["mcp", "serve"]}
PATH = ("mcpServers", "skillyard")
COMMENTED = """\
{
    // How things look.
    "theme": "dark", /* or light */
    "mcpServers": {
        // The database.
        "db": {"command": "db-mcp", "args": ["--url", "http://x/y"]}, // not the old one
        "files": {
            "command": "files", // a note
        } // the last one
    },
    "list": [1, 2, /* three */ 3,],
    // The end.
}
"""


def added(text):
    return with_entry(text, PATH, ENTRY, file="f.json")


def removed(text):
    return without_entry(text, PATH, file="f.json")


def comments(text):
    return re.findall(r"//[^\n]*|/\*.*?\*/", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text))


def test_every_comment_and_every_other_key_stays():
    after = added(COMMENTED)
    before = parse_json_text(COMMENTED, file="f")
    assert parse_json_text(after, file="f") == {
        **before,
        "mcpServers": {**before["mcpServers"], "skillyard": ENTRY},
    }
    assert comments(after) == comments(COMMENTED)
    # Nothing is taken away or changed but for the comma that the new entry needs.
    lines = after.splitlines()
    assert [line for line in COMMENTED.splitlines() if line not in lines] == ["        } // the last one"]
    assert "        }, // the last one" in lines


def test_what_was_added_can_be_taken_out_again():
    assert removed(added(COMMENTED)).replace("}, // the last one", "} // the last one") == COMMENTED


@pytest.mark.parametrize("text", ["", "\n", "{}", "{}\n", '{"a": 1}', '{"mcpServers": {}}', '{\r\n\t"a": 1\r\n}\r\n'])
def test_small_files_get_the_entry(text):
    assert parse_json_text(added(text), file="f")["mcpServers"]["skillyard"] == ENTRY


def test_a_file_of_comments_alone_keeps_them():
    assert added("// Mine.\n").startswith("// Mine.\n{\n")


def test_line_ends_tabs_and_a_byte_order_mark_stay():
    text = '\ufeff{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t\t"x": {}\r\n\t}\r\n}\r\n'
    after = added(text)
    assert after.startswith('\ufeff{\r\n\t"a": 1,\r\n')
    assert '\r\n\t\t"skillyard": {\r\n\t\t\t"command": "skillyard",\r\n' in after
    assert "\n" not in after.replace("\r\n", "")


def test_an_entry_that_is_there_is_replaced_where_it_is():
    text = '{"mcpServers": {"skillyard": {"command": "old"}, "z": 1}} // end\n'
    after = added(text)
    assert list(parse_json_text(after, file="f")["mcpServers"]) == ["skillyard", "z"]
    assert after.endswith(', "z": 1}} // end\n')


def test_of_two_keys_of_one_name_the_one_that_counts_is_changed():
    text = '{"mcpServers": {"a": 1}, "mcpServers": {"b": 2}}'
    assert parse_json_text(added(text), file="f")["mcpServers"] == {"b": 2, "skillyard": ENTRY}


def test_all_entries_of_that_name_are_taken_out():
    text = '{"mcpServers": {"skillyard": 1, "b": 2, "skillyard": 3}}'
    assert parse_json_text(removed(text), file="f") == {"mcpServers": {"b": 2}}


def test_taking_out_what_is_not_there_changes_nothing():
    for text in ("", "{}", '{"mcpServers": []}', COMMENTED):
        assert removed(text) == text


@pytest.mark.parametrize(
    "text", ['{"mcpServers": []}', '{"mcpServers": null}', "[]", "{", '{"a": }', '{"a" 1}', '"', "/x", "/* {}"]
)
def test_what_is_no_table_of_servers_is_refused_and_not_overwritten(text):
    with pytest.raises(InputError, match=r"f\.json"):
        added(text)


keys = st.text(alphabet='ab/*"\\{},:é', max_size=4)
scalars = st.none() | st.booleans() | st.integers() | st.text(alphabet='ab{}[]",:/*\\', max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
)
servers = st.dictionaries(keys | st.just("skillyard"), values, max_size=3)


@given(
    table=st.dictionaries(keys, values, max_size=3),
    servers=st.none() | servers,
    indent=st.sampled_from([None, 1, 2, "\t"]),
    data=st.data(),
)
def test_any_file_says_the_same_but_for_the_entry(table, servers, indent, data):
    whole = table if servers is None else {**table, "mcpServers": servers}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    text = _with_comments(text, data)
    after = added(text)
    expected = {**whole, "mcpServers": {**(servers or {}), "skillyard": ENTRY}}
    assert parse_json_text(after, file="f") == expected
    assert comments(after) == comments(text) or "skillyard" in (servers or {})
    rest = {key: value for key, value in (servers or {}).items() if key != "skillyard"}
    assert parse_json_text(removed(after), file="f") == {**whole, "mcpServers": rest}
    assert comments(removed(after)) == comments(after) or "skillyard" in (servers or {})


def _with_comments(text, data):
    """The text with comments and blanks between its tokens."""
    parts = re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s"\[\]{}:,]+|\s+', text)
    said = st.sampled_from(["", "", "", " ", "/* } */", "// , {\n", "\n"])
    return "".join(part + data.draw(said) for part in parts)
