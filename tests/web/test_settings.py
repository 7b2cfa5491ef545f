"""Settings in the browser: tokens, namespaces, agents, and the machine's own."""

import re

import httpx
from playwright.sync_api import expect

ADMIN = "sky_test_admin_0123456789abcdef"
PAGES = ["/settings", "/settings/namespaces", "/settings/agents", "/settings/system"]


def test_every_page_is_without_faults(yard, visit):
    visitor = visit(yard.url)
    for path in PAGES:
        visitor.go(path)
        visitor.is_content_on_every_screen()


def test_the_doctor_says_what_is_and_what_to_do(yard, visit):
    visitor = visit(yard.url)
    page = visitor.go("/settings/doctor")
    expect(page.get_by_role("table")).to_contain_text("no model is set")
    visitor.is_content()


def test_the_page_of_the_doctor_comes_before_what_it_finds(yard, visit):
    visitor = visit(yard.url, javascript=False)
    page = visitor.go("/settings/doctor")
    expect(page.get_by_role("table")).to_have_count(0)
    page.get_by_role("link", name="Look over this machine").click()
    expect(page.get_by_role("table")).to_contain_text("no model is set")
    found = httpx.get(f"{yard.url}/settings/doctor.json", trust_env=False, timeout=60).json()["data"]["checks"]
    assert "database" in {check["name"] for check in found}


def test_a_token_is_shown_once_works_and_is_revoked(yard, visit):
    visitor = visit(yard.url)
    page = visitor.go("/settings")
    page.get_by_label("What it is for").fill("a program")
    page.get_by_role("button", name="Make the token").click()
    secret = page.get_by_role("status").locator("code").inner_text()
    assert secret.startswith("sky_")
    with httpx.Client(
        base_url=yard.url, trust_env=False, timeout=60, headers={"Authorization": f"Bearer {secret}"}
    ) as client:
        assert client.get("/api/v1/me").json()["data"]["scope"] == "read"
        page.goto(f"{yard.url}/settings")
        assert secret not in page.content()
        visitor.is_content()
        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("tr", has_text="a program").get_by_role("button", name="Revoke").click()
        expect(page.locator("tr", has_text="a program")).to_contain_text("revoked")
        assert client.get("/api/v1/me").status_code == 401


def test_an_agent_gets_a_skill_and_loses_it(yard, visit):
    page = visit(yard.url, javascript=False).go("/settings/agents")
    page.get_by_label("Name").fill("Support desk")
    page.get_by_role("button", name="Create").click()
    card = page.locator("section.card", has_text="Support desk")
    card.get_by_placeholder("namespace/name").fill("system/skill-creator")
    card.get_by_role("button", name="Attach").click()
    expect(card.get_by_role("link", name="system/skill-creator")).to_be_visible()
    card.get_by_placeholder("namespace/name").fill("nobody/nothing")
    card.get_by_role("button", name="Attach").click()
    expect(page.get_by_role("alert")).to_contain_text("nobody/nothing")
    card.get_by_role("button", name="Detach").click()
    expect(card).to_contain_text("No skill is attached.")


def test_a_team_is_made_and_says_what_it_asks_of_versions(yard, visit):
    visitor = visit(yard.url)
    page = visitor.go("/settings/namespaces")
    page.get_by_label("Name").fill("data-team")
    page.get_by_role("button", name="Create").click()
    card = page.locator("section.card", has_text="data-team")
    expect(card).to_contain_text("administrator")
    card.get_by_text("What is asked of versions").click()
    card.get_by_label("Security scan").select_option("refuse-errors")
    card.get_by_label("Somebody else approves").check()
    visitor.is_content()
    card.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("versions are reviewed")
    kept = httpx.get(f"{yard.url}/api/v1/namespaces/data-team", trust_env=False, timeout=60).json()["data"]["policy"]
    assert (kept["scan"], kept["review"], kept["profile"]) == ("refuse-errors", True, "lenient")


def test_an_environment_is_used_and_left(yard, visit):
    (yard.home / ".config/skillyard/environments/research/skills").mkdir(parents=True)
    page = visit(yard.url, javascript=False).go("/settings/system")
    card = page.locator("section.card", has_text="research")
    card.get_by_role("button", name="Use").click()
    expect(card).to_contain_text("in use")
    card.get_by_role("button", name="Leave").click()
    expect(card.get_by_role("button", name="Use")).to_be_visible()


def test_where_a_setting_comes_from_is_said_in_the_language_of_the_reader(yard):
    asked = {"Accept": "text/html", "Accept-Language": "ko"}
    page = httpx.get(f"{yard.url}/settings/system", headers=asked, trust_env=False, timeout=60).text
    assert "환경 변수 SKILLYARD_HOME" in page
    assert '<td class="dim">기본값</td>' in page


def test_a_form_that_is_sent_twice_does_it_once(yard, visit):
    page = visit(yard.url).go("/settings")
    page.get_by_label("What it is for").fill("clicked twice")
    page.get_by_role("button", name="Make the token").dblclick()
    expect(page.get_by_role("status").locator("code")).to_be_visible()
    page.goto(f"{yard.url}/settings")
    expect(page.locator("tr", has_text="clicked twice")).to_have_count(1)


def test_people_sign_in_with_a_token_and_see_only_what_is_theirs(serve, visit):
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=ADMIN)
    with httpx.Client(
        base_url=served.url, trust_env=False, timeout=60, headers={"Authorization": f"Bearer {ADMIN}"}
    ) as client:
        client.post("/api/v1/people", json={"name": "ana"}).raise_for_status()
        made = client.post("/api/v1/tokens", json={"label": "browser", "person": "ana", "scope": "write"}).json()
    visitor = visit(served.url)
    page = visitor.go("/settings")
    expect(page).to_have_url(re.compile("/sign-in"))
    visitor.is_content()
    page.get_by_label("Your token").fill(made["data"]["secret"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("footer")).to_contain_text("You are ana")
    expect(page.get_by_role("link", name="Configuration")).to_have_count(0)
    assert page.goto(f"{served.url}/settings/system").status == 403
    visitor.go("/settings")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in"))
