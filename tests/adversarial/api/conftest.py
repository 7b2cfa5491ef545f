"""A yard for people with tokens, asked over ASGI in the test's own event loop: thousands of requests in seconds."""

import asyncio
import hashlib
import io
import itertools
import zipfile
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from urllib.parse import unquote_to_bytes

import httpx
import pytest
from tests.adversarial.api.learned_routes import LearnedTargets
from tests.adversarial.api.learning_routes import LearningTargets

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.server.app import Application

ADMIN_TOKEN = "sky_the-operator-of-the-yard"
BASE = "http://yard.test"
CODES = {
    400: {"usage"},
    404: {"not_found"},
    405: {"usage"},
    409: {"conflict"},
    413: {"limit_exceeded"},
    414: {"limit_exceeded"},
    422: {"invalid_input"},
    431: {"limit_exceeded"},
}


class Served:
    """The whole application, what is behind it, and a way to ask it."""

    def __init__(self, runner, yard, app, home):
        self.runner, self.yard, self.app, self.home = runner, yard, app, home

    def run(self, call, *given, **named):
        return self.runner.run(call(*given, **named))

    def ask(self, method, path, secret=None, *, headers=None, raw_body=None, **given):
        """One request. `raw_body` is a list of pieces that are sent as they are; an endless answer is cut off."""
        url = path if path.startswith("/") else f"/api/v1/{path}"
        request = httpx.Request(method, f"{BASE}{url}", **given)
        pieces = [request.read()] if raw_body is None else raw_body
        names = [(name.lower(), value) for name, value in request.headers.raw]
        if raw_body is not None:
            names = [(name, value) for name, value in names if name not in {b"content-length", b"content-type"}]
        if secret is not None:
            names.append((b"authorization", f"Bearer {secret}".encode()))
        names += [(name.encode().lower(), _bytes(value)) for name, value in (headers or {}).items()]
        answer = self.wire(request.method, request.url.raw_path, names, pieces)
        if answer is None:
            return None
        status, names, body = answer
        return httpx.Response(status, headers=names, content=body, request=request)

    def wire(self, method, target, headers, pieces):
        """Status, headers and body of the answer to a request as it goes over the wire; None for no answer."""
        return self.runner.run(self._asked(method, target, headers, pieces))

    async def _asked(self, method, target, headers, pieces):
        path, _, query = target.partition(b"?")
        waiting = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        waiting = waiting or [{"type": "http.request", "body": b"", "more_body": True}]
        if pieces[-1:] != [None]:
            waiting[-1]["more_body"] = False
        else:
            waiting[-1] = {"type": "http.disconnect"}
        answered = asyncio.Event()
        start, parts = {}, []

        async def receive():
            if waiting:
                return waiting.pop(0)
            await answered.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))
                answered.set()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote_to_bytes(path).decode("utf-8", "replace"),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": headers,
            "client": ("192.0.2.1", 1),
            "server": ("yard.test", 80),
            "state": {},
        }
        await self.app(scope, receive, send)
        return (start["status"], start["headers"], b"".join(parts)) if start else None

    def number(self):
        return self.run(self.yard.database.number)

    def blobs(self):
        return sorted(path.name for path in self.home.joinpath("blobs").glob("**/*") if path.is_file())

    def state(self):
        """What an attempt that is refused must not change."""
        return self.number(), hashlib.sha256("".join(self.blobs()).encode()).hexdigest()

    def operator(self):
        return self.run(self.yard.access.operator, "admin")

    def person(self, name, *, admin=False, tenant="default"):
        place = self.run(self.yard.people.ensure_tenant, tenant)
        return self.run(self.yard.people.ensure_person, place, name, admin=admin)

    def new_token(self, name, *, scope=Scope.ADMIN, tenant="default", life=None):
        return self.run(
            self.yard.tokens.create,
            self.operator(),
            label=f"{name} {scope}",
            person=name,
            scope=scope,
            tenant=tenant,
            expires_in=life,
            why=Why(),
        )

    def token(self, name, *, admin=False, tenant="default", scope=Scope.ADMIN):
        """The secret of a new token of someone, who is made if need be."""
        self.person(name, admin=admin, tenant=tenant)
        return self.new_token(name, tenant=tenant, scope=scope).secret

    def expired_token(self, name):
        return self.new_token(name, life=timedelta(microseconds=1)).secret

    def principal(self, secret):
        return self.run(self.yard.access.by_token, secret).principal


def _bytes(value):
    return value if isinstance(value, bytes) else value.encode()


PLACES = {
    "private": ("crew", "private", "owner"),
    "public": ("crew", "public", "owner"),
    "discoverable": ("crew", "discoverable", "owner"),
    "personal": ("olga", "private", "owner"),
    "system": ("system", "public", "tenant_admin"),
    "pending": ("board", "private", "paul"),
}
"""The namespace of each kind of skill, who may see it, and who makes it."""


@dataclass
class World(LearnedTargets, LearningTargets):
    """People in every relation to a few skills, made once; and throwaways of everything for those who may change it."""

    served: object
    secrets: dict = field(default_factory=dict)
    fixed: dict = field(default_factory=dict)
    numbers: object = field(default_factory=itertools.count)

    def __post_init__(self):
        served = self.served
        for name, given in {
            "stranger": {},
            "viewer": {},
            "editor": {},
            "publisher": {},
            "team_admin": {},
            "disabled": {},
            "extra": {},
            "paul": {},
            "foreigner": {"tenant": "other"},
            "foreign_admin": {"tenant": "other", "admin": True},
            "tenant_admin": {"admin": True},
            "otto": {"tenant": "third"},
        }.items():
            person = name.replace("_", "-")
            self.secrets[name] = served.token(person, **given)
        self.secrets["owner"] = served.token("olga")
        for scope in ("read", "write", "publish"):
            self.secrets[f"owner_{scope}"] = served.new_token("olga", scope=Scope(scope)).secret
        self.secrets["expired"] = served.expired_token("olga")
        self.secrets["revoked"] = served.new_token("olga").secret
        self.secrets["operator"] = ADMIN_TOKEN
        self.secrets["anonymous"] = None
        self.did("owner", "DELETE", f"tokens/{served.principal(self.secrets['revoked']).token_id}")
        for team in ("crew", "board"):
            self.did("owner", "POST", "namespaces", json={"name": team})
            for name in ("viewer", "editor", "publisher"):
                self.did("owner", "PUT", f"namespaces/{team}/members/{name}", json={"role": name})
            self.did("owner", "PUT", f"namespaces/{team}/members/team-admin", json={"role": "admin"})
            self.did("owner", "PUT", f"namespaces/{team}/members/paul", json={"role": "publisher"})
        self.did("owner", "PUT", "namespaces/board/policy", json={"review": True})
        self.did("tenant_admin", "PUT", "tenant/policy", json={"discoverable": True})
        self.did("tenant_admin", "POST", "people/disabled/disable")
        library = served.home / "skills" / "folder-skill"
        library.mkdir(parents=True)
        (library / "SKILL.md").write_text("---\nname: folder-skill\ndescription: Is on the machine.\n---\n")

    def ask(self, caller, method, path, **given):
        return self.served.ask(method, path, self.secrets[caller], **given)

    def did(self, caller, method, path, **given):
        """Do something that this caller may do."""
        answer = self.ask(caller, method, path, **given)
        assert answer.is_success, (caller, method, path, answer.status_code, answer.text)
        return answer.json()["data"]

    def new(self):
        return f"thing-{next(self.numbers)}"

    def skill(self, kind, name=None):
        """The parts of the addresses of a new skill with a file and a version."""
        place, shown, by = PLACES[kind]
        body = {"name": name or self.new(), "description": "Secretly does it.", "namespace": place, "visibility": shown}
        files = [{"path": "notes.md", "content": "Notes.\n"}]
        made = self.did(by, "POST", "skills", json={**body, "content": "# It\n", "files": files})
        self.did(by, "POST", f"skills/{made['id']}/versions", json={"version": "1.0.0"})
        notes = next(file for file in made["files"] if file["path"] == "notes.md")
        parts = {"skill_id": made["id"], "namespace": place, "name": made["name"], "digest": made["digest"]}
        return {**parts, "file_id": notes["id"], "path": "notes.md", "version": "1.0.0", "tag": "tested"}

    def target(self, kind, *, fresh):
        """The parts of an address: those of a throwaway, or of what everyone else is refused, too."""
        if not fresh and kind in self.fixed:
            return self.fixed[kind]
        made = {**self._made(kind), "new": self.new()}
        self.fixed.setdefault(kind, made)
        return made

    def _made(self, kind):
        if kind == "deleted":
            made = self.skill("private")
            self.did("owner", "DELETE", f"skills/{made['skill_id']}")
            return made
        if kind == "discoverable":
            return {**self.skill(kind), **self._artifact}
        if kind in PLACES:
            return self.skill(kind, {"private": "hidden"}.get(kind) if kind not in self.fixed else None)
        return getattr(self, f"_{kind.replace(' ', '_')}")()

    @cached_property
    def _artifact(self):
        self.skill("discoverable", "known-to-all")
        index = self.did_raw("/.well-known/agent-skills/index.json")
        skill_id, file = next(one["url"] for one in index["skills"] if one["name"] == "known-to-all").split("/")
        return {"artifact_of": skill_id, "file": file}

    def did_raw(self, path):
        answer = self.served.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def _none(self):
        return {}

    def _missing(self):
        parts = {"skill_id": "0192f3c4-7b1e-7c3a-9a55-2f6d5b7e1c20", "namespace": "crew", "name": "not-there"}
        file_id = "5f0f7a3a-5f0e-5c84-8c0e-6a0d1c7a9f10"
        return {**parts, "file_id": file_id, "path": "notes.md", "version": "1.0.0", "tag": "tested"}

    def _archive(self):
        return {"archive": archive(self.new())}

    def _crew(self):
        return {"name": "crew", "person": "extra"}

    def _olga(self):
        return {"name": "olga"}

    def _no_namespace(self):
        return {"name": "never-made"}

    def _member(self):
        self.did("owner", "PUT", "namespaces/crew/members/extra", json={"role": "viewer"})
        return {"name": "crew", "person": "extra"}

    def _extra(self):
        return {"name": "extra"}

    def _token(self):
        made = self.did("owner", "POST", "tokens", json={"label": "throwaway"})
        return {"token_id": made["id"]}

    def _edit(self):
        made = self.skill("private")
        self.did("owner", "PUT", f"skills/{made['skill_id']}", json={"description": "Edited."})
        return {"number": str(self.served.number())}

    def _agent(self):
        return {"agent_id": self.did("tenant_admin", "POST", "agents", json={"name": self.new()})["id"]}

    def _agent_public(self):
        public = self.target("public", fresh=False)
        return {**self._agent(), "skill_id": public["skill_id"], "full_name": f"{public['namespace']}/{public['name']}"}

    def _agent_attached(self):
        made = self._agent_public()
        self.did("tenant_admin", "PUT", f"agents/{made['agent_id']}/skills/{made['skill_id']}", json={})
        return made

    def _tenant_attached(self):
        made = self.skill("public")
        self.did("tenant_admin", "PUT", f"tenant/skills/{made['skill_id']}", json={})
        return made

    def _folder(self):
        return {"skill_id": "folder-skill", "path": "SKILL.md"}

    def _sandbox(self):
        return {"sandbox_id": self.made_yard("/v1/sandboxes", {"ttl": 3600})["id"]}

    def _execution(self):
        made = self._sandbox()
        run = self.made_yard(f"/v1/sandboxes/{made['sandbox_id']}/shell/exec", {"command": "echo it > file"})
        return {**made, "execution_id": run["execution_id"]}

    def _no_sandbox(self):
        return {"sandbox_id": "sandbox-000000000000", "trace_ref": "blob:blob-000000000000"}

    def _cargo(self):
        return {"cargo_id": self.made_yard("/v1/cargos", {})["id"]}

    def made_yard(self, path, body):
        """Something of the owner's under /v1, whose answers are plain."""
        answer = self.ask("owner", "POST", path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def _plugin(self):
        self._artifact  # noqa: B018 -- there must be something to list
        plugins = self.did_raw("/.claude-plugin/marketplace.json")["plugins"]
        return {"plugin": plugins[0]["name"]}


def archive(name, **files):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        packed.writestr(f"{name}/SKILL.md", f"---\nname: {name}\ndescription: Came packed.\n---\n")
        for path, data in files.items():
            packed.writestr(f"{name}/{path}", data)
    return written.getvalue()


@contextmanager
def serve(home):
    # Nothing that these tests run needs to be contained.
    settings = Settings(
        home=home,
        auth="token",
        admin_token=ADMIN_TOKEN,
        rate_limit=0,
        sandbox_backend="unsafe",
        sandboxes_per_person=0,
    )
    (home / "skills").mkdir(parents=True)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yard = runner.run(stack.enter_async_context(open_yard(settings)))
        app = Application(yard, FolderLibrary(home / "skills"), settings, person=None)
        try:
            yield Served(runner, yard, app, settings.home)
        finally:
            app.close()
            runner.run(stack.aclose())


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("yard") / "home") as served:
        yield served


@pytest.fixture(scope="module")
def world(served):
    return World(served)


@pytest.fixture(scope="session")
def pack():
    return archive


@pytest.fixture(scope="module")
def yard(world):
    """The yard with a skill that must stay as it is."""
    world.neighbour = world.skill("private", "neighbour")
    return world


@pytest.fixture
def refused(yard):
    """Sends something as the owner and expects a refusal that changes nothing; answers with the error."""
    before = yard.served.state()

    def send(method, path, *statuses, **given):
        answer = yard.ask("owner", method, path.format(**yard.neighbour), **given)
        assert answer.status_code in (statuses or {400, 404, 405, 413, 414, 422, 431}), answer.text[:500]
        error = answer.json()["error"]
        assert error["code"] in CODES[answer.status_code], error
        assert error["message"]
        assert "Traceback" not in answer.text
        assert len(answer.content) < 100_000
        assert yard.served.state() == before
        return error

    yield send
    assert yard.served.state() == before
    for path in ("skills/{skill_id}", "skills/{skill_id}/files/notes.md", "skills/{skill_id}/export", "skills"):
        assert yard.ask("owner", "GET", path.format(**yard.neighbour)).status_code == 200
