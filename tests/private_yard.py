"""A served yard in which one person has everything that can be private, and others who ask for it.

A real server, real tokens. Ann has it; Bob is of the same tenant, Eve of another. Each of them has things of their own
too, so that they get as far as the place where Ann's would be looked up.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import mcp_types as types
import uvicorn
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel

from skillyard.agents.toolsets.names import OF_YARDS
from skillyard.agents.toolsets.of_yards import YardToolsets
from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.remote.client import YardClient
from skillyard.remote.connection import Connection
from skillyard.server.app import Application
from skillyard.server.opened import Opened
from skillyard.server.run import address_of, bind

NAME = "quokka-ledger"
"""The skill of Ann's that the others may guess."""
SECRET = "zanzibar"
"""In all that is Ann's own; nobody can guess it."""
OF_TENANT = "xylophone"
"""In what everybody of the tenant may see."""
STEPS = {"kind": "code", "variables": {}, "steps": [{"type": "shell", "cmd": f"echo {SECRET}"}]}
TABLE = {
    "hit_policy": "F",
    "inputs": [{"id": "days", "type": "number"}],
    "outputs": [{"id": "answer", "type": "string"}],
    "rules": [{"when": [">= 1"], "then": [OF_TENANT]}],
}
LESSONS = 8
"""That each of the others holds: more than there are tools for one, which may use it up."""

Things = Mapping[str, Sequence[Any]]
"""Names and ids of things, by their kind."""


class Anything(BaseModel, extra="allow"):
    """An answer of whatever shape."""


class AnyRequest(types.Request[dict[str, Any], str]):
    """A request of any method."""

    method: str
    params: dict[str, Any]


class Visitor:
    """Asks over MCP, and keeps all that was said."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: list[str] = []
        self.methods: set[str] = set()

    async def ask(self, method: str, **params: Any) -> str:
        """The answer to a request, or the error, as it came over the wire."""
        self.methods.add(method)
        try:
            told = await self.client.session.send_request(AnyRequest(method=method, params=params), Anything)
            text = told.model_dump_json()
        except MCPError as error:
            text = json.dumps(error.error.model_dump(mode="json"))
        self.heard.append(text)
        return text

    async def pages(self, method: str) -> str:
        cursor, texts = None, []
        while True:
            text = await self.ask(method, **({"cursor": cursor} if cursor else {}))
            texts.append(text)
            cursor = json.loads(text).get("nextCursor")
            if not cursor:
                return "".join(texts)

    async def call(self, tool: str, **arguments: Any) -> str:
        return await self.ask("tools/call", name=tool, arguments=arguments)

    async def tools(self) -> list[dict[str, Any]]:
        return json.loads(await self.pages("tools/list"))["tools"]


@dataclass(frozen=True, kw_only=True)
class PrivateYard:
    """The yard, and the people in it."""

    url: str
    secrets: Mapping[str, str]
    clients: Mapping[str, YardClient]
    things: Things
    """What Ann has."""
    own: Mapping[str, Things] = field(default_factory=dict[str, Things])
    """What the others have."""

    @asynccontextmanager
    async def mcp(self, name: str, query: str = "toolsets=all") -> AsyncIterator[Visitor]:
        headers = {"Authorization": f"Bearer {self.secrets[name]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{self.url}/mcp?{query}", http_client=http)) as client,
        ):
            yield Visitor(client)


@asynccontextmanager
async def private_yard(settings: Settings) -> AsyncIterator[PrivateYard]:
    """Serves it until the end, and to nobody too often: a quick machine asks more than a person may in a minute."""
    settings = settings.model_copy(update={"rate_limit": 0})
    made: dict[str, Any] = {}

    @asynccontextmanager
    async def opening() -> AsyncIterator[Application]:
        async with open_yard(settings) as opened:
            made["yard"] = opened
            app = Application(opened, FolderLibrary(settings.home), settings, person=None)
            yield app
            app.close()

    async with AsyncExitStack() as stack:
        listening = stack.enter_context(bind("127.0.0.1", 0))
        url = address_of(listening)
        config = uvicorn.Config(Opened(opening), log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        async with asyncio.timeout(60):
            while not server.started:  # noqa: ASYNC110 -- it has no event to wait for
                await asyncio.sleep(0.01)
        secrets = {
            name: await _person(made["yard"], name, tenant, admin=name in {"boss", "eve"})
            for name, tenant in (("boss", "here"), ("ann", "here"), ("bob", "here"), ("eve", "elsewhere"))
        }
        clients = {
            name: YardClient(stack.enter_context(Connection(url, token=secret))) for name, secret in secrets.items()
        }
        try:
            things = await asyncio.to_thread(_anns, clients["ann"], clients["boss"])
            own = {
                name: await asyncio.to_thread(_others, clients[name], clients[admin])
                for name, admin in (("bob", "boss"), ("eve", "eve"))
            }
            yield PrivateYard(url=url, secrets=secrets, clients=clients, things=things, own=own)
        finally:
            server.should_exit = True
            await serving


async def _person(yard: Any, name: str, tenant: str, *, admin: bool) -> str:
    place = await yard.people.ensure_tenant(tenant)
    await yard.people.ensure_person(place, name, admin=admin)
    root = await yard.access.operator("root")
    made = await yard.tokens.create(root, label=name, person=name, tenant=tenant, scope=Scope.ADMIN, why=Why())
    return made.secret


class _Hands:
    """Someone who uses the tools, without a wire."""

    def __init__(self, client: YardClient) -> None:
        self._tools = {tool.name: tool for name in OF_YARDS for tool in YardToolsets(lambda: client).tools(name)}

    def __call__(self, tool: str, /, **arguments: Any) -> Any:
        answer = self._tools[tool].call(**arguments)
        return json.loads(answer) if isinstance(answer, str) and answer.startswith("{") else answer

    def lessons(self, content: str, meanings: Mapping[str, str]) -> tuple[str, list[str]]:
        """Feedback in these hands, and its lessons."""
        given = self("give_feedback", content=content, agents=list(meanings))["id"]
        deadline = time.monotonic() + 30
        while not isinstance(taken := self("take_feedback", seconds=3600), dict):  # until no job works on it
            assert time.monotonic() < deadline
        assert taken["feedback"]["id"] == given
        lessons = self("match_feedback", feedback_id=given, matches=dict(meanings))["items"]
        return given, [lesson["id"] for lesson in lessons]


def _anns(ann: YardClient, boss: YardClient) -> Things:
    """Everything that Ann can have."""
    for agent in ("support", "scout"):
        boss.create_agent({"id": agent, "name": agent, "role": "", "goal": ""})
    use = _Hands(ann)
    files = {f"references/{SECRET}.md": f"# {SECRET}\n", "scripts/run.py": f"print('{SECRET}')\n"}
    words = {"description": f"Keeps the {SECRET} of quokka ledgers.", "content": f"# {SECRET}\n\nQuokka ledgers.\n"}
    skill = use("create_skill", name=NAME, **words, files=files, tags=[SECRET], reason=SECRET)
    use("publish_skill", skill=NAME, notes=SECRET)
    sandbox = use("create_sandbox")
    use("write_file", sandbox_id=sandbox["id"], path=f"{SECRET}.txt", content=SECRET)
    ran = use("execute_shell", sandbox_id=sandbox["id"], command=f"echo {SECRET}", tags=SECRET)
    payload = use("create_skill_payload", payload=STEPS, kind="code")["payload_ref"]
    learned = {"skill_key": "quokka-steps", "summary": SECRET, "source_execution_ids": [ran["execution_id"]]}
    candidate = use("create_skill_candidate", **learned, payload_ref=payload)["id"]
    evaluation = use("evaluate_skill_candidate", candidate_id=candidate, passed=True, report=SECRET)["id"]
    release = use("promote_skill_candidate", candidate_id=candidate, stage="stable", change_summary=SECRET)["id"]
    use("run_skill", skill_key="quokka-steps", sandbox_id=sandbox["id"])
    feedback, lessons = use.lessons(f"Say {OF_TENANT}.", {"scout": "Look", "support": f"Say {OF_TENANT}"})
    use("search_similar_knowledge", lesson_id=lessons[0], query=f"quokka {SECRET}")
    _learn_into_it(use, lessons[1])
    use("finish_feedback", feedback_id=feedback)
    memory = boss.learning.remember(f"The {OF_TENANT} is here.")["effects"][0]["id"]
    rule = boss.learning.create_rule({"name": f"{OF_TENANT} rule", "description": OF_TENANT, "table": TABLE})
    return {
        "skill": [NAME.upper(), f"ann/{NAME}", skill["id"]],
        "sandbox": [sandbox["id"]],
        "cargo": [sandbox["cargo_id"]],
        "execution": [ran["execution_id"]],
        "payload": [payload],
        "candidate": [candidate],
        "evaluation": [evaluation],
        "release": [release],
        "skill_key": ["quokka-steps"],
        "change": [entry["number"] for entry in ann.history(skill=f"ann/{NAME}", limit=2)],
        "feedback": [feedback],
        "lesson": lessons,
        "memory": [memory],
        "rule": [rule["effects"][0]["id"]],
        "agent": ["support"],
        "namespace": ["ann"],
        "digest": [ann.skill(NAME)["digest"]],
    }


def _learn_into_it(use: _Hands, lesson: str) -> None:
    """Have feedback, which everybody of the tenant may read, change the private skill."""
    named: Any = {"lesson_id": lesson, "knowledge_type": "SKILL", "knowledge_id": NAME}
    use("search_similar_knowledge", lesson_id=lesson, query=f"quokka {SECRET}")
    assert SECRET in json.dumps(use("get_knowledge_detail", **named))
    use("analyze_knowledge_conflict", **named, relation="EXTENDS", reason=SECRET)
    body = f"# {SECRET}\n\nQuokka ledgers.\n\nSay it.\n"
    artifact = {"name": NAME, "description": f"Keeps the {SECRET} of quokka ledgers.", "body_markdown": body}
    done = use("commit_to_skill", lesson_id=lesson, operation="UPDATE", skill_id=NAME, skill_artifact=artifact)
    assert done["status"] in {"committed", "proposed"}, done


def _others(person: YardClient, admin: YardClient) -> Things:
    """What somebody else has, of each kind that is asked for together with another."""
    use = _Hands(person)
    name = person.me()["name"]
    skill = use("create_skill", name="teapot-notes", description="Notes on teapots.", content="# Teapots\n")
    use("publish_skill", skill="teapot-notes")
    sandbox = use("create_sandbox")["id"]
    ran = use("execute_shell", sandbox_id=sandbox, command="echo tea")["execution_id"]
    candidate = use("create_skill_candidate", skill_key="tea", source_execution_ids=[ran], summary="Tea")["id"]
    use("evaluate_skill_candidate", candidate_id=candidate, passed=True)
    agents = [f"{name}-{number}" for number in range(LESSONS)]
    for each in agents:
        admin.create_agent({"id": each, "name": each, "role": "", "goal": ""})
    feedback, lessons = use.lessons(f"Tea for {name}.", dict.fromkeys(agents, "Make tea"))
    return {
        "skill": [skill["full_name"]],
        "sandbox": [sandbox],
        "execution": [ran],
        "candidate": [candidate],
        "skill_key": ["tea"],
        "feedback": [feedback],
        "lesson": lessons,
        "agent": agents[:1],
    }
