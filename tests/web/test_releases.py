"""Learned skills in the browser: the board, what speaks for each, how it does in use, and what is done about it."""

import re
from types import SimpleNamespace

import httpx
import pytest
from playwright.sync_api import expect

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
STEPS = {
    "kind": "code",
    "variables": {
        "name": {"type": "string", "description": "Who is greeted"},
        "loud": {"type": "boolean", "default": "false"},
        "password": {"type": "string", "secret": True},
    },
    "steps": [
        {"type": "shell", "cmd": "printf 'Hello, %s' {{name}} > greeting"},
        {"type": "shell", "cmd": "test {{name}} != Nobody"},
    ],
    "postconditions": [{"kind": "file_contains", "path": "greeting", "text": "{{name}}"}],
}
SHORTER = {**STEPS, "variables": {"name": {"type": "string"}}, "steps": STEPS["steps"][:1]}
PAGE = {
    "kind": "browser",
    "steps": [
        {"type": "browser", "cmd": "open data:text/html,<title>Shop</title><h1>Teapots</h1><button>Order</button>"},
        {"type": "browser", "cmd": "click @e1", "element": {"role": "button", "name": "Send nothing at all"}},
    ],
}


class Learner:
    """Someone whose agents did something, of which candidates are made."""

    def __init__(self, client):
        self.client = client
        self.releases = client.releases
        self.sandbox = client.sandboxes.create()["id"]
        self.execution = client.sandboxes.shell(self.sandbox, "echo seen")["execution_id"]

    def candidate(self, key, steps=STEPS, summary="Greets people."):
        ref = self.releases.payloads.create(steps, kind=steps["kind"])["payload_ref"]
        made = self.releases.create_candidate(
            skill_key=key, source_execution_ids=[self.execution], payload_ref=ref, summary=summary
        )
        return made["id"]

    def release(self, key, steps=STEPS, *, stage="stable", names=()):
        """A release, and its runs with these names; `Nobody` fails."""
        candidate_id = self.candidate(key, steps)
        self.releases.evaluate(candidate_id, passed=True, report="Looked at")
        made = self.releases.promote(candidate_id, stage=stage, upgrade_reason="It works")
        for name in names:
            self.releases.run_skill(
                key, {"name": name}, secrets={"password": "hunter2"}, sandbox_id=self.sandbox, release_id=made["id"]
            )
        return made["id"]


@pytest.fixture(scope="module")
def learner(yard):
    return Learner(yard.client)


@pytest.fixture(scope="module")
def seen(learner):
    """A skill with a stable release, a canary, and some runs."""
    stable = learner.release("looked-at", names=["Ada", "Nobody", "Bo"])
    shorter = learner.candidate("looked-at", SHORTER)
    learner.releases.evaluate(shorter, passed=True)
    canary = learner.releases.promote(shorter, stage="canary", upgrade_reason="It is shorter")["id"]
    learner.releases.run_skill("looked-at", {"name": "Cy"}, sandbox_id=learner.sandbox, release_id=canary)
    run = learner.releases.runs(release_id=stable)["items"][1]["id"]
    evaluation = learner.releases.evaluations(shorter)["items"][0]["id"]
    learner.releases.save_benchmark("names", [{"variables": {"name": "Ada"}}])
    return SimpleNamespace(stable=stable, canary=canary, candidate=shorter, run=run, evaluation=evaluation)


def test_every_page_of_releases_is_without_faults(yard, visit, seen):
    visitor = visit(yard.url)
    below = ["", "/candidates", "/all", "/insights", "/gaps", "/benchmarks?name=names"]
    below += [f"/candidates/{seen.candidate}{each}" for each in ("", "/evaluate", "/promote", "/delete")]
    below += [f"/{seen.canary}{each}" for each in ("", "/diff", "/diff?view=sides", "/run", "/rollback", "/kill")]
    below += [f"/{seen.stable}", f"/runs/{seen.run}", f"/evaluations/{seen.evaluation}"]
    for page in below:
        visitor.go(f"/releases{page}")
        visitor.is_content_on_every_screen()


def test_a_candidate_becomes_canary_and_stable_and_is_rolled_back(yard, visit, learner):
    good = learner.release("told-story", names=["Ada"])
    candidate = learner.candidate("told-story", SHORTER, "Greets people more quickly.")
    visitor, board = visit(yard.url), visit(yard.url).go("/releases")
    page = visitor.go("/releases")
    page.get_by_role("region", name="Candidates").get_by_role("link", name="told-story").click()
    expect(page.locator(".steps")).to_contain_text("printf 'Hello, %s' {{name}}")
    page.locator("summary", has_text=learner.sandbox).click()
    page.get_by_role("link", name="What came of it").click()
    expect(page.get_by_role("main")).to_contain_text("echo seen")
    page.go_back()
    page.get_by_role("link", name="Evaluate").click()
    page.get_by_label("name", exact=False).first.fill("Ada")
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#evaluation")).to_contain_text("passed, as good as before")
    expect(page.get_by_text("Replay 5")).to_be_visible()
    visitor.is_content()

    page.get_by_role("link", name="Release", exact=True).click()
    page.get_by_label("Why").fill("Five of five")
    page.get_by_role("button", name="Release").click()
    expect(page.locator("main [role=status]")).to_contain_text("Released to some")
    expect(page.locator("#standing")).to_contain_text("canary")
    expect(board.get_by_role("region", name="Canary")).to_contain_text("told-story")

    page.get_by_role("link", name="Make it stable").click()
    page.get_by_label("Why").fill("It is quicker")
    page.get_by_role("button", name="Make it stable").click()
    expect(page.locator("main [role=status]")).to_contain_text("It is stable now")
    assert learner.releases.release(good)["state"] == "superseded"

    page.get_by_role("link", name="Roll back").click()
    expect(page.locator("form.asked")).to_contain_text("It goes back to")
    page.get_by_label("Why").fill("It forgets the name")
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("told-story v4")
    expect(page.locator("main")).to_contain_text("It forgets the name")
    page.get_by_role("link", name="Compare").first.click()
    expect(page.locator(".diff .added").first).to_contain_text("test {{name}} != Nobody")
    visitor.go(f"/releases/candidates/{candidate}")
    expect(page.locator("#standing")).to_contain_text("It was taken back")


def test_whoever_deletes_a_skill_is_told_what_of_it_stays_released(yard, visit, seen):
    visitor = visit(yard.url)
    page = visitor.go(f"/skills/{yard.client.skill('looked-at')['full_name']}/delete")
    kept = page.locator(".notice", has_text="Sandboxes still get")
    expect(kept.get_by_role("listitem")).to_contain_text(["canary", "stable"])
    visitor.is_content()
    kept.get_by_role("link", name="looked-at").last.click()
    expect(page).to_have_url(f"{yard.url}/releases/{seen.stable}")


def test_health_is_drawn_with_the_bounds_of_the_test_and_told_as_a_table(yard, visit, seen):
    page = visit(yard.url).go(f"/releases/{seen.stable}")
    expect(page.locator(".chart canvas")).to_have_count(2)
    expect(page.locator(".chart").nth(1)).to_contain_text("rolled back from")
    expect(page.locator(".chart").nth(1).locator(".u-marker[style*=dashed]")).to_have_count(2)  # the bounds
    plain = visit(yard.url, javascript=False).go(f"/releases/{seen.stable}")
    plain.locator("summary", has_text="as a table").click()
    expect(plain.locator("#health tbody tr")).to_have_count(3)
    expect(plain.locator("#health tbody tr").first).to_contain_text("67%")
    expect(plain.locator("#health")).to_contain_text("promoted when that for not worse is 20 or more")


def test_the_health_of_a_release_follows_its_runs(yard, visit, learner):
    release = learner.release("followed")
    page = visit(yard.url).go(f"/releases/{release}")
    expect(page.locator("#health")).to_contain_text("did not run yet")
    learner.releases.run_skill(
        "followed", {"name": "Ada"}, secrets={"password": "x"}, sandbox_id=learner.sandbox, release_id=release
    )
    expect(page.locator("#health .figure").nth(1)).to_have_text("1")
    expect(page.locator(".chart canvas")).to_have_count(2)
    again = page.locator("#release").get_attribute("data-from")
    assert httpx.get(yard.url + again).status_code == 204


def test_a_replay_that_failed_shows_where_with_a_picture_of_the_page(yard, visit, learner):
    candidate = learner.candidate("pictured", PAGE)
    visitor = visit(yard.url)
    page = visitor.go(f"/releases/candidates/{candidate}/evaluate")
    page.get_by_label("How often").fill("1")
    page.get_by_role("button", name="Replay").click()
    expect(page.locator("#evaluation")).to_contain_text("too few replays to tell", timeout=90_000)
    if "There is no browser" in page.locator("#evaluation").inner_text():
        pytest.skip("there is no browser for sandboxes")
    visitor.go(f"/releases/candidates/{candidate}")
    expect(page.locator("#evidence")).to_contain_text("Send nothing at all")
    page.get_by_role("link", name="Replay 1").click()
    picture = page.get_by_role("img", name="The page where")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    visitor.is_content()


def test_without_scripts_skills_are_run_switched_off_retired_and_deleted(yard, visit, learner):
    release = learner.release("switched-off")
    page = visit(yard.url, javascript=False).go(f"/releases/{release}/run")
    page.get_by_label("password").fill("hunter2")
    page.get_by_label("name").fill("Nobody")
    page.get_by_role("button", name="Run it").click()
    expect(page.get_by_role("main")).to_contain_text("a step failed")
    assert "hunter2" not in page.content()
    page.get_by_role("link", name="switched-off").click()
    page.get_by_role("link", name="Switch off").click()
    page.get_by_label("Why").fill("It hangs")
    page.get_by_label("Also switch off all").check()
    page.get_by_role("button", name="Switch off").click()
    expect(page.locator("#standing")).to_contain_text("switched off")
    expect(page.locator("#standing")).to_contain_text("It hangs")
    page.get_by_role("link", name="Delete").click()
    page.get_by_label("Why").fill("Done with it")
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("main [role=status]")).to_contain_text("deleted")
    retired = learner.release("retired")
    page.goto(f"{yard.url}/releases/{retired}/retire")
    page.get_by_label("Why").fill("Nobody needs it")
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("#standing")).to_contain_text("retired")


def test_what_is_refused_says_why_and_keeps_what_was_entered(yard, visit, learner):
    candidate = learner.candidate("refused")
    page = visit(yard.url).go(f"/releases/candidates/{candidate}/promote?stage=stable")
    expect(page.get_by_role("radio", name="all sandboxes")).to_be_checked()
    page.get_by_label("Why").fill("I think so")
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_role("alert")).to_contain_text("did not pass, or there is none")
    expect(page.get_by_label("Why")).to_have_value("I think so")
    page.goto(f"{yard.url}/releases/benchmarks")
    page.get_by_label("Name", exact=True).fill("broken")
    page.get_by_label("Cases").fill("[{")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be read")
    expect(page.get_by_label("Cases")).to_have_value("[{")


def test_what_was_done_again_and_again_is_found_from_the_board(yard, visit, learner):
    for name in ("ada", "bo", "cy"):
        sandbox = yard.client.sandboxes.create()["id"]
        yard.client.sandboxes.shell(sandbox, f"mkdir -p {name} && printf 'Dear {name}' > {name}/letter.txt")
        yard.client.sandboxes.shell(sandbox, f"wc -c {name}/letter.txt")
    page = visit(yard.url).go("/releases")
    page.get_by_role("button", name="Find candidates").click()
    expect(page.locator("#mining")).to_contain_text("runs were looked at")
    page.locator("#mining li a").first.click()
    expect(page.locator("#standing")).to_contain_text("found in runs")


def test_whatever_candidates_hold_nothing_of_it_runs(yard, visit, learner):
    steps = {
        "kind": "code",
        "variables": {"x": {"type": "string", "description": HOSTILE, "default": HOSTILE}},
        "steps": [{"type": "python", "code": f"print({{{{x}}}}, {HOSTILE!r})"}],
    }
    key = "hostile<img src=x onerror=alert(1)>"
    candidate = learner.candidate(key, steps, HOSTILE)
    learner.releases.evaluate(candidate, passed=True, report=HOSTILE)
    release = learner.releases.promote(candidate, stage="stable", upgrade_reason=HOSTILE)["id"]
    learner.releases.run_skill(key, sandbox_id=learner.sandbox, release_id=release)
    visitor = visit(yard.url)
    for path in ("", f"/candidates/{candidate}", f"/{release}", f"/{release}/diff", f"/{release}/run", "/insights"):
        page = visitor.go(f"/releases{path}")
        assert "owned" not in page.title()
        assert page.locator("main script, main img[src=x]").count() == 0
        visitor.is_content()


def test_pages_of_releases_have_twins(yard, seen):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        told = client.get(f"/releases/{seen.stable}.json").json()["data"]
        assert told["health"]["samples"] == 3
        assert [each["runs"] for each in told["course"]["moments"]] == [1, 2, 3]
        assert client.get(f"/releases/candidates/{seen.candidate}.json").json()["data"]["payload"]["kind"] == "code"
        board = client.get("/releases.json").json()["data"]
        assert seen.canary in [one["id"] for one in board["canary"]["items"]]
        for path in ("/candidates", "/all", "/insights", "/gaps", "/benchmarks", f"/{seen.canary}/diff"):
            assert client.get(f"/releases{path}.json").json()["success"] is True
        assert client.get(f"/releases/{seen.stable}/nonsense").status_code == 422


def test_what_another_person_learned_never_shows(serve):
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN="sky_test_admin_0123456789abcdef")
    admin = {"Authorization": "Bearer sky_test_admin_0123456789abcdef", "Accept": "text/html"}
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        people = {}
        for name in ("ana", "bob"):
            assert client.post("/api/v1/people", json={"name": name}, headers=admin).status_code == 201
            asked = {"label": name, "person": name, "scope": "publish"}
            secret = client.post("/api/v1/tokens", json=asked, headers=admin).json()["data"]["secret"]
            people[name] = {"Authorization": f"Bearer {secret}", "Accept": "text/html"}
        ana, bob = people["ana"], people["bob"]
        sandbox = client.post("/v1/sandboxes", json={}, headers=ana).json()["id"]
        run = client.post(f"/v1/sandboxes/{sandbox}/shell/exec", json={"command": "echo"}, headers=ana).json()
        spec = {"skill_key": "secret-plan", "source_execution_ids": [run["execution_id"]], "summary": "Hidden"}
        candidate = client.post("/v1/skills/candidates", json=spec, headers=ana).json()["id"]
        at = f"/v1/skills/candidates/{candidate}"
        assert client.post(f"{at}/evaluate", json={"passed": True}, headers=ana).status_code == 200
        release = client.post(f"{at}/promote", json={"stage": "stable"}, headers=ana).json()["id"]
        paths = [f"/candidates/{candidate}{each}" for each in ("", "/evaluate", "/promote", "/delete")]
        paths += [f"/{release}{each}" for each in ("", "/diff", "/run", "/rollback", "/kill")]
        for path in paths:
            assert client.get(f"/releases{path}", headers=ana).status_code == 200, path
            answer = client.get(f"/releases{path}", headers=bob)
            assert answer.status_code == 404, path
            assert "Hidden" not in answer.text
        for path in ("", "/candidates", "/candidates?q=hidden+plan", "/all", "/insights", "/gaps"):
            assert "secret-plan" not in client.get(f"/releases{path}", headers=bob).text
        token = re.findall(r'name="form_token" value="([^"]+)"', client.get("/releases", headers=bob).text)[0]
        sent = {"form_token": token, "reason": "I want to"}
        for path in (f"/{release}/kill", f"/candidates/{candidate}/delete", f"/candidates/{candidate}/promote"):
            assert client.post(f"/releases{path}", data=sent, headers=bob).status_code == 404
        assert client.get(f"/v1/skills/releases/{release}", headers=ana).json()["state"] == "active"
