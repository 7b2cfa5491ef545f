"""Editing hand-written TOML: what was there stays, to the last comment."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.agents.clients.toml_text import with_table, without_table
from skillyard.errors import InputError

PATH = ("mcp_servers", "skillyard")
ENTRY = {"command": "/opt/my apps/skillyard", "args": ["mcp", "serve"], "env": {"SKILLYARD_HOME": "C:\\yard"}}
COMMENTED = '''\
# Mine.
model = "gpt-5"  # the good one

[mcp_servers.docs]  # docs
command = "docs"
args = [
    "a", # first
    "b",
]

# Work.
[profiles.work]
note = """
[mcp_servers.skillyard]
"""
'''


def added(text, entry=ENTRY):
    return with_table(text, PATH, entry, file="config.toml")


def removed(text):
    return without_table(text, PATH, file="config.toml")


def test_what_was_there_stays_and_the_table_comes_after_it():
    after = added(COMMENTED)
    assert after.startswith(COMMENTED)
    assert tomllib.loads(after)["mcp_servers"]["skillyard"] == ENTRY


def test_what_was_added_can_be_taken_out_again():
    for text in ("", COMMENTED, "a = 1\n", "[mcp_servers]\n", "a = 1\r\n"):
        after = removed(added(text))
        assert after == text


def test_a_table_is_replaced_where_it_is_and_the_comment_below_it_stays():
    ours = '[mcp_servers.skillyard]\ncommand = "old"\n\n[mcp_servers.skillyard.env]\nA = "1"\n'
    text = f"{ours}\n# Work.\n[profiles.work]\nx = 1\n"
    after = added(text)
    assert tomllib.loads(after) == {"mcp_servers": {"skillyard": ENTRY}, "profiles": {"work": {"x": 1}}}
    assert after.endswith("\n# Work.\n[profiles.work]\nx = 1\n")
    assert removed(text).lstrip() == "# Work.\n[profiles.work]\nx = 1\n"


def test_quoted_headers_are_the_same_table():
    text = '[ "mcp_servers" . \'skillyard\' ] # ours\ncommand = "old"\n'
    assert tomllib.loads(added(text)) == {"mcp_servers": {"skillyard": ENTRY}}


def test_names_that_need_quotes_get_them():
    after = with_table("", ("mcp_servers", "my yard.1"), {"command": 'a"b'}, file="f")
    assert tomllib.loads(after) == {"mcp_servers": {"my yard.1": {"command": 'a"b'}}}


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { skillyard = { command = "old" } }\n',
        'mcp_servers.skillyard.command = "old"\n',
        '[mcp_servers]\nskillyard = { command = "old" }\n',
        "mcp_servers = []\n",
        "a = \n",
    ],
)
def test_what_cannot_be_changed_without_a_risk_is_refused(text):
    with pytest.raises(InputError, match=r"config\.toml") as caught:
        added(text)
    assert caught.value.hint


def test_inline_tables_that_are_complete_take_no_other():
    with pytest.raises(InputError, match="risk"):
        added('mcp_servers = { docs = { command = "docs" } }\n')


BLOCKS = st.sampled_from(
    [
        "# A comment.\n",
        "\n",
        '[mcp_servers."a b"]  # beside\ncommand = "x"\n',
        '[profiles.work]\nnote = """\n[mcp_servers.skillyard]\n# no comment\n"""\n# below\n',
        "[[skills.config]]\npath = '/a'\n",
        "[mcp_servers.docs]\nargs = [\n  'a', # one\n]\n[mcp_servers.docs.env]\nA = '1'\n",
    ]
)


@given(st.lists(BLOCKS, max_size=5, unique=True), st.sampled_from(["", "\n", "# the end"]))
def test_any_file_says_the_same_but_for_the_table(blocks, end):
    text = "".join(blocks) + end
    after = added(text)
    assert after.startswith(text)
    before = tomllib.loads(text)
    expected = {**before, "mcp_servers": {**before.get("mcp_servers", {}), "skillyard": ENTRY}}
    assert tomllib.loads(after) == expected
    assert tomllib.loads(removed(after)) == before
    assert [line for line in removed(after).splitlines() if "#" in line] == [
        line for line in text.splitlines() if "#" in line
    ]
