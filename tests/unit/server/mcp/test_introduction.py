"""What is answered before the SDK is there is what the SDK answers."""

import asyncio
import io
import json
import subprocess
import sys
from copy import deepcopy

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.stdio import stdio_server
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from skillyard.server.mcp.introduction import HANDSHAKES, MODERN, introduction
from skillyard.server.mcp.server import SkillServer
from skillyard.server.mcp.unreadable import Messages

CLIENT = {"name": "some-client", "version": "2.1.44"}
META = "io.modelcontextprotocol/"


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


def line_of(message):
    return json.dumps(message).encode()


def answered_early(line):
    early = introduction(line)
    return early and json.loads(early.line)


def answered_by_the_sdk(line):
    """All that the SDK answers to one line."""
    said = io.TextIOWrapper(io.BytesIO(line + b"\n"), encoding="utf-8", errors="replace")
    heard = io.StringIO()

    async def go():
        server = SkillServer(None)
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
        discover(),
        discover(capabilities={"roots": {}, "elicitation": {}}),
    ],
    ids=lambda message: message["method"],
)
def test_a_connection_begins_as_with_the_sdk(message):
    early = answered_early(line_of(message))
    assert early is not None
    assert [early] == answered_by_the_sdk(line_of(message))


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
        line_of(discover(version="2025-06-18")),
        line_of({**discover(), "params": {}}),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_what_is_not_plainly_an_introduction_is_left_to_the_sdk(line):
    assert introduction(line) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["2.0", MODERN]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def nearly(draw):
    """An introduction in which one thing or another is something else, is gone, or is new."""
    message = draw(st.sampled_from([initialize, discover]))(
        draw(st.sampled_from([*HANDSHAKES, MODERN, "x"])),
        draw(
            st.dictionaries(
                st.sampled_from(["roots", "sampling", "elicitation", "experimental", "extensions", "tasks"]),
                st.dictionaries(
                    st.sampled_from(["listChanged", "form", "tools", "x"]), anything | st.just({}), max_size=2
                ),
                max_size=2,
            )
        ),
        draw(st.just(CLIENT) | st.fixed_dictionaries({"name": anything}, optional={"version": anything})),
    )
    message = deepcopy(message)
    for _ in range(draw(st.integers(0, 2))):
        at = message
        while (inner := [value for value in at.values() if isinstance(value, dict)]) and draw(st.booleans()):
            at = draw(st.sampled_from(inner))
        key = draw(st.sampled_from([*at, "x"]))
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
