"""A yard that nobody used yet: its first page sets it up, and what that writes can be taken back."""

import json
import tomllib

import httpx
import pytest
from playwright.sync_api import expect
from tests.page_forms import PageClient

from skillyard.app.demo_home import NEXT_COMMANDS, build_demo_home

SKILL = "---\nname: {0}\ndescription: Does {0}. Use it for {0}.\n---\n\nDo it.\n"


@pytest.fixture(scope="module")
def new_yard(serve):
    served = serve()
    for name in ("pdf-forms", "broken<b>"):
        folder = served.home / ".claude/skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name))
    (served.home / ".codex").mkdir()
    (served.home / ".codex/config.toml").write_text("# mine\nmodel = 'x'\n")
    return served


def test_folders_are_brought_in_agents_connected_and_a_model_chosen(new_yard, visit):
    visitor = visit(new_yard.url)
    page = visitor.go("/")
    expect(page.get_by_text("pdf-forms", exact=True)).to_be_visible()
    visitor.is_content()
    page.get_by_role("button", name="Publish this").or_(page.get_by_role("button", name="Publish these")).click()
    expect(page.get_by_text("Your skills are here now.")).to_be_visible()
    assert new_yard.client.skill("pdf-forms")["latest"]

    page = visitor.go("/set-up")
    row = page.get_by_role("listitem").filter(has_text="Codex").last
    row.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("connected", exact=True)).to_be_visible()
    config = new_yard.home / ".codex/config.toml"
    written = config.read_text()
    assert written.startswith("# mine\n")
    assert "serve" in tomllib.loads(written)["mcp_servers"]["skillyard"]["args"]
    page.get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("its file is as it was")).to_be_visible()
    assert config.read_text() == "# mine\nmodel = 'x'\n"

    visitor.is_content()


def test_a_model_that_is_chosen_is_used_at_once_for_what_waited(new_yard, visit):
    given = new_yard.client.learning.give("Answer in one sentence.")["id"]
    visitor = visit(new_yard.url)
    page = visitor.go(f"/learning/feedback/{given}")
    expect(page.locator("#standing")).to_contain_text("waits for a model")
    page = visitor.go("/set-up")
    page.get_by_text("Which model").click()
    page.get_by_label("Provider and model").fill("openai:gpt-5")
    page.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_text("openai:gpt-5").first).to_be_visible()
    expect(page.get_by_text("from the next start of the server")).to_have_count(0)
    visitor.is_content()
    page = visitor.go(f"/learning/feedback/{given}")
    expect(page.locator("#standing")).not_to_contain_text("waits for a model")

    page = visitor.go("/set-up")
    page.get_by_text("Another model").click()
    expect(page.get_by_label("Address")).to_have_value("http://127.0.0.1:9/v1")
    page.get_by_label("Address").fill("")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_label("Address")).to_have_value("")
    (config,) = new_yard.home.rglob("skillyard/config.toml")
    assert tomllib.loads(config.read_text()) == {"model": "openai:gpt-5"}


def test_the_guide_is_right_on_a_phone_in_the_dark(new_yard, visit):
    visitor = visit(new_yard.url, theme="dark", width="phone")
    visitor.go("/set-up")
    visitor.is_content()


def test_another_page_cannot_change_the_machine(new_yard):
    answer = httpx.post(
        f"{new_yard.url}/set-up/agents", data={"connect": "codex"}, headers={"Origin": new_yard.url}, timeout=60
    )
    assert answer.status_code == 403
    assert "mcp_servers" not in (new_yard.home / ".codex/config.toml").read_text()


def test_a_yard_for_others_changes_nothing_on_its_machine(serve):
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN="a" * 32)
    answer = httpx.get(f"{served.url}/set-up.json", headers={"Authorization": f"Bearer {'a' * 32}"}, timeout=60)
    assert answer.status_code in {403, 404}
    assert json.loads(answer.text)["error"]["message"]


def test_a_folder_that_is_named_is_brought_in_and_one_that_is_none_is_told(new_yard, visit):
    folder = new_yard.home / "elsewhere/note-taking"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL.format("note-taking"))
    visitor = visit(new_yard.url, javascript=False)
    page = visitor.go("/set-up")
    for wrong in ("no/such<b>", "~/elsewhere/../.codex"):
        page.get_by_text("Another folder").click()
        page.get_by_label("Where it is").fill(wrong)
        page.get_by_role("button", name="Publish what").click()
        expect(page.get_by_role("alert")).to_contain_text(wrong)
        expect(page.get_by_label("Where it is")).to_have_value(wrong)
        page = visitor.go("/set-up")
    page.get_by_text("Another folder").click()
    page.get_by_label("Where it is").fill("~/elsewhere")
    page.get_by_role("button", name="Publish what").click()
    expect(page.get_by_text("Your skills are here now.")).to_be_visible()
    assert new_yard.client.skill("note-taking")["latest"]


def test_the_demonstrations_own_yard_touches_nothing_of_yours(serve, visit, tmp_path):
    demo = serve(SKILLYARD_HOME=str(build_demo_home(tmp_path).yard))
    (demo.home / ".codex").mkdir()
    visitor = visit(demo.url)
    page = visitor.go("/")
    expect(page.get_by_role("button", name="Connect")).to_have_count(0)
    page = visitor.go("/set-up")
    assert page.locator(".copy code").all_inner_texts() == list(NEXT_COMMANDS.values())
    visitor.is_content()
    with PageClient(demo.url) as client:
        forms = {"folders": {}, "agents": {"connect": "codex"}, "model": {"model": "openai:gpt-5"}, "sample/remove": {}}
        for action, fields in forms.items():
            assert client.fill_in("/set-up", f"/set-up/{action}", **fields).status_code == 403
    assert not list((demo.home / ".codex").iterdir())
    assert not list(demo.home.rglob("config.toml"))
