"""Signing in at a server for people with tokens: the door, what is behind it, and the way out."""

import re

import httpx
import pytest
from playwright.sync_api import expect
from tests.identity_provider import SECRET, Issuer, running_issuer

ADMIN = "sky_test_admin_0123456789abcdef"


@pytest.fixture(scope="module")
def door(serve):
    """A server that asks who comes in, and the tokens of two people."""
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=ADMIN)
    admin = {"Authorization": f"Bearer {ADMIN}"}
    served.tokens = {}
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60, headers=admin) as client:
        for name in ("ana", "bob"):
            assert client.post("/api/v1/people", json={"name": name}).status_code == 201
            asked = {"label": name, "person": name, "scope": "write"}
            served.tokens[name] = client.post("/api/v1/tokens", json=asked).json()["data"]["secret"]
    return served


def test_the_way_back_after_signing_out_leads_to_the_door(door, visit):
    page = visit(door.url).go("/settings")
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".foot")).to_contain_text("You are ana")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("javascript", [True, False])
def test_the_door_leads_back_to_where_one_wanted_to_go_and_out_again(door, visit, javascript):
    visitor = visit(door.url, javascript=javascript)
    page = visitor.go("/skills?q=python")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.get_by_label("Your token").fill("sky_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
    expect(page.get_by_role("alert")).to_contain_text("ask an administrator")
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/skills\?q=python$"))
    expect(page.locator(".foot")).to_contain_text("You are ana")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    visitor.go("/skills")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_language_and_theme_are_chosen_at_the_door_without_a_script_and_without_losing_the_way(door, visit):
    page = visit(door.url, javascript=False).go("/skills?q=python")
    page.get_by_label("Language").select_option("ko")
    page.get_by_label("Theme").select_option("dark")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("로그인")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator("#token").fill("sky_wrong")
    page.get_by_role("button", name="로그인").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("언어").select_option("en")
    page.get_by_role("button", name="적용").click()
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/skills\?q=python$"))


def test_a_page_says_that_its_reader_is_signed_out_and_keeps_what_it_shows(door, visit):
    page = visit(door.url).go("/skills")
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#skills li").first).to_be_visible()
    page.context.clear_cookies()
    page.locator("#skills-q").fill("browser")
    expect(page.get_by_role("alert")).to_contain_text("no longer signed in")
    expect(page.locator("#skills li").first).to_be_visible()
    page.get_by_role("alert").get_by_role("link", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("javascript", [True, False])
def test_who_sends_a_form_too_late_comes_back_to_it_after_signing_in(door, visit, javascript):
    page = visit(door.url, javascript=javascript).go("/skills/new")
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    page.locator("[name=name]").fill("late")
    page.locator("[name=description]").fill("Late. Use it.")
    page.context.clear_cookies()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("Sign in once more")
    page.get_by_role("link", name="Sign in").click()
    page.get_by_label("Your token").fill(door.tokens["ana"])
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/skills/new$"))


def test_the_door_is_without_faults_in_every_theme_width_and_language(door, visit):
    for locale, title in (("en", "Sign in"), ("ko-KR", "로그인"), ("zh-CN", "登录")):
        visitor = visit(door.url, locale=locale)
        page = visitor.go("/sign-in")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        for theme, width in (("light", 1280), ("dark", 390)):
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            visitor.is_content()


def test_who_is_signed_in_already_is_told_so_and_two_people_do_not_see_each_others_things(door, visit):
    made = {"name": "only-anas", "description": "Private. Use never.", "content": "x"}
    with httpx.Client(base_url=door.url, trust_env=False, timeout=60) as client:
        ana = {"Authorization": f"Bearer {door.tokens['ana']}"}
        assert client.post("/api/v1/skills", json=made, headers=ana).status_code == 201
    for name, sees in (("ana", True), ("bob", False)):
        visitor = visit(door.url)
        page = visitor.go("/skills")
        page.get_by_label("Your token").fill(door.tokens[name])
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("#skills li").first).to_be_visible()
        assert (page.get_by_text("only-anas").count() > 0) is sees
        visitor.go("/history")
        assert (page.get_by_text("only-anas").count() > 0) is sees
        visitor.go("/sign-in?next=/history")
        expect(page.get_by_role("main")).to_contain_text(f"signed in as {name}")
        visitor.is_content()
        page.get_by_role("link", name="Go on").click()
        expect(page).to_have_url(re.compile(r"/history$"))


def test_pages_of_a_skill_offer_only_what_the_reader_may_do(door):
    made = {"name": "for-all", "description": "For everyone. Use it.", "content": "x", "visibility": "public"}
    tokens = {"admin": ADMIN, **door.tokens}
    offered = {"admin": {"edit", "delete", "publish", "visibility"}, "ana": {"edit"}, "bob": set()}
    with httpx.Client(base_url=door.url, trust_env=False, timeout=60, headers={"Accept": "text/html"}) as client:
        admin = {"Authorization": f"Bearer {ADMIN}"}
        assert client.post("/api/v1/namespaces", json={"name": "crew"}, headers=admin).status_code == 201
        member = client.put("/api/v1/namespaces/crew/members/ana", json={"role": "editor"}, headers=admin)
        assert member.is_success
        answer = client.post("/api/v1/skills", json={**made, "namespace": "crew"}, headers=admin)
        skill = answer.json()["data"]["full_name"]
        for name, offers in offered.items():
            reader = {"Authorization": f"Bearer {tokens[name]}"}
            pages = [client.get(f"/skills/{skill}{part}", headers=reader) for part in ("", "/versions", "/files")]
            assert {page.status_code for page in pages} == {200}
            found = {place for page in pages for place in re.findall(rf"/skills/{skill}/(\w+)[\"?]", page.text)}
            assert found & offered["admin"] == offers, name


@pytest.mark.parametrize("javascript", [True, False])
def test_people_come_in_by_way_of_their_identity_provider_and_go_out_again(serve, visit, javascript):
    with running_issuer() as issuer:
        gate = serve(
            SKILLYARD_AUTH="token",
            SKILLYARD_OIDC_ISSUER=issuer.url,
            SKILLYARD_OIDC_CLIENT_ID=Issuer.CLIENT,
            SKILLYARD_OIDC_CLIENT_SECRET=SECRET,
        )
        visitor = visit(gate.url, javascript=javascript)
        page = visitor.go("/skills?q=python")
        page.get_by_role("button", name="Sign in with").click()
        expect(page).to_have_url(re.compile(r"/skills\?q=python$"))
        expect(page.locator(".foot")).to_contain_text("You are ana")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert [each for each in visitor.wrong if issuer.url not in each] == []
