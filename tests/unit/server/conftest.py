"""The whole application over a real yard (SQLite, blobs on disk), used with real tokens."""

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest
from fastapi.testclient import TestClient

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.library.folder import FolderLibrary
from skillyard.registry.skills import Visibility
from skillyard.server.app import Application
from skillyard.server.opened import Opened

WHY = Why()
PATIENCE = 60


@dataclass
class Token:
    """A caller with a token: `ana.get("me")` asks /api/v1/me."""

    served: "Served"
    name: str
    secret: str
    id: str

    def request(self, method, path, *, headers=None, **given):
        url = path if path.startswith("/") else f"/api/v1/{path}"
        headers = {"authorization": f"Bearer {self.secret}", **(headers or {})}
        return self.served.client.request(method, url, headers=headers, **given)

    def __getattr__(self, method):
        return partial(self.request, method.upper())

    def data(self, path, **given):
        answer = self.get(path, **given)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    @property
    def principal(self):
        return self.served.run(self.served.yard.access.by_token, self.secret).principal


@dataclass
class Served:
    client: TestClient
    app: Application
    yard: object
    streams: list["Stream"] = field(default_factory=list)

    def run(self, call, *given, **named):
        """Call a coroutine function in the event loop that the yard belongs to."""
        return self.client.portal.call(partial(call, *given, **named))

    def root(self):
        return self.run(self.yard.access.operator, "root")

    def token(self, name, *, scope=Scope.ADMIN, admin=False, tenant="default", **given):
        """A token of someone, who is made if need be."""
        root = self.root()
        place = self.run(self.yard.people.ensure_tenant, tenant)
        self.run(self.yard.people.ensure_person, place, name, admin=admin)
        made = self.run(
            self.yard.tokens.create, root, label="test", person=name, scope=scope, tenant=tenant, why=WHY, **given
        )
        return Token(self, name, made.secret, made.token.id)

    def skill(self, owner, name, *, namespace=None, visibility=Visibility.PRIVATE):
        fields = {"name": name, "description": f"Does {name}."}
        return self.run(
            self.yard.registry.workbench.create_written,
            owner.principal,
            fields,
            f"# {name}\n",
            namespace=namespace,
            visibility=visibility,
            why=WHY,
        )

    def number(self):
        return self.run(self.yard.database.number)

    def stream(self, caller, query="", **headers):
        """Open /events as a caller; it is closed with the test."""
        stream = Stream(self, caller, query, headers)
        self.streams.append(stream)
        return stream


class Stream:
    """A reader of events that speaks ASGI, so that it can read while others write."""

    def __init__(self, served, caller, query, headers):
        self._served = served
        self._queue = None
        self.status = None
        names = {"host": "127.0.0.1", **headers}
        if caller is not None:
            names["authorization"] = f"Bearer {caller.secret}"
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/api/v1/events",
            "raw_path": b"/api/v1/events",
            "query_string": query.encode(),
            "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in names.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        served.run(self._begin)

    async def _begin(self):
        self._queue = asyncio.Queue()
        self._gone = asyncio.Event()
        self._task = asyncio.create_task(self._served.app(self._scope, self._receive, self._send))
        await asyncio.wait_for(self._queue.get(), PATIENCE)

    async def _receive(self):
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self._queue.put_nowait(message["body"].decode())
            if not message.get("more_body"):
                self._queue.put_nowait(None)

    def block(self):
        """The next block of text; None at the end."""

        async def get():
            return await asyncio.wait_for(self._queue.get(), PATIENCE)

        return self._served.run(get)

    def event(self):
        """The next event as (id, name, data); heartbeats are passed over, None is the end."""
        while (text := self.block()) is not None:
            fields = dict(line.split(": ", 1) for line in text.splitlines() if line and not line.startswith(":"))
            if "data" in fields:
                return int(fields["id"]), fields["event"], json.loads(fields["data"])
        return None

    def close(self):
        async def leave():
            self._gone.set()
            await asyncio.wait_for(self._task, PATIENCE)

        self._served.run(leave)


@pytest.fixture
def root(tmp_path):
    """A folder of skills on the server's machine."""
    (tmp_path / "skills").mkdir()
    return tmp_path / "skills"


@pytest.fixture
def start(tmp_path, new_home, root) -> Callable:
    """Serve a yard: `with start(person="root") as served` for the person at this machine, else for tokens."""

    @contextmanager
    def _start(*, person=None, library=None, **given):
        settings = Settings(home=new_home(tmp_path / "home"), **given)
        made = {}

        @asynccontextmanager
        async def opening():
            async with open_yard(settings) as yard:
                app = Application(yard, library or FolderLibrary(root), settings, person=person)
                made.update(yard=yard, app=app)
                yield app
                app.close()
                await app.ended()

        server = Opened(opening)
        with TestClient(server, base_url="http://127.0.0.1:8321", raise_server_exceptions=False) as client:
            served = Served(client, made["app"], made["yard"])
            yield served
            for stream in served.streams:
                stream.close()

    return _start


@pytest.fixture
def served(start):
    """A yard for people with tokens."""
    with start() as served:
        yield served
