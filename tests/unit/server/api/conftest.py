"""A real yard (SQLite, blobs on disk) behind some routers, used by whoever a test says.

A module that tests other routes overrides the fixture `routers`.
"""

import math
from contextlib import asynccontextmanager
from functools import partial

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.history.entries import Why
from skillyard.identity.principals import Role, Scope
from skillyard.server.api import files, imports, skills, versions
from skillyard.server.errors import install_error_handlers

PERSON = b"x-person"


class Person:
    """Someone who asks: `ana.get("/api/v1/skills")`, or short for below that: `ana.get("skills")`."""

    def __init__(self, api, key, row):
        self.api, self.key, self.id, self.name = api, key, row.id, row.name

    def request(self, method, url, *, headers=None, **kwargs):
        path = url if url.startswith("/") else f"/api/v1/{url}"
        return self.api.client.request(method, path, headers={"x-person": self.key, **(headers or {})}, **kwargs)

    def get(self, url, **kwargs):
        return self.request("GET", url, **kwargs)

    def post(self, url, **kwargs):
        return self.request("POST", url, **kwargs)

    def put(self, url, **kwargs):
        return self.request("PUT", url, **kwargs)

    def delete(self, url, **kwargs):
        return self.request("DELETE", url, **kwargs)


class Api:
    """The application, its yard, and the people in it."""

    def __init__(self):
        self.client = self.yard = None
        self.principals = {}

    def run(self, call, *args, **kwargs):
        """Call a coroutine function of the yard in the loop that the yard belongs to."""
        return self.client.portal.call(partial(call, *args, **kwargs))

    def number(self):
        return self.run(self.yard.database.number)

    def person(self, name, *, scope=Scope.ADMIN, admin=False, tenant="default"):
        """Someone of that name, made if need be, with a token of that scope."""
        place = self.run(self.yard.people.ensure_tenant, tenant)
        row = self.run(self.yard.people.ensure_person, place, name, admin=admin)
        key = f"{tenant}/{name}/{scope}"
        self.principals[key] = partial(self.yard.access.of_person, row, scope=scope)
        return Person(self, key, row)

    def allow_world(self):
        """Let all publishers of the tenant show skills to the world."""
        self.person("root", admin=True)
        root = self.run(self.principals["default/root/" + str(Scope.ADMIN)])
        self.run(self.yard.world.allow, root, allowed=True, why=Why())

    def team(self, name, owner, **roles):
        """A team of `owner`, with further people in it by name: `team("crew", ana, bob="editor")`."""
        principal = self.run(self.principals[owner.key])
        self.run(self.yard.namespaces.create_team, principal, name, why=Why())
        principal = self.run(self.principals[owner.key])
        for person, role in roles.items():
            self.run(self.yard.namespaces.set_member, principal, name, person, Role(role), why=Why())


class Identified:
    """Stands in for authentication: the principal is whom the header names."""

    def __init__(self, app, *, api):
        self.app, self.api = app, api

    async def __call__(self, scope, receive, send):
        key = dict(scope.get("headers", [])).get(PERSON)
        if key is not None:
            principal = await self.api.principals[key.decode()]()
            scope.setdefault("state", {}).update(principal=principal, fresh_until=math.inf)
        await self.app(scope, receive, send)


@pytest.fixture
def routers():
    return [skills.router, files.router, imports.router, versions.router]


@pytest.fixture
def api(tmp_path, new_home, routers):
    made = Api()

    @asynccontextmanager
    async def lifespan(app):
        async with open_yard(Settings(home=new_home(tmp_path / "home"))) as yard:
            app.state.yard = made.yard = yard
            yield

    app = FastAPI(lifespan=lifespan)
    install_error_handlers(app)
    for router in routers:
        app.router.routes.extend(router.routes)  # as they are: including would make each of them again
    app.add_middleware(Identified, api=made)
    with TestClient(app, raise_server_exceptions=True) as made.client:
        yield made


@pytest.fixture
def ana(api):
    return api.person("ana")


@pytest.fixture
def bob(api):
    return api.person("bob")
