"""What is one person's own stays so over MCP: nothing of it in any tool, resource, prompt, completion or error.

What is asked comes from what the server lists: every tool is called, and every argument must be known here to name
something or nothing, so that a new tool cannot be forgotten.
"""

import asyncio
import json
import re

import httpx2
import pytest
from tests.private_yard import NAME, OF_TENANT, SECRET, private_yard
from tests.strange_calls import KIND_OF, KINDS, NAMES_NOTHING, StrangeCalls

from skillyard.agents.toolsets.names import TOOLSETS
from skillyard.agents.yard_source import YardSource
from skillyard.config.settings import Settings
from skillyard.server.mcp.server import SkillServer

pytestmark = pytest.mark.anyio

TENANT_WIDE = {"feedback", "lesson", "memory", "rule", "agent"}
"""What Bob may know of, and Eve not."""
WRONG_CALL = "cannot be called like this"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def settings(request, tmp_path_factory, new_home):
    home = tmp_path_factory.mktemp("leaks") / "yard"
    if request.param == "sqlite":
        yield Settings(home=new_home(home), sandbox_backend="unsafe")
        return
    empty = request.getfixturevalue("empty_postgres_registry")
    with request.getfixturevalue("new_postgres_database")(empty) as url:
        yield Settings(home=home, sandbox_backend="unsafe", database_url=url)


@pytest.fixture(scope="module")
async def yard(settings):
    async with private_yard(settings) as made:
        yield made


def _hidden_from(yard, who):
    """Words that must not be said to somebody who did not say them first."""
    kinds = yard.things.keys() - {"change", "namespace"} - (TENANT_WIDE if who == "bob" else set())
    kinds -= {"agent"}  # others may call theirs the same
    ids = {str(value).lower() for kind in kinds for value in yard.things[kind]}
    return ids | {NAME} | ({SECRET} if who == "bob" else {SECRET, OF_TENANT})


async def test_every_argument_of_every_tool_is_known_to_name_something_or_nothing(yard):
    async with yard.mcp("bob") as visitor:
        tools = await visitor.tools()
    arguments = {name for tool in tools for name in tool["inputSchema"].get("properties", {})}
    assert arguments - KIND_OF.keys() - NAMES_NOTHING == set(), "say above what these name"
    assert KIND_OF.keys() | NAMES_NOTHING == arguments, "these are no more"
    assert yard.things.keys() >= KINDS.keys()
    names = {tool["name"] for tool in tools}
    for toolset in TOOLSETS:
        async with yard.mcp("bob", f"toolsets={toolset}") as visitor:
            assert {tool["name"] for tool in await visitor.tools()} <= names


@pytest.mark.parametrize("who", ["bob", "eve"])
async def test_no_tool_tells_anything_of_another_person(yard, who):
    hidden = _hidden_from(yard, who)
    async with yard.mcp(who) as visitor:
        tools = await visitor.tools()
        assert not [word for word in hidden if word in json.dumps(tools).lower()]
        told = [
            leak
            for turn, tool in enumerate(tools)
            for arguments in StrangeCalls(yard, who, tool, turn).all_hers()
            for leak in _leaks(hidden, tool["name"], arguments, await visitor.call(tool["name"], **arguments))
        ]
    assert told == []
    await asyncio.to_thread(_all_is_as_it_was, yard)


def _leaks(hidden, tool, arguments, said):
    """What an answer tells beyond what was asked; a call that is none tells nothing about the tool."""
    words = [word for word in hidden if word in said.lower() and word not in json.dumps(arguments).lower()]
    return [(tool, arguments, word, said) for word in (*words, *([WRONG_CALL] if WRONG_CALL in said else ()))]


def _all_is_as_it_was(yard):
    """None of those calls changed or took away anything of Ann's."""
    ann = yard.clients["ann"]
    things = yard.things
    skill = ann.skill(NAME)
    assert (skill["digest"], skill["visibility"]) == (things["digest"][0], "private")
    assert ann.sandboxes.read(things["sandbox"][0], f"{SECRET}.txt") == SECRET
    assert ann.releases.release(things["release"][0])["is_active"]
    assert ann.agent_skills("support")["attached"] == []
    assert not [run for run in ann.releases.runs()["items"] if run["verdict"] != "PASS"]


@pytest.mark.parametrize("who", ["bob", "eve"])
async def test_what_is_private_is_told_like_what_is_not_there(yard, who):
    """An error must not say that there is something after all; nor must that nothing went wrong."""
    known = {"namespace", "agent", "digest", *(TENANT_WIDE if who == "bob" else ())}
    hidden = _hidden_from(yard, who)
    async with yard.mcp(who) as visitor:
        told, compared = [], 0
        for turn, tool in enumerate(await visitor.tools()):
            calls = StrangeCalls(yard, who, tool, turn)
            for argument, value in ((name, value) for name in calls.naming for value in calls.hers(name)):
                real = calls.with_own(argument, value)
                said = await visitor.call(tool["name"], **real)
                told += _leaks(hidden, tool["name"], real, said)
                if KIND_OF[argument] not in known:
                    instead = await visitor.call(tool["name"], **{**real, argument: _unreal(value)})
                    compared += 1
                    if _stable(_without(said, value)) != _stable(_without(instead, _unreal(value))):
                        told.append((tool["name"], real, said, instead))
    assert told == []
    assert compared > 100
    await asyncio.to_thread(_all_is_as_it_was, yard)


def _unreal(value):
    """What looks the same, and is nothing."""
    if isinstance(value, list):
        return [_unreal(each) for each in value]
    if isinstance(value, int):
        return value + 1_000_000
    swapped = value.replace("ledger", "lodger").replace("LEDGER", "LODGER").replace("steps", "stops")
    return swapped if swapped != value else f"{value[:-4]}0000"


def _without(said, value):
    value = str(value[0] if isinstance(value, list) else value)
    for name in (value, value.rpartition("/")[2]):
        said = said.replace(name, "…").replace(name.lower(), "…")
    return said


def _stable(said):
    """What was said, less what is another one each time."""
    return re.sub(
        r"sha256:\w{64}|[0-9a-f]{8}-[0-9a-f-]{27}|\b[a-z]+-[0-9a-f]{12}\b|\d{4}-\d\d-\d\dT[\d:.]+Z", "…", said
    )


@pytest.mark.parametrize("who", ["bob", "eve"])
async def test_no_resource_prompt_completion_or_manifest_shows_it(yard, who):
    skill, unreal = f"skill://ann/{NAME}", _unreal(f"skill://ann/{NAME}")
    async with yard.mcp(who) as visitor:
        for method in ("resources/list", "prompts/list", "skills/list", "tools/list"):
            told = await visitor.pages(method)
            assert "teapot-notes" in told, method
            assert NAME not in told, method
        await visitor.ask("resources/templates/list")
        for path in ("", "/SKILL.md", "/scripts/run.py", f"/references/{SECRET[:3]}.md", "/references", "/../../x"):
            for method in ("resources/read", "skills/get", "resources/directory/read"):
                said = await visitor.ask(method, uri=f"{skill}{path}")
                instead = await visitor.ask(method, uri=f"{unreal}{path}")
                assert _without(said, NAME) == _without(instead, _unreal(NAME))
        for name in yard.things["skill"]:
            said, instead = [await visitor.ask("prompts/get", name=each) for each in (name, _unreal(name))]
            assert _without(said, name) == _without(instead, _unreal(name))
        template = {"type": "ref/resource", "uri": "skill://{+skill}/{+path}"}
        prompt = {"type": "ref/prompt", "name": f"ann/{NAME}"}
        for ref in (template, prompt):
            for argument in ({"name": "skill", "value": "ann/quok"}, {"name": "skill", "value": ""}):
                assert NAME not in await visitor.ask("completion/complete", ref=ref, argument=argument)
            context = {"arguments": {"skill": f"ann/{NAME}"}}
            argument = {"name": "path", "value": ""}
            told = json.loads(await visitor.ask("completion/complete", ref=ref, argument=argument, context=context))
            assert told.get("completion", {}).get("values", []) == []
        assert SECRET not in "".join(visitor.heard).lower()
        # Following a resource answers nothing; what it leads to is in the test of changes.
        followed = {"resources/subscribe", "resources/unsubscribe", "subscriptions/listen"}
        answered = {method for method in SkillServer(None)._request_handlers if "/" in method}
        assert answered - {"server/discover"} - followed - {"tools/call"} == visitor.methods


async def test_whoever_may_see_it_does(yard):
    """So that what the others are not shown is really there."""
    async with yard.mcp("ann") as visitor:
        assert SECRET in await visitor.call("read_skill_document", skill_name=NAME, document_path="SKILL.md")
        assert SECRET in await visitor.call("find_helpful_skills", task_description="quokka ledgers")
        assert NAME in await visitor.call("show_feedback", feedback_id=yard.things["feedback"][0])
        assert SECRET in await visitor.ask("resources/read", uri=f"skill://ann/{NAME}/SKILL.md")
        assert NAME in await visitor.pages("prompts/list")
        assert NAME in await visitor.pages("skills/list")
        template = {"type": "ref/resource", "uri": "skill://{+skill}/{+path}"}
        argument = {"name": "skill", "value": "ann/quok"}
        assert NAME in await visitor.ask("completion/complete", ref=template, argument=argument)
        assert SECRET in await visitor.call("read_file", sandbox_id=yard.things["sandbox"][0], path=f"{SECRET}.txt")
    async with yard.mcp("bob", "toolsets=learning") as visitor:
        assert OF_TENANT in await visitor.call("recall_memory", query=f"the {OF_TENANT}")
        assert OF_TENANT in await visitor.call("show_feedback", feedback_id=yard.things["feedback"][0])


async def test_what_was_said_while_it_was_learned_from_is_for_those_who_see_it(yard):
    """Feedback is everybody's in a tenant; one lesson changed the skill, the other only came across it."""

    def told(name, lesson):
        show = yard.clients[name].connection.send("GET", f"/lessons/{lesson}", query={"transcript": "true"})["data"]
        said = yard.clients[name].connection.send("GET", f"/lessons/{lesson}/transcript")["data"]
        return show["meaning"], json.dumps([show, said])

    for lesson in yard.things["lesson"]:
        meaning, seen = await asyncio.to_thread(told, "ann", lesson)
        assert SECRET in seen
        again, seen = await asyncio.to_thread(told, "bob", lesson)
        assert again == meaning
        assert not [word for word in _hidden_from(yard, "bob") if word in seen.lower()]


async def test_what_one_writes_about_it_finds_nothing(yard):
    """A copy of it is like nothing, and a reference to it leads nowhere: as if it were not there."""
    bundle = await asyncio.to_thread(yard.clients["ann"].bundle, NAME)
    copied = next(file.data for file in bundle if file.path == "SKILL.md").decode().partition("\n\n")[2]
    heard = []
    async with yard.mcp("bob", "toolsets=registry") as visitor:
        for name, copy in ((NAME, "copy-a"), (_unreal(NAME), "copy-b")):
            words = {"description": "Keeps the books of marsupials.", "content": f"{copied}\nUse `{name}` first.\n"}
            await visitor.call("create_skill", name=copy, **words)
            told = [
                await visitor.call(tool, skill=copy)
                for tool in ("get_skill", "get_skill_references", "find_similar_skills", "publish_skill")
            ]
            heard.append([_stable(_without(_without(each, name), copy)) for each in told])
            await visitor.call("delete_skill", skill=copy, reason="It was a copy.")
    assert heard[0] == heard[1]
    assert "marsupials" in heard[0][0]


async def test_what_others_list_and_count_is_the_same_with_more_of_it(yard):
    ann, sandbox = yard.clients["ann"], yard.things["sandbox"][0]

    def more():
        words = {"description": "More quokka ledgers.", "content": "# Quokka ledgers\n"}
        ann.connection.send("POST", "/skills", body={"name": "quokka-more", **words})
        ann.release("quokka-more", version="1.0.0")
        ann.sandboxes.shell(sandbox, "echo more")
        ann.releases.run_skill("quokka-steps", sandbox_id=sandbox)

    async with yard.mcp("bob") as visitor:
        await _listed(yard, visitor)  # what is loaded is counted, and shows
        before = await _listed(yard, visitor)
        await asyncio.to_thread(more)
        assert await _listed(yard, visitor) == before
    assert len(before) > 40


async def _listed(yard, visitor):
    """What each tool that only looks tells somebody of their own."""
    tools = await visitor.tools()
    looking = [(turn, tool) for turn, tool in enumerate(tools) if tool["annotations"]["readOnlyHint"]]
    calls = {tool["name"]: StrangeCalls(yard, "bob", tool, turn).of_own() for turn, tool in looking}
    told = {name: _stable(await visitor.call(name, **arguments)) for name, arguments in calls.items()}
    return told | {"tools": _stable(json.dumps(tools))}


async def test_a_change_of_it_is_no_news_to_others(yard):
    sources = {name: YardSource(client) for name, client in yard.clients.items()}

    def stamps():
        return {name: source.stamp() for name, source in sources.items()}

    before = await asyncio.to_thread(stamps)
    await asyncio.to_thread(yard.clients["ann"].release, NAME, version="9.0.0")
    after = await asyncio.to_thread(stamps)
    assert [name for name in before if before[name] != after[name]] == ["ann"]


async def test_without_a_token_or_with_a_wrong_one_there_is_nothing(yard):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=accept) as http:
        for headers in ({}, {"Authorization": "Bearer sky_wrong"}, {"Authorization": "Basic YTpi"}):
            answer = await http.post(f"{yard.url}/mcp?toolsets=all", json=body, headers=headers)
            assert answer.status_code == 401
            assert "tools" not in answer.json()
        own = {"Authorization": f"Bearer {yard.secrets['bob']}"}
        answer = await http.post(f"{yard.url}/mcp?source=library", json=body, headers=own)
        assert answer.status_code == 403


async def test_a_session_of_an_older_client_is_of_no_use_to_another_person(yard):
    version = "2025-06-18"
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "prompts/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=accept, base_url=yard.url) as http:

        def post(name, body, **headers):
            own = {"Authorization": f"Bearer {yard.secrets[name]}", **headers}
            return http.post("/mcp", json=body, headers=own)

        begun = await post("ann", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        session = {"Mcp-Session-Id": begun.headers["mcp-session-id"], "MCP-Protocol-Version": version}
        await post("ann", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
        assert NAME in (await post("ann", listing, **session)).text
        stolen = await post("bob", listing, **session)
        assert stolen.status_code in {403, 404}
        assert NAME not in stolen.text
        own = {"Authorization": f"Bearer {yard.secrets['bob']}", **session}
        assert (await http.delete("/mcp", headers=own)).status_code in {403, 404}
        assert NAME in (await post("ann", listing, **session)).text
        await http.delete("/mcp", headers={"Authorization": f"Bearer {yard.secrets['ann']}", **session})
