import json

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from skillyard.server.errors import install_error_handlers
from skillyard.server.json_text import StorableJson, json_problem


@pytest.fixture
def client():
    app = FastAPI()
    install_error_handlers(app)

    @app.post("/")
    async def echo(body: dict[str, object]) -> dict[str, object]:
        return body

    return TestClient(StorableJson(app))


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (rb'{"name": "a\u0000b"}', "name"),
        (rb'{"name": "\ud800"}', "name"),
        (rb'{"name": "\udc00\ud800"}', "name"),
        (rb'{"files": [{"path": "ok"}, {"path": "\u0000"}]}', "files.1.path"),
        (rb'{"a": {"\u0000": 1}}', "a"),
        (b'{"n": NaN}', "n"),
        (b'{"n": [-Infinity]}', "n.0"),
        (b'{"n": 1e999}', "n"),
        (b'"\xed\xa0\x80"', None),
        (b'{"n": "\xff"}', None),
        ('{"n": "\x00"}'.encode("utf-16"), None),
    ],
)
def test_text_that_no_database_keeps_is_refused_and_the_field_named(client, body, field):
    answer = client.post("/", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid_input"
    if field is not None:
        assert answer.json()["error"]["details"]["field"] == field


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"[" * 100_000, b'{"n": ' + b"1" * 5000 + b"}", b'{"a": "\0"}'],
)
def test_what_is_no_json_is_a_client_error(client, body):
    answer = client.post("/", content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    assert answer.json()["success"] is False


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/merge-patch+json"])
def test_all_kinds_of_json_are_looked_at(client, kind):
    assert client.post("/", content=rb'{"a": "\u0000"}', headers={"content-type": kind}).status_code == 422


def test_emoji_written_as_escapes_pass(client):
    body = rb'{"name": "\ud83d\ude00 \\u0000 \ud55c\uad6d\uc5b4"}'
    answer = client.post("/", content=body, headers={"content-type": "application/json"})
    assert answer.json() == {"name": "😀 \\u0000 한국어"}


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)


@given(JSON)
def test_what_passes_can_be_written_as_strict_utf8_without_zero_bytes(document):
    body = json.dumps(document).encode()
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False)
        text.encode()
        storable = "\\u0000" not in text.replace("\\\\", "")
    except (ValueError, UnicodeEncodeError):
        storable = False
    assert (json_problem(body) is None) is storable
