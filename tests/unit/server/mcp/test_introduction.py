"""What is answered before the SDK is there is what the SDK answers."""

import asyncio
import io
import json
import re
import subprocess
import sys
from copy import deepcopy
from types import SimpleNamespace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from skillyard.agents.materialise import Nowhere
from skillyard.agents.toolsets.names import TOOLSETS
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.server.mcp.guests import OneGuest
from skillyard.server.mcp.introduction import HANDSHAKES, MODERN, instructions, introduction, listing_request
from skillyard.server.mcp.server import SkillServer
from skillyard.server.mcp.toolsets import Toolbox
from skillyard.server.mcp.unreadable import Messages
from skillyard.server.mcp.wanted import Wanted

CLIENT = {"name": "some-client", "version": "2.1.44"}
META = "io.modelcontextprotocol/"
CLAUDE = {
    "name": "claude-code",
    "title": "Claude Code",
    "version": "2.1.287",
    "description": "Anthropic's agentic coding tool",
    "websiteUrl": "https://claude.com/claude-code",
}
BOTH_WAYS = {"form": {}, "url": {}}
TASKS = {
    "list": {},
    "cancel": {},
    "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
}
APPS = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
ICON = {"src": "data:image/png;base64,AAAA", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}


def initialize(version="2025-06-18", capabilities=None, client=CLIENT):
    params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def discover(version=MODERN, capabilities=None, client=CLIENT):
    meta = {
        f"{META}protocolVersion": version,
        f"{META}clientInfo": client,
        f"{META}clientCapabilities": capabilities or {},
    }
    return {"jsonrpc": "2.0", "id": "d-1", "method": "server/discover", "params": {"_meta": meta}}


KNOWN_CLIENTS = {
    "Claude Code": initialize("2025-11-25", {"roots": {"listChanged": True}, "elicitation": BOTH_WAYS}, CLAUDE),
    "Claude Code, which asks what there is first": discover(
        capabilities={"roots": {"listChanged": True}, "elicitation": BOTH_WAYS}, client=CLAUDE
    ),
    "Codex": initialize(
        "2025-06-18",
        {"experimental": {"codex/auth-change": {}}, "elicitation": BOTH_WAYS},
        {"name": "codex-mcp-client", "title": "Codex", "version": "0.154.0"},
    ),
    "Cursor": initialize(
        "2025-11-25",
        {"roots": {"listChanged": False}, "elicitation": {}, "extensions": APPS},
        {"name": "cursor-vscode", "version": "1.0.0"},
    ),
    "Cursor, some time ago": initialize(
        "2024-11-05",
        {"tools": True, "prompts": False, "resources": True, "logging": False, "roots": {"listChanged": False}},
        {"name": "cursor-vscode", "version": "1.0.0"},
    ),
    "VS Code": initialize(
        "2025-11-25",
        {
            "roots": {"listChanged": True},
            "sampling": {},
            "elicitation": BOTH_WAYS,
            "tasks": TASKS,
            "extensions": APPS,
        },
        {"name": "Visual Studio Code", "version": "1.138.0"},
    ),
    "MCP Inspector": initialize(
        "2025-11-25",
        {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}, "tasks": TASKS},
        {"name": "inspector-client", "version": "0.21.2"},
    ),
    "Gemini CLI": initialize(
        "2025-06-18", {"roots": {"listChanged": True}}, {"name": "gemini-cli-mcp-client", "version": "0.59.0"}
    ),
}


def line_of(message):
    return json.dumps(message).encode()


def answered_early(line):
    early = introduction(line, instructions(TOOLSETS))
    return early and json.loads(early.line)


def answered_by_the_sdk(line):
    """All that the SDK answers to one line."""
    said = io.TextIOWrapper(io.BytesIO(line + b"\n"), encoding="utf-8", errors="replace")
    heard = io.StringIO()

    async def go():
        server = SkillServer(OneGuest(SimpleNamespace(toolsets=TOOLSETS)))
        async with stdio_server(anyio.wrap_file(said), anyio.wrap_file(heard)) as (receiving, sending):
            await server.run(Messages(receiving, sending), sending, server.create_initialization_options())

    asyncio.run(go())
    return [json.loads(answer) for answer in heard.getvalue().splitlines()]


@pytest.mark.parametrize(
    "message",
    [
        *(initialize(version) for version in (*HANDSHAKES, MODERN, "2099-01-01", "")),
        initialize(
            capabilities={"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
        ),
        initialize(client={**CLIENT, "title": "제목", "description": "한국어 클라이언트"}),
        initialize(client={**CLIENT, "icons": [ICON, {"src": "icon.svg"}], "new": [1, None, {"in": 0.5}]}),
        initialize(client={**CLIENT, "title": None, "websiteUrl": None, "icons": None}, capabilities={"roots": None}),
        {**initialize(), "params": {**initialize()["params"], "_meta": {"progressToken": 1}}},
        discover(),
        discover(capabilities={"roots": {}, "elicitation": {}}),
    ],
    ids=lambda message: message["method"],
)
def test_a_connection_begins_as_with_the_sdk(message):
    early = answered_early(line_of(message))
    assert early is not None
    assert [early] == answered_by_the_sdk(line_of(message))


@pytest.mark.parametrize("message", KNOWN_CLIENTS.values(), ids=KNOWN_CLIENTS)
def test_clients_that_many_people_have_are_greeted_early(message):
    early = answered_early(line_of(message))
    assert early is not None
    assert [early] == answered_by_the_sdk(line_of(message))


def test_a_client_is_told_of_the_tools_that_it_has_and_of_no_others(source):
    def yard():
        return YardClient(Connection("http://127.0.0.1:9"))

    of_each = {
        name: Toolbox(source, Wanted(toolsets=(name,)), yard=yard, place=Nowhere()).tools().keys() for name in TOOLSETS
    }
    every = frozenset().union(*of_each.values())
    for name in TOOLSETS:
        named = set(re.findall("`([a-z_]+)`", instructions((name,))))
        assert named <= of_each[name]
    assert set(re.findall("`([a-z_]+)`", instructions(TOOLSETS))) <= every
    assert "`skill`" in instructions(("skills",))
    assert len(instructions(TOOLSETS)) < 1_000


def test_the_versions_are_those_of_the_sdk():
    assert HANDSHAKES == HANDSHAKE_PROTOCOL_VERSIONS
    assert (MODERN,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"no json",
        b"[" * 100_000,
        b"\xff" + line_of(initialize()),
        b"\xef\xbb\xbf" + line_of(initialize()),
        json.dumps(initialize()).encode("utf-16"),
        line_of(initialize()).replace(b", ", b",\r", 1),
        line_of({**initialize(), "method": "ping"}),
        line_of({**initialize(), "id": None}),
        line_of({**initialize(), "id": True}),
        line_of({**initialize(), "id": 1.0}),
        line_of({**initialize(), "jsonrpc": 2.0}),
        line_of({"jsonrpc": "2.0", "method": "initialize", "params": {}}),
        line_of(initialize(capabilities={"roots": {"listChanged": "no"}})),
        line_of(initialize(client={"name": "a"})),
        line_of(initialize(client={"name": "\ud800", "version": "1"})),
        line_of(initialize(client={**CLIENT, "new": "\ud800"})),
        line_of(initialize(client={**CLIENT, "new": float("nan")})),
        line_of(initialize(client={**CLIENT, "websiteUrl": 1})),
        line_of(initialize(client={**CLIENT, "icons": [{"mimeType": "image/png"}]})),
        line_of(initialize(capabilities={"tasks": {"requests": []}})),
        line_of(initialize(capabilities={"extensions": {"x": True}})),
        line_of(initialize(client=CLIENT | {"new": 0})).replace(b"0}}", b"[" * 300 + b"]" * 300 + b"}}"),
        line_of(discover(version="2025-06-18")),
        line_of({**discover(), "params": {}}),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_what_is_not_plainly_an_introduction_is_left_to_the_sdk(line):
    assert introduction(line, "") is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["2.0", MODERN]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


made = st.builds(
    lambda how, *said: how(*said),
    st.sampled_from([initialize, discover]),
    st.sampled_from([*HANDSHAKES, MODERN, "x"]),
    st.dictionaries(
        st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks", "x"]),
        st.dictionaries(
            st.sampled_from(["listChanged", "list_changed", "form", "tools", "requests", "x"]),
            anything | st.just({}),
            max_size=2,
        )
        | anything,
        max_size=2,
    ),
    st.just(CLIENT)
    | st.fixed_dictionaries(
        {"name": st.just("some-client") | anything, "version": st.just("1") | anything},
        optional={
            "title": anything,
            "websiteUrl": anything,
            "website_url": anything,
            "icons": st.lists(
                st.dictionaries(
                    st.sampled_from([*ICON, "mime_type", "x"]), st.sampled_from(list(ICON.values())) | anything
                )
            )
            | anything,
            "x": anything,
        },
    ),
)


@st.composite
def nearly(draw):
    """An introduction in which one thing or another is something else, is gone, or is new."""
    message = deepcopy(draw(st.sampled_from(list(KNOWN_CLIENTS.values())) | made))
    for _ in range(draw(st.integers(0, 2))):
        at = message
        while (inner := [value for value in at.values() if isinstance(value, dict)]) and draw(st.booleans()):
            at = draw(st.sampled_from(inner))
        key = draw(st.sampled_from([*at, "_meta", "x"]))
        if draw(st.booleans()):
            at[key] = draw(anything)
        else:
            at.pop(key, None)
    return message


@given(nearly())
def test_no_other_line_is_answered_in_another_way(message):
    line = line_of(message)
    early = answered_early(line)
    assert early is None or [early] == answered_by_the_sdk(line)


def test_the_introduction_needs_nothing_of_the_sdk():
    program = "import sys, skillyard.server.mcp.opening; print({'mcp', 'mcp_types', 'pydantic'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("params", [None, {}, {"_meta": {"progressToken": 0, "other": 1}}, {"cursor": None}])
def test_a_plain_request_for_all_tools_is_told_by_its_id(params):
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", **({} if params is None else {"params": params})}
    assert listing_request(line_of(message), is_modern=False) == 7
    assert listing_request(line_of(message), is_modern=True) is None
    modern = {"jsonrpc": "2.0", "id": "7", "method": "tools/list", "params": discover()["params"]}
    assert listing_request(line_of(modern), is_modern=True) == "7"


@pytest.mark.parametrize(
    "change",
    [
        {"method": "prompts/list"},
        {"params": {"cursor": "x"}},
        {"params": None},
        {"params": {"unknown": 1}},
        {"id": 1.5},
        {"more": 1},
    ],
)
def test_any_other_request_is_left_to_the_sdk(change):
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", **change}
    assert listing_request(line_of(message), is_modern=False) is None
