"""Sandboxes in the browser: made, used with their output in view, looked into, and taken away."""

import re
import shlex
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import expect

HOSTILE = "<img src=x onerror=\"document.title='owned'\">"
ADMIN = "sky_test_admin_0123456789abcdef"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


@pytest.fixture(scope="module")
def used(yard):
    """A sandbox in which something was run, as its client and its id."""
    made = yard.client.sandboxes.create(ttl=3600)["id"]
    text, name = shlex.quote(HOSTILE), shlex.quote(f"data/{HOSTILE}.txt")
    files = f"mkdir -p data; echo {text} > {name}; printf 'a\\0b' > raw.bin"
    yard.client.sandboxes.shell(made, f"{files}; echo {text}; echo oops >&2; exit 3")
    yard.client.sandboxes.python(made, "print(6 * 7)")
    return made


@pytest.fixture(scope="module")
def picture(yard, used):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        sent = client.post(f"/v1/sandboxes/{used}/filesystem/upload", data={"path": "p.png"}, files={"file": PNG})
        assert sent.status_code == 200


def test_every_page_is_without_faults_and_nothing_in_it_runs(yard, visit, used, picture):
    run = yard.client.sandboxes.history(used)["entries"][-1]["id"]
    below = ["", "/executions", f"/executions/{run}", "/files", "/files?path=data", "/files/view?path=p.png"]
    below += [f"/files/view?path={quote(f'data/{HOSTILE}.txt')}", "/files/view?path=raw.bin", "/delete"]
    visitor = visit(yard.url)
    for path in ("/sandboxes", *(f"/sandboxes/{used}{each}" for each in below)):
        visitor.go(path)
        for theme, width in (("light", 1280), ("dark", 390)):
            visitor.page.emulate_media(color_scheme=theme)
            visitor.page.set_viewport_size({"width": width, "height": 900})
            visitor.is_content()
        assert "owned" not in visitor.page.title()
    page = visitor.go(f"/sandboxes/{used}/executions/{run}")
    expect(page.locator("#execution")).to_contain_text(HOSTILE)
    expect(page.locator("#execution")).to_contain_text("failed (3)")


def test_a_sandbox_is_made_used_live_stopped_and_deleted(yard, visit):
    visitor = visit(yard.url)
    page = visitor.go("/sandboxes")
    page.get_by_label("Lives for").select_option("1800")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".notice.good")).to_contain_text("The sandbox is there")
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    expect(page.locator("#state")).to_contain_text("idle")
    page.get_by_label("What to run").fill("echo first; while ! test -e go; do sleep 0.1; done; echo last")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#running .output")).to_have_text(re.compile("first"))
    expect(page.locator("#state")).to_contain_text("running")
    sandbox = page.url.rpartition("/")[2].partition("?")[0]
    yard.client.sandboxes.shell(sandbox, "touch go")
    expect(page.locator("#result")).to_contain_text("last")
    expect(page.locator("#running .card")).to_have_count(0)
    expect(page.locator("#executions li")).to_have_count(2)
    expect(page.locator("#skills")).to_contain_text("python-sandbox")
    visitor.is_content()
    page.get_by_role("button", name="Extend").click()
    expect(page.locator(".notice.good")).to_contain_text("more time")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#state")).to_contain_text("idle")
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_role("main")).to_contain_text("Its files are deleted")
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".notice.good")).to_contain_text("deleted")
    expect(page.locator("#sandboxes")).not_to_contain_text(sandbox)


def test_what_an_agent_runs_shows_while_it_runs(yard, visit, used):
    page = visit(yard.url).go(f"/sandboxes/{used}")
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    yard.client.sandboxes.shell(used, "echo from elsewhere")
    expect(page.locator("#executions li").first).to_contain_text("echo from elsewhere")


def test_a_stream_that_was_refused_or_left_is_taken_up_again_with_what_was_missed(yard, visit, used):
    live = f"**/sandboxes/{used}/live"
    page = visit(yard.url).page
    page.clock.install()
    page.route(live, lambda route: route.fulfill(status=503))
    page.goto(f"{yard.url}/sandboxes/{used}")
    expect(page.locator(".live")).to_have_attribute("data-live", "off")
    yard.client.sandboxes.shell(used, "echo while it was refused")
    page.unroute(live)
    page.clock.fast_forward(10_000)
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    page.clock.fast_forward(200)
    expect(page.locator("#executions li").first).to_contain_text("while it was refused")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    yard.client.sandboxes.shell(used, "echo while another page was looked at")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(page.locator(".live")).to_have_attribute("data-live", "on")
    page.clock.fast_forward(200)
    expect(page.locator("#executions li").first).to_contain_text("while another page was looked at")


def test_without_a_script_a_run_answers_with_its_record_and_files_go_in_and_out(yard, visit, used, tmp_path):
    page = visit(yard.url, javascript=False).go(f"/sandboxes/{used}")
    page.get_by_label("What to run").fill("print('plain', 1 + 1)")
    page.locator("select[name=kind]").select_option("python")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#execution")).to_contain_text("plain 2")
    page.get_by_label("Tags").fill("sums")
    page.get_by_role("button", name="Save").click()
    page.goto(f"{yard.url}/sandboxes/{used}/executions?tags=sums")
    expect(page.locator("main li")).to_have_count(1)
    sent = tmp_path / "sent.txt"
    sent.write_text("taken along\n")
    page.get_by_role("link", name="Files").click()
    page.get_by_label("File", exact=True).set_input_files(sent)
    page.get_by_role("button", name="Send").click()
    page.get_by_role("link", name="sent.txt", exact=True).click()
    expect(page.locator(".code")).to_contain_text("taken along")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text() == "taken along\n"
    page.go_back()
    page.get_by_role("button", name="Delete sent.txt").click()
    expect(page.get_by_role("table")).not_to_contain_text("sent.txt")


def test_what_cannot_be_done_says_why_and_keeps_what_was_entered(yard, visit, used):
    page = visit(yard.url).go("/sandboxes")
    page.get_by_label("Network").fill("nowhere")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    expect(page.get_by_label("Network")).to_have_value("nowhere")
    page.goto(f"{yard.url}/sandboxes/{used}")
    page.get_by_label("What to run").fill("true")
    page.get_by_label("Stop after").fill("300")
    page.locator("form[data-run]").evaluate("form => { form.seconds.max = 9999; form.seconds.value = 5000; }")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#result [role=alert]")).to_contain_text("5000 seconds")


def test_pages_have_twins(yard, used):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        for below in ("", "/executions", "/files", "/delete"):
            assert client.get(f"/sandboxes/{used}{below}.json").json()["data"]["sandbox"]["id"] == used
        listed = client.get("/sandboxes.json").json()["data"]
        assert used in [one["id"] for one in listed["sandboxes"]]
        assert listed["isolation"]["level"] in {"isolated", "partly", "open"}


def test_another_persons_sandbox_never_shows(serve):
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=ADMIN)
    admin = {"Authorization": f"Bearer {ADMIN}"}
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        people = {}
        for name, scope in (("ana", "write"), ("bob", "write"), ("eve", "read")):
            assert client.post("/api/v1/people", json={"name": name}, headers=admin).status_code == 201
            asked = {"label": name, "person": name, "scope": scope}
            secret = client.post("/api/v1/tokens", json=asked, headers=admin).json()["data"]["secret"]
            people[name] = {"Authorization": f"Bearer {secret}", "Accept": "text/html"}
        made = client.post("/v1/sandboxes", json={}, headers=people["ana"]).json()["id"]
        run = client.post(f"/v1/sandboxes/{made}/shell/exec", json={"command": "echo mine"}, headers=people["ana"])
        record = f"/executions/{run.json()['execution_id']}"
        assert "echo mine" in client.get(f"/sandboxes/{made}{record}", headers=people["ana"]).text
        assert made not in client.get("/sandboxes", headers=people["bob"]).text
        below = ("", "/executions", record, "/files", "/files/view?path=x", "/files/raw?path=x", "/delete", "/live")
        for path in below:
            answer = client.get(f"/sandboxes/{made}{path}", headers=people["bob"])
            assert answer.status_code == 404, path
            assert "mine" not in answer.text
        page = client.get("/sandboxes", headers=people["bob"])
        (token,) = set(re.findall(r'name="form_token" value="([^"]+)"', page.text)[:1])
        for action in ("run", "stop", "extend", "keep-alive", "delete", "files/upload", "files/delete"):
            sent = {"form_token": token, "code": "echo in", "path": "x", "seconds": "60"}
            assert client.post(f"/sandboxes/{made}/{action}", data=sent, headers=people["bob"]).status_code == 404
        assert client.get(f"/v1/sandboxes/{made}", headers=people["ana"]).status_code == 200
        looking = client.get("/sandboxes", headers=people["eve"]).text
        assert "may only look" in looking
        assert 'action="/sandboxes"' not in re.sub(r'method="get"', "", looking).replace(
            '<form class="filters" action="/sandboxes"', ""
        )
