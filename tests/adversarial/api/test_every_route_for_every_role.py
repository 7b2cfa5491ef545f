"""Every route, for everyone: one table says who may, and a new route without a row fails.

Who asks is one of `CALLERS`. A rule is a line with one sign for each of them, in that order:
`+` it is done, `-` 401, `x` 403, `.` 404: as if there were nothing, `!` 409: it is in the hands of another,
`?` 400: what is named in the body is not there.
"""

import pytest
from tests.adversarial.api.conftest import archive
from tests.adversarial.api.learned_routes import LEARNED_ROUTES
from tests.adversarial.api.learning_routes import LEARNING_ROUTES, LEARNING_RULES, LEARNING_SPENT

CALLERS = (
    *("anonymous", "disabled", "expired", "revoked"),
    *("foreigner", "foreign_admin"),
    "stranger",
    *("viewer", "editor", "publisher", "team_admin"),
    *("owner_read", "owner_write", "owner_publish", "owner"),
    *("tenant_admin", "operator"),
)
ANSWERS = {"-": 401, "x": 403, ".": 404, "!": 409, "?": 400}
RULES = {
    "anyone": "++++ ++ + ++++ ++++ ++",  # no credentials are looked at
    "the world": "+--- ++ + ++++ ++++ ++",
    "everyone": "---- ++ + ++++ ++++ ++",
    "everyone who may write": "---- ++ + ++++ x+++ ++",
    "everyone who may publish": "---- ++ + ++++ xx++ ++",
    "everyone with full scope": "---- ++ + ++++ xxx+ ++",
    "everyone, of a session": "---- ?? ? ???? ???? ??",
    "tenant": "---- .. + ++++ ++++ ++",
    "tenant admins": "---- x+ x xxxx xxxx ++",
    "this tenant's admins": "---- x. x xxxx xxxx ++",
    "operator": "---- xx x xxxx xxxx x+",
    "operator, in another tenant": "---- x. x xxxx xxxx .+",
    "owner's token": "---- .. . .... xxx+ ++",
    "team": "---- .. . ++++ ++++ ..",
    "team editors": "---- .. . x+++ x+++ ..",
    "team publishers with write": "---- .. . xx++ x+++ ..",
    "team publishers": "---- .. . xx++ xx++ ..",
    "team admins": "---- .. . xxx+ xxx+ ..",
    "nobody in the team": "---- .. . xxxx xxxx ..",
    "public editors": "---- .. x x+++ x+++ xx",
    "public publishers with write": "---- .. x xx++ x+++ xx",
    "public publishers": "---- .. x xx++ xx++ xx",
    "person": "---- .. . .... ++++ ..",
    "person with write": "---- .. . .... x+++ ..",
    "person with publish": "---- .. . .... xx++ ..",
    "person with write, of their own": "---- ?? ? ???? x+++ ??",
    "person with full scope": "---- .. . .... xxx+ ..",
    "refused forms": "x--- xx x xxxx xxxx xx",
    "no provider": ".--- .. . .... .... ..",
    "nobody": "---- .. . .... .... ..",
    "nobody who may write": "---- .. . .... x... ..",
    "system's admins": "---- .. x xxxx xxxx ++",
    **LEARNING_RULES,
}
"""What is asked of a skill, and who may, by where it is kept."""
KINDS = {
    "private": ("team", "team editors", "team publishers with write", "team publishers"),
    "public": ("tenant", "public editors", "public publishers with write", "public publishers"),
    "discoverable": ("tenant", "public editors", "public publishers with write", "public publishers"),
    "personal": ("person", "person with write", "person with write", "person with publish"),
    "system": ("tenant", "system's admins", "system's admins", "system's admins"),
    "deleted": ("nobody", "nobody", "nobody", "nobody"),
}
SEE, EDIT, SHOW, PUBLISH = range(4)
SKILL = "/api/v1/skills/{skill_id}"
SKILL_ROUTES = [
    (SEE, f"GET {SKILL}", {}),
    (SEE, f"GET {SKILL}/format", {}),
    (SEE, f"GET {SKILL}/files", {}),
    (SEE, f"GET {SKILL}/files/{{path}}", {}),
    (SEE, f"GET {SKILL}/files/{{path}}", {"params": {"version": "1.0.0"}}),
    (SEE, "GET /api/v1/skills/files/{file_id}", {}),
    (SEE, f"GET {SKILL}/export", {}),
    (SEE, f"GET {SKILL}/versions", {}),
    (SEE, f"GET {SKILL}/versions/{{version}}", {}),
    (SEE, f"GET {SKILL}/diff", {}),
    (SEE, f"GET {SKILL}/references", {}),
    (SEE, f"GET {SKILL}/dependencies", {}),
    (SEE, f"GET {SKILL}/similar", {}),
    (SEE, f"GET {SKILL}/usage", {}),
    (SEE, "GET /api/v1/skills/by-name/{name}", {}),
    (SEE, "GET /api/v1/skills/by-name/{namespace}/{name}", {}),
    (SEE, "POST /api/v1/outcomes", {"json": {"skill": "{namespace}/{name}", "succeeded": True}}),
    (SEE, "GET /api/v1/history", {"params": {"skill": "{namespace}/{name}"}}),
    (EDIT, f"PUT {SKILL}", {"json": {"description": "Does {new}."}, "headers": {"If-Match": "*"}}),
    (EDIT, f"POST {SKILL}/files", {"json": {"path": "more.md", "content": "more"}}),
    (EDIT, "DELETE /api/v1/skills/files/{file_id}", {}),
    (SHOW, f"DELETE {SKILL}", {}),
    (SHOW, f"PUT {SKILL}/lock", {}),
    (SHOW, f"DELETE {SKILL}/lock", {}),
    (PUBLISH, f"POST {SKILL}/versions", {"json": {"version": "2.0.0"}}),
    (PUBLISH, f"POST {SKILL}/versions/{{version}}/yank", {"json": {"reason": "It is wrong."}}),
    (PUBLISH, f"POST {SKILL}/versions/{{version}}/restore", {}),
    (PUBLISH, f"PUT {SKILL}/tags/{{tag}}", {"json": {"version": "1.0.0"}}),
    (PUBLISH, f"DELETE {SKILL}/tags/{{tag}}", {}),
]
SPENT = ("DELETE", "/undo", "/approve", "/reject", *LEARNING_SPENT)
"""By these a target is used up: each caller who may gets one of their own."""
V1 = "/api/v1"
SANDBOX = "/v1/sandboxes/{sandbox_id}"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}},
}
OTHER_ROUTES = [
    # Lists and what is made: everyone has their own, and finds only what is theirs to see.
    ("everyone", f"GET {V1}/skills", "none", {}),
    ("everyone who may write", f"POST {V1}/skills", "none", {"json": {"name": "{new}", "description": "Does it."}}),
    (
        "team editors",
        f"POST {V1}/skills",
        "none",
        {"json": {"name": "{new}", "description": "D.", "namespace": "crew"}},
    ),
    (
        "team publishers with write",
        f"POST {V1}/skills",
        "none",
        {"json": {"name": "{new}", "description": "D.", "namespace": "crew", "is_public": True}},
    ),
    (
        "tenant admins",  # each has a system of its own
        f"POST {V1}/skills",
        "none",
        {"json": {"name": "{new}", "description": "D.", "namespace": "system"}},
    ),
    ("everyone who may write", f"POST {V1}/skills/import", "archive", {}),
    ("everyone who may publish", f"POST {V1}/skills/import", "archive", {"data": {"publish": "true"}}),
    ("team editors", f"POST {V1}/skills/import", "archive", {"data": {"namespace": "crew"}}),
    ("team publishers", f"POST {V1}/skills/import", "archive", {"data": {"namespace": "crew", "publish": "true"}}),
    ("everyone", f"GET {V1}/catalog", "none", {"params": {"q": "it", "budget": 500}}),
    ("everyone", f"GET {V1}/search", "none", {"params": {"q": "it"}}),
    ("everyone", f"GET {V1}/search", "none", {"params": {"q": "it", "namespace": "crew", "tag": ["x", "y"]}}),
    ("everyone", f"GET {V1}/graph", "none", {}),
    ("tenant", f"GET {V1}/graph", "public", {"params": {"namespace": "crew"}}),
    ("everyone", f"GET {V1}/me", "none", {}),
    ("everyone", f"GET {V1}/history", "none", {}),
    ("everyone", f"GET {V1}/changes", "none", {}),
    ("everyone", f"GET {V1}/events", "none", {}),
    ("everyone", f"GET {V1}/usage", "none", {}),
    ("everyone", f"GET {V1}/usage/report", "none", {}),
    ("everyone", f"POST {V1}/usage", "none", {"json": {"events": [{"skill": "crew/hidden", "event": "shown"}]}}),
    ("everyone", "GET /mcp", "none", {}),
    ("everyone", "HEAD /mcp", "none", {}),
    ("everyone", "POST /mcp", "none", {"json": HELLO, "headers": {"Accept": "application/json, text/event-stream"}}),
    ("everyone, of a session", "DELETE /mcp", "none", {}),
    # Versions that wait for somebody else.
    ("team publishers", f"POST {SKILL}/versions/{{version}}/approve", "pending", {}),
    ("team publishers", f"POST {SKILL}/versions/{{version}}/reject", "pending", {}),
    ("team", f"GET {SKILL}/versions/{{version}}", "pending", {}),
    # History and undo.
    ("team", f"GET {V1}/history/{{number}}", "edit", {}),
    ("team editors", f"POST {V1}/history/{{number}}/undo", "edit", {}),
    ("tenant admins", f"GET {V1}/audit", "none", {}),
    # Namespaces.
    ("everyone", f"GET {V1}/namespaces", "none", {}),
    ("everyone with full scope", f"POST {V1}/namespaces", "none", {"json": {"name": "{new}"}}),
    ("team", f"GET {V1}/namespaces/{{name}}", "crew", {}),
    ("person", f"GET {V1}/namespaces/{{name}}", "olga", {}),
    ("nobody", f"GET {V1}/namespaces/{{name}}", "no namespace", {}),
    ("team", f"GET {V1}/namespaces/{{name}}/members", "crew", {}),
    ("team admins", f"PUT {V1}/namespaces/{{name}}/policy", "crew", {"json": {}}),
    ("person with full scope", f"PUT {V1}/namespaces/{{name}}/policy", "olga", {"json": {}}),
    ("team admins", f"PUT {V1}/namespaces/{{name}}/members/{{person}}", "crew", {"json": {"role": "viewer"}}),
    ("team admins", f"DELETE {V1}/namespaces/{{name}}/members/{{person}}", "member", {}),
    # People, tenants and tokens.
    ("tenant admins", f"GET {V1}/people", "none", {}),
    ("tenant admins", f"POST {V1}/people", "none", {"json": {"name": "{new}"}}),
    ("operator, in another tenant", f"POST {V1}/people", "none", {"json": {"name": "{new}", "tenant": "third"}}),
    ("this tenant's admins", f"POST {V1}/people/{{name}}/disable", "extra", {}),
    ("this tenant's admins", f"POST {V1}/people/{{name}}/enable", "extra", {}),
    ("everyone", f"GET {V1}/tenant/policy", "none", {}),
    ("tenant admins", f"PUT {V1}/tenant/policy", "none", {"json": {"discoverable": True}}),
    ("operator", f"POST {V1}/tenants", "none", {"json": {"name": "{new}"}}),
    ("everyone", f"GET {V1}/tokens", "none", {}),
    ("tenant admins", f"GET {V1}/tokens", "none", {"params": {"everyone": "true"}}),
    ("everyone with full scope", f"POST {V1}/tokens", "none", {"json": {"label": "mine"}}),
    ("this tenant's admins", f"POST {V1}/tokens", "none", {"json": {"label": "other's", "person": "extra"}}),
    (
        "operator, in another tenant",
        f"POST {V1}/tokens",
        "none",
        {"json": {"label": "t", "person": "otto", "tenant": "third"}},
    ),
    ("owner's token", f"DELETE {V1}/tokens/{{token_id}}", "token", {}),
    # Agents.
    ("everyone", f"GET {V1}/agents", "none", {}),
    ("tenant admins", f"POST {V1}/agents", "none", {"json": {"name": "{new}"}}),
    ("tenant admins", f"POST {V1}/agents/apply", "none", {"json": {"agents": [{"id": "{new}", "name": "{new}"}]}}),
    ("tenant", f"GET {V1}/agents/{{agent_id}}", "agent", {}),
    ("this tenant's admins", f"PUT {V1}/agents/{{agent_id}}", "agent", {"json": {"goal": "{new}"}}),
    ("this tenant's admins", f"DELETE {V1}/agents/{{agent_id}}", "agent", {}),
    ("tenant", f"GET {V1}/agents/{{agent_id}}/skills", "agent", {}),
    ("this tenant's admins", f"PUT {V1}/agents/{{agent_id}}/skills/{{skill_id}}", "agent public", {"json": {}}),
    ("this tenant's admins", f"DELETE {V1}/agents/{{agent_id}}/skills/{{skill_id}}", "agent attached", {}),
    ("everyone", f"GET {V1}/tenant/skills", "none", {}),
    ("this tenant's admins", f"PUT {V1}/tenant/skills/{{skill_id}}", "public", {"json": {}}),
    ("this tenant's admins", f"DELETE {V1}/tenant/skills/{{skill_id}}", "tenant attached", {}),
    # The machine's own folders.
    ("operator", f"GET {V1}/library/skills", "none", {}),
    ("operator", f"GET {V1}/library/skills/{{skill_id}}", "folder", {}),
    ("operator", f"GET {V1}/library/skills/{{skill_id}}/files/{{path}}", "folder", {}),
    # Discovery.
    ("the world", "GET /.well-known/agent-skills/index.json", "none", {}),
    ("the world", "GET /.well-known/agent-skills/{skill_id}/{file}", "discoverable", {}),
    ("the world", "GET /.well-known/agent-skills/{skill_id}/versions.json", "discoverable", {}),
    ("the world", "GET /.claude-plugin/marketplace.json", "none", {}),
    ("the world", "GET /marketplace/marketplace.json", "none", {}),
    ("the world", "GET /marketplace.git/info/refs", "none", {"params": {"service": "git-upload-pack"}}),
    ("the world", "POST /marketplace.git/git-upload-pack", "none", {"content": b"0000"}),
    ("the world", "GET /marketplace/{plugin}.git/info/refs", "plugin", {"params": {"service": "git-upload-pack"}}),
    ("the world", "POST /marketplace/{plugin}.git/git-upload-pack", "plugin", {"content": b"0000"}),
    # Signing in, for browsers: a form that comes from nowhere is refused.
    ("the world", "GET /sign-in", "none", {}),
    ("refused forms", "POST /sign-in", "none", {}),
    ("refused forms", "POST /sign-in/oidc", "none", {}),
    ("no provider", "GET /sign-in/callback", "none", {}),
    ("refused forms", "POST /sign-out", "none", {}),
    # Sandboxes, of which each has their own.
    ("everyone who may write", "POST /v1/sandboxes", "none", {"json": {}}),
    ("everyone", "GET /v1/sandboxes", "none", {}),
    ("person", f"GET {SANDBOX}", "sandbox", {}),
    ("person with write", f"DELETE {SANDBOX}", "sandbox", {}),
    ("person with write", f"POST {SANDBOX}/extend_ttl", "sandbox", {"json": {"extend_by": 1}}),
    ("person with write", f"POST {SANDBOX}/keepalive", "sandbox", {}),
    ("person with write", f"POST {SANDBOX}/stop", "sandbox", {}),
    ("person with write", f"POST {SANDBOX}/snapshot", "execution", {}),
    ("person", f"GET {SANDBOX}/stats", "sandbox", {}),
    ("person with write", f"POST {SANDBOX}/python/exec", "sandbox", {"json": {"code": "1"}}),
    ("person with write", f"POST {SANDBOX}/shell/exec", "sandbox", {"json": {"command": "true"}}),
    ("person with write", f"POST {SANDBOX}/python/stream", "sandbox", {"json": {"code": "1"}}),
    ("person with write", f"POST {SANDBOX}/shell/stream", "sandbox", {"json": {"command": "true"}}),
    ("nobody who may write", f"POST {SANDBOX}/browser/exec", "no sandbox", {"json": {"cmd": "snapshot"}}),
    ("nobody who may write", f"POST {SANDBOX}/browser/exec_batch", "no sandbox", {"json": {"commands": ["snapshot"]}}),
    ("nobody", f"GET {SANDBOX}/browser/traces/{{trace_ref}}", "no sandbox", {}),
    ("person", f"GET {SANDBOX}/filesystem/files", "execution", {"params": {"path": "file"}}),
    ("person with write", f"PUT {SANDBOX}/filesystem/files", "sandbox", {"json": {"path": "new", "content": ""}}),
    ("person with write", f"DELETE {SANDBOX}/filesystem/files", "execution", {"params": {"path": "file"}}),
    ("person", f"GET {SANDBOX}/filesystem/directories", "sandbox", {}),
    (
        "person with write",
        f"POST {SANDBOX}/filesystem/upload",
        "sandbox",
        {"files": {"file": ("it", b"1")}, "data": {"path": "it"}},
    ),
    ("person", f"GET {SANDBOX}/filesystem/download", "execution", {"params": {"path": "file"}}),
    ("person with write", f"POST {SANDBOX}/skills", "sandbox", {"json": {"skills": ["skill-creator"]}}),
    ("person with write", f"POST {SANDBOX}/skills/upload", "sandbox", {"files": {"file": ("it.skill", archive("it"))}}),
    ("person", f"GET {SANDBOX}/history", "sandbox", {}),
    ("person", f"GET {SANDBOX}/history/last", "execution", {}),
    ("person", f"GET {SANDBOX}/history/{{execution_id}}", "execution", {}),
    ("person with write", f"PATCH {SANDBOX}/history/{{execution_id}}", "execution", {"json": {"notes": "n"}}),
    ("everyone who may write", "POST /v1/cargos", "none", {"json": {}}),
    ("everyone", "GET /v1/cargos", "none", {}),
    ("person", "GET /v1/cargos/{cargo_id}", "cargo", {}),
    ("person with write", "DELETE /v1/cargos/{cargo_id}", "cargo", {}),
    ("everyone", "GET /v1/profiles", "none", {}),
    ("tenant admins", "POST /v1/admin/gc/run", "none", {"json": {"tasks": []}}),
    ("tenant admins", "GET /v1/admin/gc/status", "none", {}),
    # About the server.
    ("anyone", "GET /health", "none", {}),
    ("anyone", "GET /healthz", "none", {}),
    ("anyone", "HEAD /healthz", "none", {}),
    ("anyone", "GET /readyz", "none", {}),
    ("tenant admins", "GET /metrics", "none", {}),
    ("everyone", "GET /openapi.json", "none", {}),
    ("everyone", "HEAD /openapi.json", "none", {}),
    ("everyone", "GET /", "none", {}),
]


def filled(given, parts):
    """The same with the parts of an address put in, wherever they are named."""
    if isinstance(given, dict):
        return {key: filled(value, parts) for key, value in given.items()}
    if isinstance(given, list):
        return [filled(item, parts) for item in given]
    return given.format(**parts) if isinstance(given, str) else given


def rows():
    for kind, rules in KINDS.items():
        for need, route, given in SKILL_ROUTES:
            # What the world may find is in the yard like what is public, and what is deleted like nothing.
            if kind not in {"discoverable", "deleted"} or route.split(" ")[1] == SKILL:
                yield rules[need], route, kind, given
    yield from OTHER_ROUTES
    yield from LEARNED_ROUTES
    yield from LEARNING_ROUTES


ROWS = list(rows())
PAGES = "skillyard.server.web."
"""What people are shown has a table of its own: `test_every_page_for_others`."""


def test_there_is_a_row_for_every_route(served):
    found = set()
    served.app.api.complete()
    for route in served.app.api.routes:
        contexts = route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]
        for each in contexts:
            path = each.path.replace(":path}", "}")
            if not each.endpoint.__module__.startswith(PAGES):
                found |= {f"{method} {path}" for method in each.methods}
    tabled = {route for _, route, _, _ in ROWS}
    assert found - tabled == set(), "these routes have no row"
    assert tabled - found == set(), "these rows have no route"


@pytest.mark.parametrize(
    ("rule", "route", "kind", "given"), ROWS, ids=[f"{route} {kind} {rule}" for rule, route, kind, _ in ROWS]
)
def test_who_may(world, rule, route, kind, given):
    method, template = route.split(" ")
    signs = RULES[rule].replace(" ", "")
    wrong = []
    for caller, sign in zip(CALLERS, signs, strict=True):
        spent = (route.startswith(SPENT) and "/tags/" not in route) or route.endswith(SPENT) or kind == "archive"
        fresh = sign == "+" and spent
        parts = world.target(kind, fresh=fresh)
        asked = filled(given, {**parts, "new": world.new()})
        if kind == "archive":
            asked["files"] = {"file": ("it.skill", parts["archive"])}
        if "{file}" in template:
            parts = {**parts, "skill_id": parts["artifact_of"]}
        before = world.served.number()
        answer = world.ask(caller, method, template.format(**parts), **asked)
        done = 200 <= answer.status_code < 300
        if (sign == "+") != done or (sign != "+" and answer.status_code != ANSWERS[sign]):
            wrong.append((caller, sign, answer.status_code, answer.text[:200]))
        if sign != "+":
            assert world.served.number() == before, (caller, "a refused request changed something")
            if method != "HEAD" and answer.headers["content-type"] == "application/json":
                assert answer.json().get("success", template.startswith("/api/")) is False
                assert answer.json()["error"]["message"]
    assert wrong == []


def test_publishing_the_same_again_hides_nothing_without_the_role_for_it(world, pack):
    sent = {"files": {"file": ("it.skill", pack("shown-by-all"))}}
    shown = {"namespace": "crew", "publish": "true", "visibility": "public"}
    made = world.did("publisher", "POST", "skills/import", data=shown, **sent)
    hide = {"namespace": "crew", "publish": "true", "visibility": "private"}
    assert world.ask("editor", "POST", "skills/import", data=hide, **sent).status_code == 403
    assert world.did("editor", "GET", f"skills/{made['id']}")["visibility"] == "public"
    assert world.did("publisher", "POST", "skills/import", data=hide, **sent)["visibility"] == "private"
