"""`skillyard mcp serve` as a client starts it: a real process, spoken with over its pipes."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import ToolsListChanged
from tests.mcp_peers import old_client

PATIENCE = 60
COMMAND = [sys.executable, "-m", "skillyard", "mcp", "serve"]
OLD_SCRIPT = Path(__file__).with_name("mcp_old_client.py")


def add(root, name, description="Does it."):
    (root / name).mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n"
    (root / name / "SKILL.md").write_text(text, encoding="utf-8")


@pytest.fixture
def root(tmp_path):
    add(tmp_path / "skills", "pdf", "Reads PDF files.")
    return tmp_path / "skills"


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "SKILLYARD_HOME": str(tmp_path / "data"),
        "SKILLYARD_CONFIG_DIR": str(tmp_path / "config"),
    }


@asynccontextmanager
async def connected(environment, *words):
    parameters = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *words], env=environment)
    async with Client(stdio_client(parameters)) as client:
        yield client


class Pipe:
    """A client that speaks the protocol by hand, line by line."""

    def __init__(self, process):
        self.process = process
        self.number = 0

    def say(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def hear(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.number += 1
        self.say(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        while (answer := self.hear()).get("id") != self.number:
            pass
        return answer

    def tell(self, method):
        self.say(json.dumps({"jsonrpc": "2.0", "method": method}).encode())


@contextmanager
def piped(environment, cwd, *words):
    with subprocess.Popen(
        [*COMMAND, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=cwd
    ) as process:
        try:
            yield Pipe(process)
        finally:
            process.stdin.close()
            assert process.wait(PATIENCE) == 0


def test_a_client_of_today_uses_skills_and_is_told_of_new_ones(root, environment):
    async def go():
        async with connected(environment, "--root", str(root)) as client:
            assert client.protocol_version == "2026-07-28"
            found = await client.call_tool("search_skills", {"query": "read a PDF file"})
            assert found.structured_content["result"][0]["name"] == "pdf"
            path = await client.call_tool("skill", {"skill": "pdf"})
            assert str(root / "pdf") in path.content[0].text
            async with client.listen(tools_list_changed=True) as events:
                add(root, "git", "Commits.")
                async with asyncio.timeout(PATIENCE):
                    assert await anext(aiter(events)) == ToolsListChanged()
            [skill] = [tool for tool in (await client.list_tools()).tools if tool.name == "skill"]
            assert "Commits." in skill.description

    asyncio.run(go())


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25"])
def test_a_client_of_before_is_served_by_the_protocol_it_knows(root, environment, tmp_path, version):
    with piped(environment, tmp_path, "--root", str(root)) as pipe:
        hello = pipe.ask(
            "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "old", "version": "1"}
        )["result"]
        assert hello["protocolVersion"] == version
        assert hello["serverInfo"]["name"] == "skillyard"
        pipe.tell("notifications/initialized")
        assert {tool["name"] for tool in pipe.ask("tools/list")["result"]["tools"]} >= {"skill", "load_skill"}
        called = pipe.ask("tools/call", name="load_skill", arguments={"skill_name": "pdf"})["result"]
        assert called["content"][0]["text"].startswith("---\nname: pdf")
        add(root, "git")
        heard = {pipe.hear()["method"] for _ in range(3)}
        assert "notifications/tools/list_changed" in heard
        assert pipe.ask("resources/read", uri="skill://none/SKILL.md")["error"]["code"] == -32602


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "quick", "version": "1"}}
PIPELINED = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
]


@pytest.mark.parametrize("cut", [1, 80, 250, None])
def test_a_client_that_does_not_wait_is_answered_once_however_its_lines_arrive(root, environment, tmp_path, cut):
    said = b"".join(json.dumps(message).encode() + b"\n" for message in PIPELINED)
    with piped(environment, tmp_path, "--root", str(root)) as pipe:
        pipe.process.stdin.write(said[:cut])
        pipe.process.stdin.flush()
        if cut == 250:
            assert pipe.hear()["id"] == 1, "the first line was whole"
        pipe.process.stdin.write(said[len(said) if cut is None else cut :])
        pipe.process.stdin.flush()
        answers = [pipe.hear() for _ in range(2 if cut == 250 else 3)]
        assert sorted(answer["id"] for answer in answers) == ([1, 2] if cut == 250 else [1, 1, 2])
        assert "result" in pipe.ask("tools/list")


@pytest.mark.parametrize("words", [("--root", "no-such-folder"), ("--env", "none")])
def test_a_server_that_cannot_start_says_why(environment, tmp_path, words):
    line = json.dumps(PIPELINED[0]).encode() + b"\n"
    done = subprocess.run(
        [*COMMAND, *words], input=line, capture_output=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 3
    assert words[1].encode() in done.stderr


def test_what_is_no_message_does_not_end_the_server(root, environment, tmp_path):
    with piped(environment, tmp_path, "--root", str(root)) as pipe:
        pipe.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "o", "version": "1"})
        for line in (b"", b"no json", b"\xff\xfe", b"[]", b'{"jsonrpc":"1.0"}', b"[" * 5000, b"1" * 100_000):
            pipe.say(line)
        assert [pipe.hear()["error"]["code"] for _ in range(6)] == [-32700, -32700, -32600, -32600, -32700, -32700]
        assert "result" in pipe.ask("ping")
        assert pipe.ask("tools/call", name="skill", arguments={"skill": "\ud800"})["error"]["code"] == -32700
        assert pipe.ask("no/such/method")["error"]["code"] == -32601
        assert pipe.ask("skills/get")["error"]["code"] == -32602


@pytest.fixture
def held(environment, tmp_path):
    """Lets a server import the SDK only when a file is there; the environment for it, and what makes the file."""
    go_on = tmp_path / "go-on"
    (tmp_path / "held").mkdir()
    (tmp_path / "held/sitecustomize.py").write_text(HOLD.format(file=str(go_on)))
    return {**environment, "PYTHONPATH": str(tmp_path / "held")}, go_on.touch


HOLD = """
import os, sys, time

class Hold:
    def find_spec(self, name, path=None, target=None):
        while name.partition(".")[0] in ("mcp", "mcp_types") and not os.path.exists({file!r}):
            time.sleep(0.01)

sys.meta_path.insert(0, Hold())
"""
WHO = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("toolsets", ["skills", "all"])
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_what_tools_there_are_is_known_before_the_sdk_is_imported(root, environment, held, tmp_path, version, toolsets):
    def begin(pipe):
        if version == "2026-07-28":
            pipe.ask("server/discover", _meta=WHO)
            return {"_meta": WHO}
        client = {"name": "some", "version": "1"}
        pipe.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        pipe.tell("notifications/initialized")
        return {"_meta": {"progressToken": 0}}

    words = ["--root", str(root), "--toolsets", toolsets]
    with piped(environment, tmp_path, *words) as pipe:
        first = pipe.ask("tools/list", **begin(pipe))["result"]
    add(root, "git", "Commits.")
    environment, go_on = held
    with piped(environment, tmp_path, *words) as pipe:
        who = begin(pipe)
        early = pipe.ask("tools/list", **who)["result"]
        go_on()
        assert pipe.ask("tools/list", **who)["result"] == early
        loaded = pipe.ask("tools/call", name="load_skill", arguments={"skill_name": "git"}, **who)["result"]
        assert "Commits." in loaded["content"][0]["text"]
    [skill] = [tool for tool in early["tools"] if tool["name"] == "skill"]
    assert "- git: Commits." in skill["description"]
    assert [tool["name"] for tool in first["tools"]] == [tool["name"] for tool in early["tools"]]
    assert {key: early[key] for key in early if key != "tools"} == {key: first[key] for key in first if key != "tools"}


def test_tools_that_another_release_kept_are_not_told(root, environment, tmp_path):
    kept = tmp_path / "data/mcp/tools-skills.json"
    for text in ("", "[]", '{"code": [], "tools": []}', '{"code": 1}'):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text)
        with piped(environment, tmp_path, "--root", str(root)) as pipe:
            client = {"name": "some", "version": "1"}
            pipe.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
            pipe.tell("notifications/initialized")
            assert len(pipe.ask("tools/list")["result"]["tools"]) == 6
    assert len(json.loads(kept.read_text())["tools"]) == 6


def test_an_empty_yard_and_an_empty_folder_are_named(environment, tmp_path):
    (tmp_path / "empty").mkdir()
    for words, where in (
        (["--registry"], f"the yard in {tmp_path / 'data'}"),
        (["--root", str(tmp_path / "empty")], "~/empty"),
    ):
        with piped(environment, tmp_path, *words) as pipe:
            client = {"name": "some", "version": "1"}
            pipe.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
            pipe.tell("notifications/initialized")
            answer = pipe.ask("tools/call", name="load_skill", arguments={"skill_name": "pdf"})["result"]
            assert answer["content"][0]["text"] == f"There is no skill 'pdf'. There are no skills in {where}."


def test_a_folder_of_a_skill_is_answered_with_how_long_that_holds(root, environment, tmp_path):
    with piped(environment, tmp_path, "--root", str(root)) as pipe:
        pipe.ask("server/discover", _meta=WHO)
        result = pipe.ask("resources/directory/read", uri="skill://pdf", _meta=WHO)["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert [child["name"] for child in result["resources"]] == ["SKILL.md"]


def test_an_unknown_toolset_is_refused_at_the_start(root, environment, tmp_path):
    done = subprocess.run(
        [*COMMAND, "--toolsets", "skils"], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "registry" in done.stderr


def test_the_yard_of_this_machine_is_served_with_all_toolsets(environment):
    async def go():
        async with connected(environment, "--registry", "--toolsets", "all") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"skill", "list_skills", "execute_python", "run_skill"} <= names
            assert "resources" in (await client.list_resources()).model_dump()

    asyncio.run(go())


def test_a_client_of_the_sdk_before_works_unchanged(root, environment, tmp_path):
    with subprocess.Popen(
        [old_client(), str(OLD_SCRIPT), *COMMAND, "--root", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        text=True,
    ) as process:
        require_old_client_served(process, root, "skill://pdf/SKILL.md")


def require_old_client_served(process, root, uri):
    assert process.stdout.readline() == "ready\n"
    add(root, "zip", "Packs files.")
    process.stdin.write("\n")
    process.stdin.flush()
    seen = json.loads(process.stdout.readline())
    assert process.wait(PATIENCE) == 0
    assert seen["protocol"] == "2025-11-25"
    assert seen["resource"] == uri
    assert seen["text"].startswith("---\nname: pdf")
    assert seen["prompt"][1] == "Do it."
    assert "# pdf" in seen["called"]
    assert seen["failed"][0] is True
    assert "Packs files." not in seen["before"]
    assert "Packs files." in seen["after"]
