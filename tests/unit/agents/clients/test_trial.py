"""A server is started and asked as an agent would."""

import json
import sys

import pytest

from skillyard.agents.clients.table import TOKEN, Server, find_client
from skillyard.agents.clients.trial import Start, start_of, try_start
from skillyard.errors import InputError, UnavailableError

SERVER = """
import json, sys, time
pages = {None: ("skill", "next"), "next": ("search_skills", None)}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "tools/list":
        name, cursor = pages[message["params"].get("cursor")]
        result = {"tools": [{"name": name}], **({"nextCursor": cursor} if cursor else {})}
    if message["method"] == "tools/call":
        assert message["params"]["name"] == "search_skills"
    print("{}", flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
COMMAND = Server(command=["skillyard", "mcp", "serve"], environment={"SKILLYARD_HOME": "/home/yard"}, with_token=True)
ADDRESS = Server(url="https://yard.example.org/mcp", with_token=True)
VARIABLES = {"PATH": "/bin", "HOME": "/home/ann", TOKEN: "sky_x", "EXTRA": "1"}


def start(script):
    return Start(command=[sys.executable, "-c", script])


def test_tools_of_all_pages_are_counted_and_one_is_called(tmp_path):
    trial = try_start(start(SERVER), tmp_path, patience=30)
    assert trial.tools == 2
    assert trial.called is not None
    assert 0 < trial.greeted <= trial.listed <= trial.called


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('the yard is closed')", "ended before it answered initialize.*the yard is closed"),
        ("import time; time.sleep(60)", "did not answer initialize within 0.5 seconds"),
        ("print('hello', flush=True); input()", "wrote something that is not a message: b'hello"),
        (
            "import json; print(json.dumps({'id': json.loads(input())['id'], 'error': {'message': 'no'}}))",
            "refused initialize: {'message': 'no'}",
        ),
    ],
)
def test_a_server_that_does_not_answer_says_why(tmp_path, script, reason):
    with pytest.raises(UnavailableError, match=reason):
        try_start(start(script), tmp_path, patience=0.5 if "sleep" in script else 30)


def test_a_program_that_is_not_there_is_told_with_what_to_do(tmp_path):
    with pytest.raises(UnavailableError, match="cannot be started") as caught:
        try_start(Start(command=[str(tmp_path / "none")]), tmp_path, patience=1)
    assert "--user" in caught.value.hint


def test_an_address_that_does_not_answer_is_told(tmp_path):
    with pytest.raises(UnavailableError, match=r"http://127.0.0.1:1/mcp did not answer"):
        try_start(Start(url="http://127.0.0.1:1/mcp"), tmp_path, patience=20)


@pytest.mark.parametrize("name", ["claude", "codex", "cursor", "gemini", "opencode", "vscode", "windsurf"])
def test_an_entry_is_started_as_it_was_written(name):
    client = find_client(name)
    command = start_of(client, client.entry(COMMAND), VARIABLES)
    assert command.command == ["skillyard", "mcp", "serve"]
    assert command.environment["SKILLYARD_HOME"] == "/home/yard"
    assert command.environment[TOKEN] == "sky_x"
    address = start_of(client, client.entry(ADDRESS), VARIABLES)
    assert address.url == "https://yard.example.org/mcp"
    assert address.headers == {"Authorization": "Bearer sky_x"}


def test_codex_hands_on_few_variables_and_waits_as_its_entry_says():
    codex = find_client("codex")
    own = codex.entry(Server(command=["skillyard"]))
    shared = codex.entry(Server(command=["skillyard"], is_shared=True))
    assert start_of(codex, own, VARIABLES).environment == {"PATH": "/bin", "HOME": "/home/ann"}
    assert codex.waits(own) == own["startup_timeout_sec"] == 30
    assert "required" not in shared
    assert codex.waits(shared) == 1


def test_an_entry_without_a_command_is_refused():
    with pytest.raises(InputError, match="neither a command nor an address"):
        start_of(find_client("claude"), json.loads('{"args": []}'), {})
