"""Signing in with an identity provider: there and back."""

import socket
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.responses import JSONResponse, RedirectResponse, Response

from skillyard.server.sign_in.fetch import MAX_BYTES
from skillyard.server.sign_in.flow import Flow, url_base64
from skillyard.server.sign_in.oidc_settings import OidcSettings
from skillyard.server.sign_in.provider import Provider

HOST = "http://127.0.0.1:8321"
OWN = {"origin": HOST}


def test_the_page_names_the_provider(browser, issuer):
    assert f"Sign in with {urlsplit(issuer.url).netloc}" in browser.client.get("/sign-in").text


def test_a_person_signs_in_and_has_their_own_rights(browser):
    answer = browser.sign_in(then="/api/v1/me")
    assert (answer.status_code, answer.headers["location"]) == (303, "/api/v1/me")
    me = browser.me()
    assert (me["name"], me["scope"], me["admin"], me["operator"], me["token_id"]) == (
        "ana",
        "admin",
        False,
        False,
        None,
    )
    made = browser.client.post("/api/v1/namespaces", json={"name": "crew"}, headers=OWN)
    assert made.status_code == 201
    assert "skillyard_flow" not in browser.client.cookies


def test_who_comes_again_is_the_same_person_whatever_they_are_called_now(browser, issuer):
    browser.sign_in()
    first = browser.me()
    issuer.person |= {"preferred_username": "anna", "email": "anna@acme.example"}
    browser.sign_in()
    assert browser.me() == first


def test_another_subject_is_another_person_even_of_the_same_name(browser, issuer):
    browser.sign_in()
    issuer.person["sub"] = "2"
    browser.sign_in()
    assert browser.me()["name"] == "ana-2"


def test_the_secret_is_sent_the_way_the_provider_takes_it(browser, issuer):
    issuer.document["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    browser.sign_in()
    assert browser.me()["name"] == "ana"


def test_what_a_provider_says_about_itself_is_read_again_after_an_hour(browser, issuer):
    now = datetime.now(UTC)
    clock = SimpleNamespace(now=now)
    settings = OidcSettings(issuer=issuer.url, client_id=issuer.CLIENT, tenant="default")
    provider = Provider(settings, clock=lambda: clock.now)
    flow = Flow.begin(base_url=HOST, then="/")
    for later in (0, 59, 61):
        clock.now = now + timedelta(minutes=later)
        browser.served.run(provider.authorization_url, flow)
    assert issuer.asked.count("describe") == 2


def test_an_answer_to_another_browser_is_refused_before_anyone_is_asked(browser, issuer):
    back = browser.prove(browser.begin())
    browser.begin()
    browser.refused(browser.client.get(back), 401)
    browser.client.cookies.clear()
    message = browser.refused(browser.client.get(back), 401)
    assert "not begun in this browser" in message
    assert "token" not in issuer.asked


def test_a_cookie_that_holds_no_flow_is_none(browser, subtests):
    for cookie in ("", "x", "e30", url_base64(b'["a","b"]'), url_base64(b'["\\ud800","b","/"]'), "A" * 5000):
        with subtests.test(cookie[:20]):
            answer = browser.client.get(
                "/sign-in/callback?code=a&state=b", headers={"cookie": f"skillyard_flow={cookie}"}
            )
            browser.refused(answer, 401)


def test_an_answer_counts_once(browser, issuer):
    url = browser.begin()
    cookie = {"cookie": f"skillyard_flow={browser.client.cookies['skillyard_flow']}"}
    back = browser.prove(url)
    assert browser.client.get(back).status_code == 303
    browser.client.post("/sign-out", headers=OWN)
    browser.refused(browser.client.get(back), 401)
    # Even who kept the cookie has a code that the provider takes no more.
    browser.refused(browser.client.get(back, headers=cookie), 401)


def test_a_code_of_another_flow_is_of_no_use(browser):
    stolen = parse_qs(urlsplit(browser.prove(browser.begin())).query)["code"][0]
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    answer = browser.client.get(f"/sign-in/callback?{urlencode({'code': stolen, 'state': state})}")
    browser.refused(answer, 401)


def test_an_answer_without_a_code_of_this_provider_is_refused(browser, issuer, subtests):
    for answer, status in (
        ({"error": "access_denied", "error_description": "<b>no</b>"}, 401),
        ({"error": "access_denied", "code": "a"}, 401),
        ({}, 401),
        ({"code": "x" * 5000}, 401),
        ({"code": "a", "iss": "https://other.example"}, 400),
    ):
        with subtests.test(str(answer)[:40]):
            state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
            shown = browser.client.get(f"/sign-in/callback?{urlencode({**answer, 'state': state})}")
            browser.refused(shown, status)
            assert "<b>" not in shown.text
            assert "token" not in issuer.asked


def test_only_our_own_page_begins_a_sign_in(browser):
    for headers in ({}, {"origin": "https://evil.example"}, {"origin": HOST, "sec-fetch-site": "cross-site"}):
        browser.refused(browser.client.post("/sign-in/oidc", headers=headers), 403)


def test_the_way_back_is_one_of_ours(browser):
    assert browser.sign_in(then="//evil.example").headers["location"] == "/"


def test_behind_a_proxy_with_tls_the_provider_is_told_the_address_that_people_use(browser):
    url = browser.begin(headers={"origin": "https://127.0.0.1:8321"})
    assert parse_qs(urlsplit(url).query)["redirect_uri"] == ["https://127.0.0.1:8321/sign-in/callback"]
    flow = browser.client.cookies.jar
    assert [(cookie.name, cookie.secure) for cookie in flow] == [("__Host-skillyard-flow", True)]


def test_the_challenge_says_nothing_of_what_is_proved_later(browser):
    query = parse_qs(urlsplit(browser.begin()).query)
    cookie = browser.client.cookies["skillyard_flow"]
    flow = Flow.read(cookie)
    assert len({flow.secret, flow.state, flow.nonce, flow.verifier, flow.challenge}) == 5
    assert query["code_challenge"] == [flow.challenge]
    assert flow.verifier not in str(query)
    assert len(flow.verifier) >= 43


def test_a_provider_that_is_down_leaves_the_token(open_browser):
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with open_browser(oidc_issuer=f"http://127.0.0.1:{port}") as lonely:
        answer = lonely.client.post("/sign-in/oidc", headers=OWN)
        message = lonely.refused(answer, 503)
        assert str(port) not in message
        token = lonely.served.token("ana").secret
        assert lonely.client.post("/sign-in", data={"token": token}, headers=OWN).status_code == 303


def test_a_provider_that_says_nonsense_is_not_used(browser, issuer, subtests):
    for failing in (
        Response("oops", status_code=500),
        Response("<html>"),
        Response("[]"),
        Response("[" * 100_000),
        Response(b"\xff"),
        Response(b" " * (MAX_BYTES + 1)),
        RedirectResponse("http://127.0.0.1:9/"),
        JSONResponse({"issuer": "https://other.example"}),
        JSONResponse({}),
    ):
        with subtests.test(repr(failing.body[:20])):
            issuer.failing = failing
            browser.refused(browser.client.post("/sign-in/oidc", headers=OWN), 503)


def test_endpoints_without_https_are_not_used(browser, issuer, subtests):
    for url in ("http://login.example/token", "ftp://127.0.0.1/x", "//x", None, 7, "http://[", ""):
        with subtests.test(repr(url)):
            issuer.document["token_endpoint"] = url
            browser.refused(browser.client.post("/sign-in/oidc", headers=OWN), 503)
