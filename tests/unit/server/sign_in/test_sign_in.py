"""A browser signs in with a token, and is then known by its cookie."""

import re

import pytest
from fastapi import Request

from skillyard.history.entries import Why
from skillyard.identity.principals import Scope
from skillyard.server.sign_in.origins import safe_next
from skillyard.server.sign_in.pages import sign_in_page

HOST = "http://127.0.0.1:8321"
ADMIN = "an-administrators-token"
OWN = {"origin": HOST}
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def yard(start_for_browsers):
    with start_for_browsers(admin_token=ADMIN) as served:
        yield served


def sign_in(yard, token, *, then="/", headers=None):
    given = OWN if headers is None else headers
    return yard.client.post("/sign-in", data={"token": token, "next": then}, headers=given)


def cookie_of(answer):
    """The one cookie that an answer sets, as (name, value, attributes)."""
    [line] = answer.headers.get_list("set-cookie")
    pair, *attributes = line.split("; ")
    name, _, value = pair.partition("=")
    return name, value, {attribute.lower() for attribute in attributes}


def problem(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_the_page_has_a_form_and_neither_scripts_nor_anything_from_elsewhere(yard):
    answer = yard.client.get("/sign-in?next=/api/v1/me")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "form-action 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy
    assert '<label for="token">' in answer.text
    assert 'name="next" value="/api/v1/me"' in answer.text
    assert not re.search(r"<script|https?://|\bon\w+=|javascript:|src=", answer.text)
    assert "Sign in with" not in answer.text


def test_the_page_lets_its_own_forms_name_their_origin(yard):
    # With no-referrer, a browser sends 'Origin: null' with a form.
    assert yard.client.get("/sign-in").headers["referrer-policy"] == "same-origin"


def test_signing_in_gives_the_rights_of_the_token_to_the_cookie(yard):
    ana = yard.token("ana", scope=Scope.WRITE)
    mine = yard.skill(ana, "notes")
    answer = sign_in(yard, ana.secret, then="/api/v1/me?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/api/v1/me?x=1")
    me = yard.client.get("/api/v1/me").json()["data"]
    assert (me["name"], me["scope"], me["token_id"]) == ("ana", "write", ana.id)
    assert yard.client.get(f"/api/v1/skills/{mine.id}").status_code == 200
    refused = yard.client.post("/api/v1/namespaces", json={"name": "crew"}, headers=OWN)
    assert problem(refused) == (403, "not_allowed")


def test_over_http_the_cookie_is_hidden_from_scripts_and_other_sites(yard):
    name, value, attributes = cookie_of(sign_in(yard, yard.token("ana").secret))
    assert name == "skillyard_session"
    assert len(value) >= 43
    assert attributes == {"httponly", "path=/", "samesite=lax", "max-age=604800"}


@pytest.mark.parametrize("behind_a_proxy", [False, True])
def test_over_https_the_cookie_is_bound_to_the_host(yard, behind_a_proxy):
    headers = {"origin": "https://127.0.0.1:8321"}
    if not behind_a_proxy:
        yard.client.base_url = "https://127.0.0.1:8321"
    name, _, attributes = cookie_of(sign_in(yard, yard.token("ana").secret, headers=headers))
    assert name == "__Host-skillyard"
    assert {"secure", "httponly", "path=/", "samesite=lax"} <= attributes
    assert not any(attribute.startswith("domain") for attribute in attributes)


@pytest.mark.parametrize("order", ["{own}; {planted}", "{planted}; {own}"])
def test_of_two_cookies_neither_counts(yard, order):
    sessions = []
    for name in ("ana", "eve"):
        yard.client.cookies.clear()
        _, value, _ = cookie_of(sign_in(yard, yard.token(name).secret))
        sessions.append(f"skillyard_session={value}")
    yard.client.cookies.clear()
    own, planted = sessions
    assert yard.client.get("/api/v1/me", headers={"cookie": own}).status_code == 200
    both = {"cookie": order.format(own=own, planted=planted)}
    assert yard.client.get("/api/v1/me", headers=both).status_code == 401


def test_over_https_a_cookie_that_a_neighbour_could_set_does_not_count(yard):
    _, value, _ = cookie_of(sign_in(yard, yard.token("ana").secret))
    yard.client.cookies.clear()
    for scheme, status in (("http", 200), ("https", 401)):
        url = f"{scheme}://127.0.0.1:8321/api/v1/me"
        assert yard.client.get(url, headers={"cookie": f"skillyard_session={value}"}).status_code == status
    protected = {"cookie": f"skillyard_session=planted; __Host-skillyard={value}"}
    assert yard.client.get("/api/v1/me", headers=protected).status_code == 200


def test_a_wrong_token_shows_the_page_again_with_a_message(yard, subtests):
    for token in ("", "sky_wrong", "x" * 9000, "\u2028ä", "%00"):
        with subtests.test(token[:20]):
            answer = sign_in(yard, token, then="/there")
            assert answer.status_code == 401
            assert 'role="alert"' in answer.text
            assert "not valid" in answer.text
            assert 'value="/there"' in answer.text
            assert "set-cookie" not in answer.headers
            assert not token or token not in answer.text


@pytest.mark.parametrize("body", [b"token=" + b"x" * 20_000, b"&".join(b"a=b" for _ in range(50))])
def test_a_form_that_is_too_large_is_refused(yard, body):
    headers = {**OWN, "content-type": "application/x-www-form-urlencoded"}
    assert yard.client.post("/sign-in", content=body, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9"},
        {"origin": HOST, "sec-fetch-site": "cross-site"},
        {"origin": HOST, "sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_another_site_can_neither_sign_in_nor_act_nor_sign_out(yard, headers):
    ana = yard.token("ana")
    assert sign_in(yard, ana.secret, headers=headers).status_code == 403
    sign_in(yard, ana.secret)
    for method, path in (("POST", "/api/v1/namespaces"), ("DELETE", f"/api/v1/tokens/{ana.id}"), ("POST", "/sign-out")):
        refused = yard.client.request(
            method, path, headers=headers, json={"name": "crew"} if method == "POST" else None
        )
        assert problem(refused) == (403, "not_allowed"), (method, path)
        keyed = {**headers, "idempotency-key": "k"}
        assert yard.client.request(method, path, headers=keyed).status_code == 403
    assert yard.client.get("/api/v1/me").json()["data"]["name"] == "ana"


@pytest.mark.parametrize("headers", [OWN, {"sec-fetch-site": "same-origin"}, {"origin": "https://127.0.0.1:8321"}])
def test_the_own_pages_may_act(yard, headers):
    sign_in(yard, yard.token("ana").secret)
    assert yard.client.post("/api/v1/namespaces", json={"name": "crew"}, headers=headers).status_code == 201


def test_a_page_over_http_may_not_act_on_a_server_over_https(yard):
    yard.client.base_url = "https://127.0.0.1:8321"
    sign_in(yard, yard.token("ana").secret, headers={"origin": "https://127.0.0.1:8321"})
    assert yard.client.get("/api/v1/me").status_code == 200
    refused = yard.client.post("/api/v1/namespaces", json={"name": "crew"}, headers=OWN)
    assert problem(refused) == (403, "not_allowed")


def test_a_program_with_a_token_needs_no_origin_and_its_cookie_does_not_count(yard):
    sign_in(yard, yard.token("ana").secret)
    bob = yard.token("bob")
    assert bob.data("me")["name"] == "bob"
    assert bob.post("namespaces", json={"name": "crew"}).status_code == 201
    wrong = yard.client.get("/api/v1/me", headers={"authorization": "Bearer sky_wrong"})
    assert problem(wrong) == (401, "unauthenticated")


def test_signing_out_ends_the_session_and_not_only_the_cookie(yard):
    _, value, _ = cookie_of(sign_in(yard, yard.token("ana").secret))
    assert yard.client.get("/api/v1/me").status_code == 200
    answer = yard.client.post("/sign-out", headers=OWN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "skillyard_session" not in yard.client.cookies
    stolen = {"cookie": f"skillyard_session={value}"}
    assert problem(yard.client.get("/api/v1/me", headers=stolen)) == (401, "unauthenticated")
    assert yard.client.post("/sign-out", headers=OWN).status_code == 303


def test_signing_in_again_ends_the_session_before(yard):
    _, planted, _ = cookie_of(sign_in(yard, yard.token("mallory").secret))
    _, value, _ = cookie_of(sign_in(yard, yard.token("ana").secret))
    assert value != planted
    yard.client.cookies.clear()
    assert yard.client.get("/api/v1/me", headers={"cookie": f"skillyard_session={planted}"}).status_code == 401


def test_a_value_that_someone_else_chose_becomes_no_session(yard):
    yard.client.cookies.set("skillyard_session", "chosen-by-someone-else")
    sign_in(yard, yard.token("ana").secret)
    yard.client.cookies.clear()
    chosen = {"cookie": "skillyard_session=chosen-by-someone-else"}
    assert yard.client.get("/api/v1/me", headers=chosen).status_code == 401


def test_ending_the_token_ends_what_the_cookie_may_at_once(yard):
    ana, other = yard.token("ana"), yard.token("ana")
    sign_in(yard, ana.secret)
    assert yard.client.get("/api/v1/me").status_code == 200
    assert other.delete(f"tokens/{ana.id}").status_code == 200
    assert problem(yard.client.get("/api/v1/me")) == (401, "unauthenticated")


def test_disabling_the_person_ends_what_the_cookie_may_at_once(yard):
    sign_in(yard, yard.token("ana").secret)
    assert yard.client.get("/api/v1/me").status_code == 200
    yard.run(yard.yard.people.set_disabled, yard.root(), "ana", disabled=True, why=Why())
    assert yard.client.get("/api/v1/me").status_code == 401


def test_kept_answers_are_told_only_to_the_cookie_they_were_made_for(yard):
    cookies = {}
    for name in ("ana", "bob"):
        yard.client.cookies.clear()
        _, value, _ = cookie_of(sign_in(yard, yard.token(name, admin=name == "ana").secret))
        cookies[name] = {"cookie": f"skillyard_session={value}"}
    yard.client.cookies.clear()
    for _ in range(2):
        for name, headers in cookies.items():
            assert yard.client.get("/api/v1/me", headers=headers).json()["data"]["name"] == name
        assert yard.client.get("/api/v1/me").status_code == 401
    assert "skillyard_cache_hits_total 2.0" in yard.client.get("/metrics", headers=cookies["ana"]).text


def test_the_operator_signs_in_with_the_token_of_the_settings(yard):
    sign_in(yard, ADMIN)
    me = yard.client.get("/api/v1/me").json()["data"]
    assert (me["name"], me["operator"]) == ("admin", True)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_person_who_looks_for_a_page_is_led_to_the_sign_in_and_back(yard, method):
    answer = yard.client.request(method, "/some/page?a=b%20c", headers=HTML)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Fsome%2Fpage%3Fa%3Db%2520c"
    assert answer.headers["cache-control"] == "no-store"
    shown = yard.client.get(answer.headers["location"])
    assert 'value="/some/page?a=b%20c"' in shown.text


def test_programs_are_told_that_they_are_unknown(yard, subtests):
    for method, path, headers in (
        ("GET", "/", {}),
        ("GET", "/", {"accept": "*/*"}),
        ("GET", "/", {"accept": "application/json"}),
        ("POST", "/", {}),
        ("GET", "/", {**HTML, "authorization": "Bearer sky_wrong"}),
        ("GET", "/api/v1/me", HTML),
        ("GET", "/v1/things", HTML),
        ("GET", "/mcp", HTML),
        ("GET", "/.well-known/other", HTML),
    ):
        with subtests.test(f"{method} {path} {headers}"):
            answer = yard.client.request(method, path, headers=headers)
            code = "unauthorized" if path.startswith("/v1/") else "unauthenticated"
            assert problem(answer) == (401, code)


def test_a_person_who_sends_a_form_when_the_session_is_over_is_told_so_on_a_page(yard):
    answer = yard.client.post("/settings/tokens", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert 'href="/sign-in"' in answer.text


def test_a_session_that_is_over_leads_to_the_sign_in_and_hides_nothing_open(yard):
    yard.client.cookies.set("skillyard_session", "over")
    assert yard.client.get("/", headers=HTML).headers["location"] == "/sign-in?next=%2F"
    assert yard.client.get("/sign-in").status_code == 200
    assert problem(yard.client.get("/.well-known/agent-skills/none")) == (404, "not_found")
    assert problem(yard.client.get("/api/v1/me")) == (401, "unauthenticated")


def test_who_is_signed_in_sees_so_and_can_sign_out(yard):
    sign_in(yard, yard.token("ana").secret)
    answer = yard.client.get("/sign-in?next=/there")
    assert "signed in as <strong>ana</strong>" in answer.text
    assert 'action="/sign-out"' in answer.text
    assert 'href="/there"' in answer.text


@pytest.mark.parametrize("wanted", ["/", "/a/b?c=d&e=%2F", "/a//b", "/@evil.example"])
def test_the_way_back_is_any_path_of_this_server(wanted):
    assert safe_next(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        "",
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        " //evil.example",
        "javascript:alert(1)",
        "evil",
        "/a\r\nset-cookie: x=y",
        "/ä",
        "/sign-in?next=/",
        "/sign-out",
        "/" + "a" * 1001,
    ],
)
def test_the_way_back_leads_nowhere_else(wanted):
    assert safe_next(wanted) == "/"


def test_whoever_signs_in_stays_on_this_server(yard):
    ana = yard.token("ana")
    assert sign_in(yard, ana.secret, then="//evil.example").headers["location"] == "/"
    assert 'href="/"' in yard.client.get("/sign-in?next=//evil.example").text


def test_what_a_stranger_writes_is_shown_as_text():
    asked = Request(
        {"type": "http", "method": "GET", "path": "/sign-in", "query_string": b"", "headers": [], "scheme": "http"}
    )
    page = sign_in_page(asked, then='/"><script>x</script>', issuer_name="<b>login</b>").body.decode()
    assert "<script>" not in page
    assert "<b>" not in page


def test_attempts_are_limited_per_address_and_the_page_says_for_how_long(yard):
    ana = yard.token("ana")
    statuses = [sign_in(yard, "sky_wrong").status_code for _ in range(20)]
    assert statuses == [401] * 20
    answer = sign_in(yard, ana.secret)
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) <= 3
    assert "Too many attempts" in answer.text
    assert ana.data("me")["name"] == "ana"


@pytest.mark.parametrize(("method", "path"), [("GET", "/sign-in"), ("POST", "/sign-in"), ("POST", "/sign-out")])
def test_at_this_machine_there_is_nothing_to_sign_in_to(start, method, path):
    with start(person="root") as served:
        answer = served.client.request(method, path)
        assert problem(answer) == (404, "not_found")
        assert "no need to sign in" in answer.json()["error"]["message"]
        served.client.cookies.set("skillyard_session", "anything")
        assert served.client.get("/api/v1/me").json()["data"]["name"] == "root"


def test_no_identity_provider_means_no_way_to_one(yard):
    answer = yard.client.post("/sign-in/oidc", headers=OWN)
    assert answer.status_code == 404
    assert "no identity provider" in answer.text
    assert yard.client.get("/sign-in/callback?code=a&state=b").status_code == 404


def test_the_pages_are_no_part_of_the_api(yard):
    paths = yard.token("ana").get("/openapi.json").json()["paths"]
    assert not [path for path in paths if "sign" in path]


def test_a_stream_ends_when_its_session_does(yard):
    _, value, _ = cookie_of(sign_in(yard, yard.token("ana").secret))
    stream = yard.stream(None, cookie=f"skillyard_session={value}")
    assert stream.status == 200
    yard.client.post("/sign-out", headers=OWN)
    assert stream.event() is None
