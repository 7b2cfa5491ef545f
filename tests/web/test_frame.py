"""What every page has: search, palette, themes, languages, live changes, and no need of scripts to read it."""

import re

import httpx
import pytest
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


def test_half_a_name_is_enough_for_the_palette_and_for_the_list(yard, visit, tmp_path):
    for name, description in (
        ("hedgehog-care", "Feeds them. Use it."),
        ("zoo", "Of a hedgehog and more hedgehog. Use it."),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n")
        yard.client.publish(folder)
    page = visit(yard.url).go("/skills")
    page.keyboard.press("Control+k")
    for typed in ("hed", "care hedge", "hedgehog", f"{yard.client.skill('zoo')['namespace']}/hed"):
        page.locator("#palette-q").fill(typed)
        expect(page.locator("#palette-found a").first).to_contain_text("hedgehog-care")
    page.keyboard.press("Escape")  # empties it
    page.keyboard.press("Escape")
    page.locator("#skills-q").fill("hedg")
    expect(page.locator("#skills li")).to_have_count(2)


def test_every_place_that_the_keyboard_reaches_on_a_phone_is_in_sight(yard, visit):
    page = visit(yard.url, width="phone").go("/settings/agents")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport(ratio=1)
    for _ in range(15):
        page.keyboard.press("Tab")
        if page.locator(".bar nav a:focus, .tabs a:focus").count():
            expect(page.locator("a:focus")).to_be_in_viewport(ratio=0.99)
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_palette_leaves_the_arrows_to_input_methods(yard, visit):
    page = visit(yard.url).go("/skills")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-found a").first).to_be_visible()
    options = "{ key: 'ArrowDown', isComposing: true, bubbles: true, cancelable: true }"
    assert page.locator("#palette-q").evaluate(f"input => input.dispatchEvent(new KeyboardEvent('keydown', {options}))")
    expect(page.locator("#palette-q")).to_be_focused()


def test_what_a_page_cannot_ask_for_is_said(yard, visit):
    page = visit(yard.url).go("/skills")
    page.route("**/skills?*", lambda route: route.abort())
    page.locator("#skills-q").fill("browser")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.unroute("**/skills?*")
    page.locator("#skills-q").fill("x" * 3000)
    expect(page.get_by_role("alert")).to_contain_text("The request is wrong")
    page.locator("#skills-q").fill("sandbox")
    expect(page.locator("#skills")).to_contain_text("python-sandbox")
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "entered", "address"),
    [
        ("/learning/import", {}, "/learning"),
        ("/settings/tokens", {"label": ""}, "/settings"),
        ("/settings/namespaces/nobody/members", {"person": "x", "role": "viewer"}, "/settings/namespaces"),
        ("/settings/agents/nobody/skills", {"skill": "x/y"}, "/settings/agents"),
        ("/set-up/folders", {"folder": "/nowhere/at/all"}, "/set-up"),
        ("/sandboxes/{sandbox}/run", {"code": ""}, "/sandboxes/{sandbox}"),
        ("/sandboxes/{sandbox}/extend", {"seconds": "-1"}, "/sandboxes/{sandbox}"),
        ("/sandboxes/{sandbox}/files/upload", {"path": "."}, "/sandboxes/{sandbox}/files?path=."),
        ("/settings/tokens/nobody/revoke", {}, "/"),
    ],
)
def test_the_answer_to_a_form_says_where_its_page_is_found_again(yard, path, entered, address):
    made = yard.client.sandboxes.create()["id"] if "sandbox}" in path else ""
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60, headers={"Accept": "text/html"}) as client:
        (token,) = re.findall(r'name="form_token" value="([^"]+)"', client.get("/skills").text)
        answer = client.post(path.format(sandbox=made), data={**entered, "form_token": token})
        assert 400 <= answer.status_code < 500
        found = address.format(sandbox=made)
        assert f'name="next" value="{found}"' in answer.text
        assert client.get(found).status_code == 200


def test_a_language_is_chosen_on_a_page_that_answered_a_form(yard, visit):
    page = visit(yard.url).go("/settings")
    page.get_by_label("What it is for").fill("shown once")
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator("#tokens")).to_contain_text("shown once")
    expect(page).to_have_url(f"{yard.url}/settings")
    expect(page.get_by_role("button", name="Apply")).to_be_hidden()  # the choice is enough
    page.get_by_label("Language").select_option("ko")
    expect(page.get_by_role("heading", level=1)).to_have_text("설정")


@pytest.mark.parametrize(("chosen", "system", "page_colour"), [("dark", "light", 15), ("light", "dark", 246)])
def test_a_theme_that_was_chosen_goes_before_that_of_the_system(yard, visit, chosen, system, page_colour):
    visitor = visit(yard.url, theme=system)
    visitor.page.context.add_cookies([{"name": "skillyard_theme", "value": chosen, "url": yard.url}])
    page = visitor.go("/skills")
    expect(page.locator("html")).to_have_css("background-color", re.compile(rf"rgb\({page_colour}, "))
    assert page.evaluate("colour('--page')") == page.evaluate(
        "getComputedStyle(document.documentElement).backgroundColor"
    )


def test_what_is_chosen_in_the_list_is_in_the_address(yard, visit):
    page = visit(yard.url).go("/skills")
    page.locator("#skills-q").fill("browser")
    expect(page.locator("#skills li").first).to_contain_text("browser-automation")
    expect(page).to_have_url(re.compile(r"q=browser"))
    page.reload()
    expect(page.locator("#skills-q")).to_have_value("browser")


def test_the_way_back_from_a_narrowed_list_leads_to_the_page_before_and_the_keys_still_work(yard, visit):
    page = visit(yard.url).go("/history")
    page.goto(f"{yard.url}/skills")
    for text in ("b", "brow", "browser"):
        page.locator("#skills-q").fill(text)
        expect(page).to_have_url(re.compile(rf"q={text}(&|$)"))
    page.evaluate("location.hash = 'main'")
    page.go_back()
    expect(page.locator("#skills-q")).to_have_value("browser")
    page.wait_for_load_state()
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
    page.go_back()
    expect(page).to_have_url(f"{yard.url}/history")


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


def test_a_page_in_the_background_keeps_no_connection_and_catches_up(yard, visit, tmp_path):
    page = visit(yard.url).page
    page.add_init_script(
        "const Own = EventSource; window.streams = [];"
        "window.EventSource = class extends Own { constructor(at) { super(at); streams.push(this); } };"
    )
    page.goto(f"{yard.url}/skills")
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    turn = """hidden => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(turn, True)
    assert page.evaluate("streams.map((stream) => stream.readyState)") == [2]
    folder = tmp_path / "made-behind"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: made-behind\ndescription: Shows up. Use when back.\n---\n# Hi\n")
    yard.client.publish(folder)
    page.evaluate(turn, False)
    expect(page.locator("#skills")).to_contain_text("made-behind")


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
