"""What every page has: search, palette, themes, languages, live changes, and no need of scripts to read it."""

import re

import httpx
from playwright.sync_api import expect

PAGES = ["/", "/skills", "/skills?q=python", "/skills?q=qqqqq", "/reviews", "/nowhere"]


def test_every_page_is_without_faults(yard, visit):
    visitor = visit(yard.url)
    for path in PAGES:
        visitor.go(path)
        visitor.is_content_on_every_screen()


def test_a_slash_finds_and_the_palette_leads_anywhere(yard, visit):
    page = visit(yard.url).go("/")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("sandbox")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/skills\?q=sandbox$"))
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-found").get_by_role("link", name="Sandboxes")).to_be_visible()
    page.keyboard.type("skill-creator")
    first = page.locator("#palette-found a").first
    expect(first).to_contain_text("skill-creator")
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()


def test_what_is_chosen_in_the_list_is_in_the_address(yard, visit):
    page = visit(yard.url).go("/skills")
    page.locator("#skills-q").fill("browser")
    expect(page.locator("#skills li").first).to_contain_text("browser-automation")
    expect(page).to_have_url(re.compile(r"q=browser"))
    page.reload()
    expect(page.locator("#skills-q")).to_have_value("browser")


def test_readers_choose_language_and_theme_without_a_script(yard, visit):
    page = visit(yard.url, javascript=False).go("/skills?q=python&namespace=")
    page.get_by_label("Language").select_option("ko")
    page.get_by_label("Theme").select_option("dark")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("heading", level=1)).to_have_text("스킬")
    expect(page.locator("#skills-q")).to_have_value("python")


def test_a_browser_is_answered_in_its_own_language(yard, visit):
    page = visit(yard.url, locale="zh-CN").go("/skills")
    expect(page.get_by_role("heading", level=1)).to_have_text("技能")


def test_what_changes_elsewhere_shows_by_itself(yard, visit, tmp_path):
    page = visit(yard.url).go("/skills")
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    folder = tmp_path / "seen-at-once"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: seen-at-once\ndescription: Shows up. Use when watching.\n---\n# Hi\n")
    yard.client.publish(folder)
    expect(page.locator("#skills")).to_contain_text("seen-at-once")


def test_what_changed_while_the_server_refused_shows_when_it_answers_again(yard, visit, tmp_path):
    page = visit(yard.url).page
    page.clock.install()
    page.route("**/api/v1/events", lambda route: route.fulfill(status=503))
    page.goto(f"{yard.url}/skills")
    expect(page.locator(".live")).to_have_attribute("data-live", "off")
    folder = tmp_path / "missed-at-first"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: missed-at-first\ndescription: Shows up. Use when late.\n---\n# Hi\n")
    yard.client.publish(folder)
    page.unroute("**/api/v1/events")
    page.clock.fast_forward(10_000)
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    expect(page.locator("#skills")).to_contain_text("missed-at-first")


def test_every_page_has_a_twin_for_programs_and_a_first_page_for_each(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        for path in ("/home.json", "/skills.json", "/skills.json?q=python", "/reviews.json"):
            answer = client.get(path)
            assert answer.headers["content-type"] == "application/json"
            assert answer.json()["success"] is True
        assert client.get("/").json()["data"]["skills"] == "/api/v1/skills"
        assert "text/html" in client.get("/", headers={"Accept": "text/html"}).headers["content-type"]
        assert client.get("/nowhere").json()["error"]["code"] == "not_found"


def test_a_form_that_is_not_ours_is_refused(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60, headers={"Accept": "text/html"}) as client:
        answer = client.post("/settings/appearance", data={"theme": "dark"})
        assert answer.status_code == 403
        assert "not one that the page gave" in answer.text
        page = client.get("/skills")
        (token,) = re.findall(r'name="form_token" value="([^"]+)"', page.text)
        sent = {"theme": "dark", "form_token": token, "next": "/skills"}
        assert client.post("/settings/appearance", data=sent).status_code == 303
        assert client.post("/settings/appearance", data={**sent, "form_token": token[::-1]}).status_code == 403
        away = client.post("/settings/appearance", data={**sent, "next": "//evil.example/"})
        assert away.headers["location"].startswith("/?")
        with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as stranger:
            assert stranger.post("/settings/appearance", data=sent).status_code == 403


def test_nothing_may_be_loaded_from_elsewhere(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60, headers={"Accept": "text/html"}) as client:
        policy = client.get("/").headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


def test_a_browser_asks_again_for_what_it_kept(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, headers={"Accept": "text/html"}) as client:
        for path in ("/skills", "/skills.json", "/skills/system/skill-creator/files/SKILL.md?raw=1"):
            assert client.get(path).headers["cache-control"] == "private, no-cache"


def test_a_page_weighs_little(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60, headers={"Accept": "text/html"}) as client:
        page = client.get("/")
        weight = int(page.headers["content-length"])
        for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            weight += int(client.get(name).headers["content-length"])
    assert weight < 60_000
