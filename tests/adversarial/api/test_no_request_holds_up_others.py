"""What a caller can size is worked on beside the event loop, on which everyone else is answered.

One table says of every route that takes something in whether it computes, and what is the largest it takes; a new route
without a row fails. What the event loop itself computes is measured in time of its thread, which a busy machine does
not change.
"""

import asyncio
import io
import json
import random
import time
import zipfile
from base64 import urlsafe_b64encode

import pytest
from tests.adversarial.api.learning_routes import TABLE

MOST_SECONDS = 0.5
"""Of the event loop at a time: far more than any route needs, and far less than what these requests cost."""
COOKIE = {"Cookie": f"skillyard_form={urlsafe_b64encode(b's' * 24).decode()}"}
PROOF = {"form_token": urlsafe_b64encode(bytes(24) + b"s" * 24).decode()}
V1, LEARNED, SANDBOX = "/api/v1", "/v1/skills", "/v1/sandboxes/{sandbox_id}"
SKILL, PAGE = f"{V1}/skills/{{skill_id}}", "/skills/{namespace}/{name}"
WORDS = (
    "the",
    "refund",
    "invoice",
    "token",
    "value",
    "pdf",
    "table",
    "/home/me/x",
    "key=abc",
    "https://example.org/a?b=c",
    "me@example.org",
    "4f9a",
)


def text(size, seed=1):
    """Lines such as people and programs write, of which no two are alike."""
    chosen = random.Random(seed)
    lines = (" ".join(chosen.choices(WORDS, k=8)) for _ in range(size // 20))
    return "\n".join(lines)[:size]


LONG = text(900_000)
MARKDOWN = "* [a](b.md) **x** `y` [[z]]\n" * 18_000
PYTHON = "values = dict(a=1, b='2')\n" * 40_000


def packed(name, count=1_900):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/SKILL.md", f"---\nname: {name}\ndescription: Came packed.\n---\n")
        for number in range(count):
            archive.writestr(f"{name}/notes/{number}.txt", f"{LONG[number : number + 4_000]}{number}")
    return {"file": (f"{name}.skill", written.getvalue())}


def table(count=300):
    row = TABLE["rules"][0]
    kept = [{**row, "id": f"row-{number}", "when": [f'"{number}"' for _ in row["when"]]} for number in range(count)]
    return {**TABLE, "rules": kept}


def imported(count):
    run = {"success": True, "code": LONG[:20_000], "output": LONG[:20_000], "at": "2026-01-01T00:00:00Z"}
    session = {"agent": "codex", "session": "{new}"}
    return {"session": session, "runs": [{**run, "id": f"{{new}}-{number}"} for number in range(count)]}


def many(count, **fields):
    return [{**fields, "content": f"{LONG[:10_000]}{number}"} for number in range(count)]


FILES = [{"path": f"notes/{number}.txt", "content": f"{LONG}{LONG}{number}"} for number in range(8)]
USES = [{"skill": "crew/hidden", "event": "shown", "detail": LONG[:1_900]} for _ in range(1_000)]
AGENTS = [{"id": f"{{new}}-{number}", "name": f"{{new}} {number}", "goal": LONG[:500]} for number in range(300)]
LINES = "\n".join(json.dumps(each) for each in many(200)).encode()
COMPUTING = [
    (f"POST {V1}/skills", "none", {"json": {"name": "{new}", "description": "Does it.", "files": FILES}}),
    (f"PUT {SKILL}", "personal", {"json": {"content": LONG}}),
    (f"POST {SKILL}/files", "personal", {"json": {"path": "more.txt", "content": LONG + LONG}}),
    (f"POST {V1}/skills/import", "none", {"files": packed("packed-in-full")}),
    (f"POST {SKILL}/versions", "large", {"json": {"version": "7.0.0"}}),
    (f"POST {V1}/feedback", "none", {"json": many(100)}),
    (f"POST {V1}/feedback/import", "none", {"files": {"file": ("all.jsonl", LINES)}}),
    (f"POST {V1}/rules", "none", {"json": {"name": "{new}", "table": table()}}),
    (f"POST {V1}/rules/check", "none", {"json": {"table": table()}}),
    (f"POST {V1}/memories/recall", "none", {"json": {"query": LONG[:2_000]}}),
    (f"POST {V1}/usage", "none", {"json": {"events": USES}}),
    (f"POST {V1}/agents/apply", "none", {"json": {"agents": AGENTS}}),
    (f"POST {LEARNED}/executions/import", "none", {"json": imported(100)}),
    (f"POST {LEARNED}/payloads", "none", {"json": {"payload": {"a": ["{new}"] * 70_000}}}),
    (f"POST {SANDBOX}/python/exec", "sandbox", {"json": {"code": PYTHON}}),
    (f"PUT {SANDBOX}/filesystem/files", "sandbox", {"json": {"path": "large", "content": LONG * 4}}),
    ("POST /marketplace.git/git-upload-pack", "none", {"content": b"0000" * 10_000}),
    (f"POST {PAGE}/edit", "large", {"data": {"do": "preview", "path": "notes/0.txt", "text": text(900_000, 2)}}),
    (f"GET {PAGE}", "large", {}),
    (f"GET {PAGE}/diff", "large", {}),
    (f"GET {SKILL}/diff", "large", {}),
    (f"GET {V1}/search", "none", {"params": {"q": LONG[:2_000]}}),
    (f"GET {V1}/catalog", "none", {"params": {"q": LONG[:2_000], "budget": 100_000}}),
    (f"GET {V1}/graph", "none", {}),
]
"""Routes that compute what a caller can size, with about the largest that they take."""
LIKE = {
    f"POST {V1}/feedback/import": ["/learning/import"],
    f"POST {V1}/skills/import": [f"{SANDBOX}/skills/upload", "/set-up/folders"],
    f"POST {V1}/skills": ["/skills/new"],
    f"POST {SKILL}/versions": [f"{PAGE}/publish"],
    f"POST {V1}/rules": [
        *("/learning/rules/new", "/learning/rules/{rule_id}", "/learning/rules/{rule_id}/cases"),
        *(f"PUT {V1}/rules/{{rule_id}}", f"{V1}/rules/{{rule_id}}/evaluate"),
        *(f"{V1}/rules/{{rule_id}}/cases/{{case_id}}/pin", f"{V1}/lessons/{{lesson_id}}/tools/{{tool}}"),
        *(f"{V1}/proposals/{{proposal_id}}/approve", "/learning/proposals/{proposal_id}"),
    ],
    f"POST {SANDBOX}/python/exec": [
        *(f"{SANDBOX}/shell/exec", f"{SANDBOX}/python/stream", f"{SANDBOX}/shell/stream"),
        *(f"{SANDBOX}/browser/exec", f"{SANDBOX}/browser/exec_batch", "/sandboxes/{sandbox_id}/run"),
    ],
    f"PUT {SANDBOX}/filesystem/files": [f"{SANDBOX}/filesystem/upload", "/sandboxes/{sandbox_id}/files/upload"],
    "POST /marketplace.git/git-upload-pack": ["/marketplace/{plugin}.git/git-upload-pack"],
    f"POST {V1}/usage": [f"{V1}/outcomes"],
    f"POST {V1}/feedback": ["/learning"],
}
"""Routes whose work is that of another; POST where nothing else is said."""
SMALL = """
POST /api/v1/agents
PUT /api/v1/agents/{agent_id}
PUT /api/v1/agents/{agent_id}/skills/{skill_id}
POST /api/v1/feedback-sources
PATCH /api/v1/feedback-sources/{source_id}
POST /api/v1/feedback-sources/{source_id}/poll
POST /api/v1/feedback/take
POST /api/v1/feedback/work
POST /api/v1/feedback/{feedback_id}/finish
POST /api/v1/feedback/{feedback_id}/give-back
POST /api/v1/feedback/{feedback_id}/matches
POST /api/v1/feedback/{feedback_id}/retry
POST /api/v1/history/{number}/undo
POST /api/v1/lessons/{lesson_id}/undo
POST /api/v1/memories
PATCH /api/v1/memories/{memory_id}
POST /api/v1/memories/{memory_id}/judge
POST /api/v1/namespaces
PUT /api/v1/namespaces/{name}/members/{person}
PUT /api/v1/namespaces/{name}/policy
POST /api/v1/people
POST /api/v1/people/{name}/disable
POST /api/v1/people/{name}/enable
POST /api/v1/proposals/{proposal_id}/reject
PUT /api/v1/skills/{skill_id}/lock
PUT /api/v1/skills/{skill_id}/tags/{tag}
POST /api/v1/skills/{skill_id}/versions/{version}/approve
POST /api/v1/skills/{skill_id}/versions/{version}/reject
POST /api/v1/skills/{skill_id}/versions/{version}/restore
POST /api/v1/skills/{skill_id}/versions/{version}/yank
PUT /api/v1/tenant/policy
PUT /api/v1/tenant/skills/{skill_id}
POST /api/v1/tenants
POST /api/v1/tokens
POST /history/{number}/undo
POST /learning/feedback/{feedback_id}/retry
POST /learning/lessons/{lesson_id}/undo
POST /learning/memories
POST /learning/memories/{memory_id}
POST /learning/rules/{rule_id}/delete
POST /mcp
POST /releases/benchmarks
POST /releases/candidates/{candidate_id}/delete
POST /releases/candidates/{candidate_id}/evaluate
POST /releases/candidates/{candidate_id}/promote
POST /releases/candidates/{candidate_id}/verdict
POST /releases/mine
POST /releases/{release_id}/run
POST /releases/{release_id}/{deed}
POST /sandboxes
POST /sandboxes/{sandbox_id}/delete
POST /sandboxes/{sandbox_id}/executions/{execution_id}/remark
POST /sandboxes/{sandbox_id}/extend
POST /sandboxes/{sandbox_id}/files/delete
POST /sandboxes/{sandbox_id}/keep-alive
POST /sandboxes/{sandbox_id}/stop
POST /set-up/agents
POST /set-up/model
POST /set-up/sample/remove
POST /settings/agents
POST /settings/agents/{agent_id}/delete
POST /settings/agents/{agent_id}/skills
POST /settings/appearance
POST /settings/namespaces
POST /settings/namespaces/{name}/members
POST /settings/namespaces/{name}/policy
POST /settings/system/environment
POST /settings/tokens
POST /settings/tokens/{token_id}/revoke
POST /sign-in
POST /sign-in/oidc
POST /sign-out
POST /skills/{namespace}/{name}/delete
POST /skills/{namespace}/{name}/lock
POST /skills/{namespace}/{name}/versions/{version}/restore
POST /skills/{namespace}/{name}/versions/{version}/review
POST /skills/{namespace}/{name}/versions/{version}/yank
POST /skills/{namespace}/{name}/visibility
POST /v1/admin/gc/run
POST /v1/cargos
POST /v1/sandboxes
POST /v1/sandboxes/{sandbox_id}/browser/skills/{skill_key}/run
POST /v1/sandboxes/{sandbox_id}/extend_ttl
PATCH /v1/sandboxes/{sandbox_id}/history/{execution_id}
POST /v1/sandboxes/{sandbox_id}/keepalive
POST /v1/sandboxes/{sandbox_id}/skills
POST /v1/sandboxes/{sandbox_id}/snapshot
POST /v1/sandboxes/{sandbox_id}/stop
PUT /v1/skills/benchmarks/{name}
POST /v1/skills/candidates
POST /v1/skills/candidates/{candidate_id}/evaluate
POST /v1/skills/candidates/{candidate_id}/promote
POST /v1/skills/candidates/{candidate_id}/replay
POST /v1/skills/mine
POST /v1/skills/releases/{release_id}/kill
POST /v1/skills/releases/{release_id}/retire
POST /v1/skills/releases/{release_id}/rollback
POST /v1/skills/{skill_key}/kill
POST /v1/skills/{skill_key}/run
""".splitlines()[1:]
"""Routes that write a few rows, begin a job, or ask a sandbox: what they are sent is small. The tools behind /mcp ask
the routes of this table."""


def routes_of(served):
    served.app.api.complete()
    for route in served.app.api.routes:
        contexts = route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]
        for each in contexts:
            for method in each.methods:
                yield f"{method} {each.path.replace(':path}', '}')}"


def test_every_route_that_takes_something_in_is_known_to_compute_or_not(served):
    routes = set(routes_of(served))
    like = [route if " " in route else f"POST {route}" for routes in LIKE.values() for route in routes]
    tabled = [*dict.fromkeys(route for route, _, _ in COMPUTING), *like, *SMALL]
    taking = {route for route in routes if route.startswith(("POST", "PUT", "PATCH"))}
    assert taking - set(tabled) == set(), "these routes have no row"
    assert set(tabled) - routes == set(), "these rows have no route"
    assert len(tabled) == len(set(tabled)), "a route has two rows"
    assert set(LIKE) <= {route for route, _, _ in COMPUTING}


@pytest.fixture(scope="module")
def parts(world):
    """The parts of the addresses of a skill with much in it, of which all differs from its only version."""
    name = world.new()
    made = world.did("owner", "POST", "skills", json={"name": name, "description": "Does it.", "content": "# It\n"})
    path = f"skills/{made['id']}"
    world.did("owner", "POST", f"{path}/versions", json={"version": "1.0.0"})
    world.did("owner", "PUT", path, json={"content": MARKDOWN, "files": FILES})
    large = {"skill_id": made["id"], "namespace": "olga", "name": name}
    return lambda kind: large if kind == "large" else world.target(kind, fresh=False)


def filled(given, new):
    """The same with a new name wherever there is one to be; most of it is long, and has none."""
    if isinstance(given, dict):
        return {key: filled(value, new) for key, value in given.items()}
    if isinstance(given, list):
        return [filled(each, new) for each in given]
    return given.replace("{new}", new) if isinstance(given, str) else given


@pytest.fixture
def longest(monkeypatch):
    """The seconds that the event loop computed at most before it looked at anything else."""
    seconds = [0.0]
    run = asyncio.Handle._run

    def timed(handle):
        began = time.thread_time()
        run(handle)
        seconds[0] = max(seconds[0], time.thread_time() - began)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    return seconds


@pytest.mark.parametrize(("route", "kind", "given"), COMPUTING, ids=[route for route, _, _ in COMPUTING])
def test_the_largest_request_leaves_the_event_loop_to_others(world, parts, longest, route, kind, given):
    method, template = route.split(" ")
    given = filled(given, world.new())
    form = "data" in given
    if form:
        given["data"] |= PROOF
    path = template.format(**parts(kind))
    longest[0] = 0.0
    answer = world.ask("tenant_admin" if "agents" in path else "owner", method, path, headers=COOKIE, **given)
    assert answer.status_code < 300 or answer.json()["error"]["code"] == "policy_refused", answer.text[:500]
    assert longest[0] < MOST_SECONDS
