import pytest
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from skillyard.server.mcp.unreadable import refusal


def answer_to(line):
    with pytest.raises(ValidationError) as raised:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    answer = refusal(raised.value)
    return answer and (answer.id, answer.error.code)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("no json\n", (None, -32700)),
        ("[" * 100_000, (None, -32700)),
        ("[]", (None, -32600)),
        ('{"jsonrpc": "1.0", "id": 5, "method": "ping"}', (None, -32600)),
        ('{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"x": "\\ud800"}}', ("a", -32700)),
        ('{"jsonrpc": "2.0", "id": 5}', (None, -32600)),
    ],
)
def test_a_line_that_is_no_message_is_answered_to_its_request_where_there_is_one(line, answer):
    assert answer_to(line) == answer


@pytest.mark.parametrize("line", ["\n", " \r\n"])
def test_a_blank_line_is_not_answered(line):
    assert answer_to(line) is None


def test_what_broke_in_another_way_is_answered_too():
    assert refusal(OSError("gone")).error.code == -32700
