import re
import subprocess
import sys

import pytest
from fastapi.testclient import TestClient

from skillyard.server.routing import GROUPS, LazyApi

SLOW = {"alembic", "docker", "joserfc", "mcp", "obstore", "playwright", "psycopg", "structlog", "uvicorn", "watchfiles"}
PARAMETER = re.compile(r"\{[^}]+\}")
ROUTES = [(group, route.path) for group in GROUPS for route in group.router().routes]


def routes(api):
    """Those of the groups, which come first."""
    return [(route.path, sorted(route.methods)) for route in api.routes if route.path != "/openapi.json"]


@pytest.mark.parametrize(("group", "path"), ROUTES, ids=[f"{group.module} {path}" for group, path in ROUTES])
def test_a_group_claims_every_path_of_its_routes(group, path):
    assert group.claims(PARAMETER.sub("x", path))


def test_only_the_groups_that_a_path_needs_are_there_and_each_once():
    api = LazyApi()
    client = TestClient(api, raise_server_exceptions=False)
    for path in ("/nothing", "/v1/cargos", "/v1/cargos/x"):
        client.get(path)
    one = "/v1/cargos/{cargo_id}"
    assert sorted(routes(api)) == [("/v1/cargos", ["GET"]), ("/v1/cargos", ["POST"]), (one, ["DELETE"]), (one, ["GET"])]


def test_the_order_of_the_routes_does_not_depend_on_what_is_asked_first():
    whole, api = LazyApi(), LazyApi()
    whole.complete()
    client = TestClient(api, raise_server_exceptions=False)
    for path in ("/v1/cargos", "/api/v1/skills/x/usage", "/api/v1/skills/x/versions", "/healthz", "/api/v1/skills/x"):
        client.get(path)
    there = routes(api)
    assert 20 < len(there) < len(routes(whole))
    assert there == [route for route in routes(whole) if route in there]
    api.complete()
    assert routes(api) == routes(whole)


def test_the_contract_tells_of_all_routes_whatever_was_asked_before():
    api = LazyApi()
    client = TestClient(api)
    told = client.get("/openapi.json").json()["paths"]
    assert {"/healthz", "/api/v1/skills/{skill_id}", "/v1/sandboxes/{sandbox_id}/shell/exec"} <= set(told)


def test_an_application_imports_neither_routes_nor_what_few_of_them_need_before_they_are_asked_for():
    code = "import sys, skillyard.server.local; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    imported = set(done.stdout.split())
    assert "skillyard.server.app" in imported
    assert not imported & {group.module for group in GROUPS}
    assert not imported & SLOW
