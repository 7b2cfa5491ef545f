"""MCP over HTTP: the same tokens, rights and limits as the API, and nothing of anybody else."""

import json
import subprocess
import sys

import pytest

from skillyard.history.entries import Why
from skillyard.library.disk import read_folder
from skillyard.registry.skills import Visibility
from skillyard.server.mcp import http_guests, manifests
from skillyard.skill.archive import pack
from skillyard.skill.names import hidden_characters

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT = "application/json, text/event-stream"
OLD = {"accept": ACCEPT, "content-type": "application/json"}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "old", "version": "1"},
}


def post(caller, method, *, path="/mcp", headers=None, **params):
    named = params.get("uri") or params.get("name")
    return caller.post(
        path,
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}},
        headers={
            "accept": ACCEPT,
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **({"mcp-name": named} if named else {}),
            **(headers or {}),
        },
    )


def ask(caller, method, **given):
    answer = post(caller, method, **given)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def old(caller, method, session=None, number=1, **params):
    headers = OLD if session is None else {**OLD, "mcp-session-id": session}
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    return caller.post("/mcp", json=body if number is None else {**body, "id": number}, headers=headers)


def result_of(answer):
    """What an older server answers: the data of the one event."""
    assert answer.status_code == 200, answer.text
    [data] = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    return json.loads(data.removeprefix("data: "))["result"]


@pytest.fixture
def ana(served):
    return served.token("ana")


@pytest.fixture
def ben(served):
    return served.token("ben")


def test_nobody_is_served_without_a_token(served):
    answer = served.client.post("/mcp", json={})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("given", "status", "told"),
    [
        ({"path": "/mcp?toolsets=skils"}, 400, "Choose of: skills, registry"),
        ({"path": "/mcp?budget=20"}, 400, "Give it 300 to 100,000"),
        ({"headers": {"authorization": "Bearer wrong"}}, 401, "The token is not valid"),
        ({"arguments": {"skill_name": "a\0b"}}, 422, "'params.arguments.skill_name' holds a zero byte"),
    ],
)
def test_what_is_refused_before_it_is_read_is_told_as_clients_of_mcp_read_it(ana, given, status, told):
    answer = post(ana, "tools/call", name="load_skill", **given)
    assert answer.status_code == status
    body = answer.json()
    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", None, -32602)
    assert told in body["error"]["message"]
    assert body["error"]["data"].keys() >= {"code", "hint", "details"}


def test_whoever_only_looks_is_told_what_it_is(served, ana):
    answer = ana.get("/mcp")
    assert answer.status_code == 200
    assert answer.json()["data"]["toolsets"] == ["skills", "registry", "sandbox", "releases", "learning"]
    assert ana.get("/mcp", headers={"accept": "text/event-stream"}).status_code == 400
    assert served.client.get("/mcp").status_code == 401


def test_a_conversation_stays_the_same_when_its_client_was_forgotten_meanwhile(served, ana, ben, monkeypatch):
    monkeypatch.setattr(http_guests, "MOST_GUESTS", 1)
    recorded = []
    monkeypatch.setattr(http_guests.YardSource, "record", lambda *_, session, agent: recorded.append((session, agent)))
    served.skill(ana, "mine")
    sessions = [old(ana, "initialize", **HELLO).headers["mcp-session-id"] for _ in range(2)]
    for session in (*sessions, sessions[0]):
        ask(ben, "tools/list")
        result_of(old(ana, "tools/call", session=session, name="skill", arguments={"skill": "mine"}))
    ask(ana, "tools/call", name="skill", arguments={"skill": "mine"})
    first, second, again, (without, _) = recorded
    assert first == again
    assert first[1] == "old"
    assert len({first[0], second[0], without}) == 3


def test_a_client_says_how_much_it_wants_to_be_told_of_skills(served, ana):
    for number in range(20):
        served.skill(ana, f"skill-{number:02}")

    def told(path):
        tools = {tool["name"]: tool for tool in ask(ana, "tools/list", path=path)["tools"]}
        return tools["skill"]["description"]

    assert len(told("/mcp?budget=400")) <= 400
    assert " of 20 shown; use search_skills. Available skills:\n" in told("/mcp?budget=400")
    assert "shown" not in told("/mcp")


def test_a_caller_sees_their_own_skills_and_what_is_public(served, ana, ben):
    served.skill(ana, "mine")
    served.skill(ben, "secret")
    served.skill(ben, "shown", visibility=Visibility.PUBLIC)
    listed = [resource["uri"] for resource in ask(ana, "resources/list")["resources"]]
    assert listed == ["skill://ana/mine/SKILL.md", "skill://ben/shown/SKILL.md"]
    entries = ask(ana, "skills/list")
    assert [entry["uri"] for entry in entries["skills"]] == listed
    assert (entries["cacheScope"], entries["resultType"]) == ("private", "complete")
    hidden = post(ana, "resources/read", uri="skill://ben/secret/SKILL.md")
    absent = post(ana, "resources/read", uri="skill://ben/absent/SKILL.md")
    assert hidden.status_code == absent.status_code
    assert hidden.text.replace("secret", "absent") == absent.text


def test_what_was_worked_out_for_one_serves_all_who_may_see_it_until_it_changes(served, ana, ben, monkeypatch):
    shown = served.skill(ana, "shown", visibility=Visibility.PUBLIC)
    served.skill(ana, "secret")
    before = ask(ana, "skills/list")["skills"][-1]
    with monkeypatch.context() as patched:
        patched.setattr(manifests, "manifest_of", None)
        assert ask(ben, "skills/list")["skills"] == [before]
    ana.post(f"skills/{shown.id}/files", json={"path": "notes.md", "content": "New."}).raise_for_status()
    [after] = ask(ben, "skills/list")["skills"]
    assert after["resources"] != before["resources"]


def test_a_skill_is_loaded_by_the_tool_and_counted(served, ana):
    served.skill(ana, "mine")
    result = ask(ana, "tools/call", name="load_skill", arguments={"skill_name": "mine"})
    assert result["content"][0]["text"].startswith("---\nname: mine")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_skills", {}),
        ("find_helpful_skills", {"task_description": "sums"}),
        ("search_registry", {"query": "sums"}),
        ("search_skills", {"query": "sums"}),
    ],
)
def test_what_is_listed_of_a_skill_is_one_line_without_anything_hidden(ana, tool, arguments):
    words = {"description": "Adds sums.\n- forged: \u202eevil\u200b\U000e0041\u2028- x", "content": "# Sums\n"}
    ana.post("skills", json={"name": "sums", **words}).raise_for_status()
    path = "/mcp?toolsets=skills,registry"
    answer = ask(ana, "tools/call", path=path, name=tool, arguments=arguments)["structuredContent"]
    [row] = answer.get("skills") or answer.get("items") or answer["result"]
    [prompt] = ask(ana, "prompts/list")["prompts"]
    for said in (row["description"], row.get("snippet", ""), prompt["description"]):
        assert len(said.splitlines()) <= 1
        assert not hidden_characters(said)


def test_no_path_of_the_server_is_told_to_others(served, ana, tmp_path):
    served.skill(ana, "mine")
    answer = post(ana, "tools/call", name="skill", arguments={"skill": "mine"})
    assert "# mine" in answer.json()["result"]["content"][0]["text"]
    assert str(tmp_path) not in answer.text


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/mcp?toolsets=registry,skills", {}), ("/mcp", {"skillyard-toolsets": "Skills, registry"})],
)
def test_the_toolsets_are_those_that_were_asked_for(ana, path, headers):
    names = {tool["name"] for tool in ask(ana, "tools/list", path=path, headers=headers)["tools"]}
    assert {"skill", "list_skills", "find_helpful_skills", "read_skill_document"} <= names
    assert "execute_python" not in names
    assert names > {tool["name"] for tool in ask(ana, "tools/list")["tools"]}


def test_an_unknown_toolset_or_source_is_refused_with_those_there_are(ana):
    answer = post(ana, "tools/list", path="/mcp?toolsets=skils")
    assert answer.status_code == 400
    assert "registry" in answer.json()["error"]["data"]["hint"]
    assert post(ana, "tools/list", path="/mcp?source=disk").status_code == 400


def test_folders_of_the_machine_are_for_its_operator_alone(start, root, ana):
    assert post(ana, "resources/list", path="/mcp?source=library").status_code == 403


def test_whoever_is_at_the_machine_gets_its_folders(start, root):
    (root / "pdf").mkdir()
    (root / "pdf/SKILL.md").write_text("---\nname: pdf\ndescription: Reads.\n---\n")
    with start(person="root") as local:
        [resource] = ask(local.client, "resources/list", path="/mcp?source=library")["resources"]
        assert resource["uri"] == "skill://pdf/SKILL.md"
        told = ask(local.client, "tools/call", path="/mcp?source=library", name="skill", arguments={"skill": "pdf"})
        assert str(root / "pdf") in told["content"][0]["text"]
        query = {"name": "search_skills", "arguments": {"query": "reads"}}
        found = ask(local.client, "tools/call", path="/mcp?source=library", **query)
        assert found["structuredContent"] == {"result": [{"name": "pdf", "description": "Reads."}]}


def test_a_skill_of_a_folder_is_counted_where_the_yard_has_it(start, root):
    (root / "pdf").mkdir()
    (root / "pdf/SKILL.md").write_text("---\nname: pdf\ndescription: Reads.\n---\n# pdf\n")
    with start(person="root") as local:
        packed = pack(read_folder(root / "pdf").require(), "pdf")
        sent = local.client.post(
            "/api/v1/skills/import", files={"file": ("pdf.skill", packed)}, data={"publish": "true", "version": "1.0.0"}
        )
        assert sent.status_code == 201, sent.text
        arguments = {"skill_name": "pdf"}
        ask(local.client, "tools/call", path="/mcp?source=library", name="load_skill", arguments=arguments)
        local.run(stop, local.app)
        [used] = local.client.get("/api/v1/usage").json()["data"]
        assert (used["full_name"], used["loaded"]) == ("root/pdf", 1)


async def stop(app):
    """End MCP as a server does that stops: what is not counted by then never is."""
    app.close()
    await app.ended()


def test_a_client_that_was_forgotten_meanwhile_is_served_as_before(served, ana, ben, monkeypatch):
    monkeypatch.setattr(http_guests, "MOST_GUESTS", 1)
    skills = {"ana": served.skill(ana, "mine").name, "ben": served.skill(ben, "other").name}
    for caller in (ana, ben, ana, ben):
        result = ask(caller, "tools/call", name="load_skill", arguments={"skill_name": skills[caller.name]})
        assert result["isError"] is False
    served.run(stop, served.app)
    assert [caller.data("usage")[0]["loaded"] for caller in (ana, ben)] == [2, 2]


@pytest.mark.parametrize("header", [{"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_a_page_of_another_site_is_kept_out_of_a_local_server(start, header):
    with start(person="root") as local:
        assert post(local.client, "tools/list", headers=header).status_code == 403


def test_a_token_that_ended_ends_mcp(served, ana):
    served.skill(ana, "mine")
    ask(ana, "resources/list")
    served.run(served.yard.tokens.revoke, ana.principal, ana.id, why=Why())
    assert post(ana, "resources/list").status_code == 401


def test_a_caller_who_asks_too_often_waits(start):
    with start(rate_limit=60) as served:
        ana = served.token("ana")
        answers = [post(ana, "server/discover").status_code for _ in range(15)]
        assert 429 in answers


def test_an_older_client_has_a_session_that_is_only_its_own(served, ana, ben):
    served.skill(ana, "mine")
    hello = old(ana, "initialize", **HELLO)
    session = hello.headers["mcp-session-id"]
    assert result_of(hello)["capabilities"]["tools"]["listChanged"] is True
    assert old(ana, "notifications/initialized", session, None).status_code == 202
    [resource] = result_of(old(ana, "resources/list", session))["resources"]
    assert resource["uri"] == "skill://ana/mine/SKILL.md"
    assert old(ben, "resources/list", session).status_code == 404
    assert ana.delete("/mcp", headers={**OLD, "mcp-session-id": session}).status_code == 200
    assert old(ana, "resources/list", session).status_code == 404


def test_blanks_around_a_header_are_no_part_of_it(ana):
    headers = {"mcp-name": " skill ", "mcp-method": "tools/call "}
    answer = post(ana, "tools/call", name="skill", arguments={"skill": "x"}, headers=headers)
    assert answer.status_code == 200


def test_a_server_that_nobody_asked_for_mcp_has_not_imported_it():
    code = "import sys, skillyard.server.serving as s; s.Application; from skillyard.server.routing import LazyApi; "
    code += (
        "LazyApi().complete(); sys.exit(any(name.partition('.')[0] in {'mcp', 'mcp_types'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
