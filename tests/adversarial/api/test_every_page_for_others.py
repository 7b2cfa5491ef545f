"""Every page and every form, for everyone: who sees it, who may send it, and that no page offers what is refused.

The signs are those of `test_every_route_for_every_role`. A new page without a row fails.
"""

import itertools
import re
from base64 import urlsafe_b64encode
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from tests.adversarial.api.page_routes import PAGE_ROUTES, PAGE_RULES, SKILL_PAGES
from tests.adversarial.api.test_every_route_for_every_role import ANSWERS, CALLERS, KINDS, PAGES, RULES, filled

from skillyard.server.web.static_files import asset_url

SIGNS = {name: dict(zip(CALLERS, signs.replace(" ", ""), strict=True)) for name, signs in (RULES | PAGE_RULES).items()}
SECRET, OTHER = b"s" * 24, b"o" * 24
COOKIE = {"Cookie": f"skillyard_form={urlsafe_b64encode(SECRET).decode()}"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
DEEDS = ("promote", "rollback", "kill", "retire", "delete")
SPENT = re.compile(
    r"POST .*/(undo|delete|review|revoke|retry|visibility|benchmarks|memories/\{memory_id\}|\{proposal_id\})$"
)
"""By these a target is used up: each caller who may gets one of their own."""
OWNERS = ("owner_read", "owner_write", "owner_publish", "owner")
MEMBERS = ("viewer", "editor", "publisher", "team_admin", "tenant_admin")


def rows():
    for kind, rules in KINDS.items():
        for need, route, given in SKILL_PAGES:
            if kind not in {"discoverable", "deleted"} or route.endswith("{name}"):
                yield rules[need], route, kind, given
    yield from PAGE_ROUTES


ROWS = list(rows())
FORMS = [
    (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(route.removeprefix("POST ")))), rule, kind, given)
    for rule, route, kind, given in ROWS
    if route.startswith("POST")
]


def asked(rule):
    """The least of those who may, and the most of those who may not, of each kind of people."""
    left = iter(CALLERS)
    for signs in (RULES | PAGE_RULES)[rule].split():
        group = list(zip(itertools.islice(left, len(signs)), signs, strict=True))
        for sign, alike in itertools.groupby(group, key=lambda one: one[1]):
            people = [caller for caller, _ in alike]
            yield people[0] if sign == "+" else people[-1], sign


def named(row):
    rule, route, kind, _ = row
    return f"{route} {kind} {rule}"


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        for name in ("HOME", "SKILLYARD_HOME", "XDG_CONFIG_HOME"):
            patched.setenv(name, str(tmp_path_factory.mktemp("own")))
        yield


class Offered(HTMLParser):
    """The forms of a page that change something: where each is sent, and what its buttons say that is to be done."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form":
            self.forms.append((given["action"] if given.get("method") == "post" else "", set()))
        elif tag == "button" and given.get("name") == "do":
            self.forms[-1][1].add(given["value"])


def proof(secret):
    """The field by which a form of a browser with this secret proves to be ours."""
    return {"form_token": urlsafe_b64encode(bytes(24) + secret).decode()}


def send(world, caller, route, parts, given, *, proof=proof(SECRET)):  # noqa: B008 -- it is only read
    """Ask for a page, or send a form as a browser does."""
    method, template = route.split(" ")
    asked = filled(given, {**parts, "new": world.new()})
    if method == "POST":
        asked["data"] = {**asked.get("data", {}), **proof}
    return world.ask(caller, method, template.format(**parts), headers=BROWSER | COOKIE, **asked)


def parts_of(world, kind, *, fresh=False):
    if kind == "static":
        return {"file": asset_url("yard.css").rpartition("/")[2]}
    return world.target(kind, fresh=fresh)


def test_there_is_a_row_for_every_page(served):
    found = set()
    served.app.api.complete()
    for route in served.app.api.routes:
        contexts = route.effective_route_contexts() if hasattr(route, "effective_route_contexts") else [route]
        for each in contexts:
            path = each.path.replace(":path}", "}").replace("/static/{name}", "/static/{file}")
            if each.endpoint.__module__.startswith(PAGES) and not path.endswith(".json"):
                paths = [path.replace("{deed}", deed) for deed in DEEDS] if "{deed}" in path else [path]
                found |= {f"{method} {each}" for method in each.methods for each in paths}
    tabled = {route for _, route, _, _ in ROWS}
    assert found - tabled == set(), "these pages have no row"
    assert tabled - found == set(), "these rows have no page"


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_who_may(world, row):
    rule, route, kind, given = row
    wrong = []
    for caller, sign in asked(rule):
        if route.endswith("/doctor") and sign == "+":
            continue  # that starts sandboxes, and takes seconds
        parts = parts_of(world, kind, fresh=sign == "+" and (SPENT.match(route) is not None or kind == "ended"))
        before = world.served.number()
        answer = send(world, caller, route, parts, given)
        done = answer.status_code in {200, 303}
        if done != (sign == "+") or not (done or answer.status_code == ANSWERS[sign]):
            wrong.append((caller, sign, answer.status_code, answer.text[:3000]))
        if sign != "+":
            assert world.served.number() == before, (caller, "a refused request changed something")
    assert wrong == []


def test_who_is_not_signed_in_is_led_to_the_door_and_back(world):
    for page in ("/skills?q=it", "/home", "/settings"):
        answer = world.ask("anonymous", "GET", page, headers=BROWSER)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next={quote(page, safe='')}")


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (401, {}, 'href="/sign-in"'),
        (403, {"Cookie": "skillyard_session=over", "Sec-Fetch-Site": "cross-site"}, "does not come from a page"),
        (413, {"Content-Length": "99999999"}, "20971520 bytes"),
    ],
)
def test_what_is_refused_before_it_is_read_is_told_to_people_as_a_page(world, status, headers, told):
    answer = world.ask("anonymous", "POST", "/skills/new", raw_body=[b"name=x"], headers=BROWSER | headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert told in answer.text
    assert "default-src 'none'; style-src 'self'" in answer.headers["content-security-policy"]
    program = world.ask("anonymous", "POST", "/skills/new", raw_body=[b"name=x"], headers=headers)
    assert (program.status_code, program.headers["content-type"]) == (status, "application/json")


@pytest.mark.parametrize("row", [row for row in ROWS if row[1].startswith("POST")], ids=named)
def test_a_form_that_no_page_of_ours_gave_is_refused(world, row):
    rule, route, kind, given = row
    caller = next((name for name, sign in SIGNS[rule].items() if sign == "+"), "owner")
    parts = parts_of(world, kind)
    before = world.served.number()
    for made_up in ({}, proof(OTHER), {"form_token": "x"}, {"form_token": "é"}):
        assert send(world, caller, route, parts, given, proof=made_up).status_code in {403, 404}, made_up
    assert world.served.number() == before


@pytest.mark.parametrize("row", [row for row in ROWS if row[1].startswith("GET")], ids=named)
def test_a_page_has_a_twin_and_offers_nothing_that_is_refused(world, row):
    rule, route, kind, given = row
    parts = parts_of(world, kind)
    about_skill = "{namespace}" in route or route.startswith("GET /history/{")
    for caller in (*OWNERS, *MEMBERS) if about_skill else OWNERS:
        if SIGNS[rule][caller] != "+":
            continue
        answer = send(world, caller, route, parts, given)
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        refused = [
            (caller, action, target["data"])
            for action, buttons in Offered(answer.text).forms
            for path, needed, of, target in FORMS
            if path.fullmatch(action)
            and of in {kind, "edit"} | ({of} if "/skills/" not in action else set())
            and target.get("data", {}).get("do") in buttons | (set() if buttons else {None})
            and "person" not in target.get("data", {})
            and SIGNS[needed][caller] != "+"
            and needed != "nobody"
        ]
        assert refused == []
    if (
        SIGNS[rule]["owner"] == "+"
        and "text/html" in answer.headers.get("content-type", "")
        and "/palette" not in route
    ):
        twin = world.ask("owner", "GET", f"{route.split(' ')[1].format(**parts)}.json", **filled(given, parts))
        assert (twin.status_code, twin.headers["content-type"]) == (200, "application/json")
        assert twin.json()["success"] is True
        # Whoever sits down at that browser next finds nothing of it on the way back.
        assert {answer.headers["cache-control"], twin.headers["cache-control"]} == {"no-store"}


@pytest.mark.parametrize(
    ("route", "kind", "least"),
    [
        ("GET /learning/memories/{memory_id}", "crew memory", "editor"),
        ("GET /learning/memories/{memory_id}", "locked memory", "team_admin"),
        ("GET /learning/rules/{rule_id}", "crew rule", "editor"),
        ("GET /learning/rules/{rule_id}", "locked rule", "team_admin"),
    ],
)
def test_a_page_of_what_was_learned_offers_changes_to_those_whose_role_allows_them(world, route, kind, least):
    parts = world.target(kind, fresh=False)
    own = route.removeprefix("GET ").format(**parts)
    people = ("stranger", "viewer", "editor", "publisher", "team_admin")
    for caller in people:
        answer = send(world, caller, route, parts, {})
        assert answer.status_code == 200
        offered = {do for action, buttons in Offered(answer.text).forms if action.startswith(own) for do in buttons}
        assert bool(offered & {"save", "forget", "lock", "unlock"}) == (people.index(caller) >= people.index(least))
        assert bool(offered & {"helpful"}) == ("memory" in kind and people.index(caller) >= people.index("editor"))
