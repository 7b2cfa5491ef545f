"""The history and the graph in the browser: looked through, followed, undone."""

import httpx
import pytest
from playwright.sync_api import expect

TEXT = "---\nname: {name}\ndescription: Tells tales. Use when bored.\n---\n{body}\n"


@pytest.fixture
def publish(yard, tmp_path):
    def made(name, body):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "SKILL.md").write_text(TEXT.format(name=name, body=body))
        return yard.client.publish(folder)["full_name"]

    return made


def test_every_page_is_without_faults(yard, visit, publish):
    name = publish("storied", "# One")
    publish("tied", "See [it](../storied/SKILL.md) and [gone](../gone-skill/SKILL.md).")
    visitor = visit(yard.url)
    visitor.go("/history")
    visitor.is_content_on_every_screen()
    visitor.page.get_by_role("main").get_by_role("link").filter(has_text="ago").or_(
        visitor.page.get_by_role("main").get_by_role("link").filter(has_text="just now")
    ).first.click()
    visitor.is_content_on_every_screen()
    visitor.go(f"/history?skill={name}&actor=nobody")
    visitor.is_content_on_every_screen()
    for path in ("/graph", "/graph?q=tied", "/graph?broken=true", "/graph?q=nothing-like-it"):
        visitor.go(path)
        if "nothing" not in path:
            visitor.page.wait_for_selector("#graph[data-drawn]")
        visitor.is_content_on_every_screen()


def test_a_deleted_skill_is_brought_back_from_where_its_deletion_is_told(yard, visit, publish):
    name = publish("gone-for-now", "# Here")
    page = visit(yard.url, javascript=False).go(f"/skills/{name}/delete")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").first).to_contain_text("Deleted")
    page.get_by_label("Why").fill("It was a mistake")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("It was a mistake")).to_be_visible()
    page.goto(f"{yard.url}/skills/{name}")
    expect(page.get_by_role("article")).to_contain_text("Here")


def test_a_change_shows_what_it_did_to_the_files(yard, visit, publish):
    publish("rewritten", "# Before it")
    name = publish("rewritten", "# After it")
    page = visit(yard.url).go(f"/skills/{name}/history")
    page.locator("li", has_text="Changed").get_by_role("link").last.click()
    expect(page.locator(".diff ins")).to_have_text("After")
    page.get_by_role("link", name="Side by side").click()
    expect(page.locator(".diff.sides del")).to_have_text("Before")


def test_a_change_of_settings_shows_what_differs_in_words(yard, visit):
    yard.client.people.create_namespace("ruled")
    yard.client.people.set_policy("ruled", {"review": True})
    visitor = visit(yard.url)
    page = visitor.go("/history")
    entry = page.locator("li", has_text="Changed the policy of ruled")
    entry.get_by_role("link").last.click()
    expect(page.locator("tbody tr").first).to_have_text("review" + "no" + "yes")
    visitor.is_content_on_every_screen()


def test_the_graph_says_the_same_in_a_picture_a_table_and_its_twin(yard, visit, publish):
    name = publish("hub-of-it", "# Hub")
    publish("spoke-of-it", "See [hub](../hub-of-it/SKILL.md) and [no](../never-was/SKILL.md).")
    page = visit(yard.url).go("/graph?q=of-it")
    page.wait_for_selector("#graph[data-drawn='3']")
    expect(page.get_by_role("table").get_by_role("link", name=name)).to_be_visible()
    expect(page.get_by_role("table")).to_contain_text("leads nowhere")
    drawn = "document.getElementById('graph')._cyreg.cy.nodes()"
    assert page.evaluate(f"{drawn}.filter('.lost').map((node) => node.data('label'))") == ["never-was"]
    places = f"{drawn}.map((node) => node.position())"
    first = page.evaluate(places)
    page.reload()
    page.wait_for_selector("#graph[data-drawn='3']")
    assert page.evaluate(places) == first
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Show all").click()
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        told = client.get("/graph.json?q=of-it").json()["data"]
        waiting = {each["kind"]: each for each in client.get("/home.json").json()["data"]["attention"]}
        assert waiting["broken"]["count"] >= 1
        assert "of-it" in client.get(waiting["broken"]["href"]).text
    assert {node["full_name"].rpartition("/")[2] for node in told["nodes"]} == {"hub-of-it", "spoke-of-it"}
    assert [edge["trouble"] is None for edge in told["edges"]].count(False) == 1
    assert told["totals"] == {"nodes": 2, "edges": 2, "broken": 1}
    page.goto(f"{yard.url}/graph?q=nothing-like-it")
    expect(page.get_by_role("main")).to_contain_text("No reference fits.")


def test_the_graph_stays_in_a_window_that_becomes_narrow(yard, visit, publish):
    publish("narrowed", "See [[narrowed-too]].\n")
    page = visit(yard.url).go("/graph?q=narrowed")
    page.wait_for_selector("#graph[data-drawn]")
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0  # before it is drawn anew, too


def test_an_address_that_is_wrong_is_told_to_people_in_their_words(yard):
    asked = {"Accept": "text/html", "Accept-Language": "ko"}
    told = httpx.get(f"{yard.url}/history?before=abc", headers=asked)
    assert told.status_code == 422
    assert "openapi.json" not in told.text
    assert "첫 페이지(/)에서 다시 시작하세요" in told.text
    assert "openapi.json" in httpx.get(f"{yard.url}/history.json?before=abc").text


def test_what_a_change_is_about_is_named_in_the_language_of_the_reader(yard, publish):
    name = publish("named-facts", "# Here")
    skill = httpx.get(f"{yard.url}/skills/{name}.json").json()["data"]["skill"]
    httpx.put(f"{yard.url}/api/v1/skills/{skill['id']}", json={"visibility": "public"}).raise_for_status()
    number = httpx.get(f"{yard.url}/history.json", params={"skill": name}).json()["data"]["entries"][0]["number"]
    page = httpx.get(f"{yard.url}/history/{number}", headers={"Accept": "text/html", "Accept-Language": "zh"})
    assert '<th scope="row">可见范围</th>' in page.text
