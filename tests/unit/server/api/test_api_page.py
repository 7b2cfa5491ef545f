"""The page on the API names every route of skills and every error."""

import re
from pathlib import Path

import skillyard.errors
from skillyard.registry.policies import PolicyError
from skillyard.server.api import files, imports, skills, versions
from skillyard.server.yard.errors import CODES

DOCS = Path(__file__).parents[4] / "docs"
TEXT = (DOCS / "api.md").read_text(encoding="utf-8")
SANDBOXES = (DOCS / "sandboxes.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(?:(?:GET|POST|PUT|DELETE) )?([/…][^`?]*)`", TEXT))


def test_every_route_of_skills_is_on_the_page():
    routes = [route for module in (skills, files, imports, versions) for route in module.router.routes]
    assert len(routes) > 20
    for route in routes:
        path = route.path.removeprefix("/api/v1").replace(":path", "")
        short = {f"…{path[at:]}" for at in range(len(path)) if path[at] == "/"}
        assert NAMED & {path, *short}, path


def test_every_error_that_a_request_can_meet_is_on_the_page():
    errors = [getattr(skillyard.errors, name) for name in skillyard.errors.__all__] + [PolicyError]
    for error in errors:
        if error.http_status != 500:
            assert re.search(rf"\| {error.http_status} \|[^|]*`{error.code}`", f"{TEXT}{SANDBOXES}"), error


def test_every_code_of_the_control_plane_is_on_its_page():
    for _, status, code in CODES:
        assert f"| {status} | `{code}` |" in SANDBOXES
