"""A version that another person reviews, in the browser."""

import httpx
import pytest
from playwright.sync_api import expect

ADMIN = "sky_test_admin_0123456789abcdef"


@pytest.fixture(scope="module")
def crew(serve):
    """A namespace that asks for reviews, with a skill that ships, and two publishers of it."""
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=ADMIN)
    served.tokens = {}
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:

        def ask(method, path, who=ADMIN, **body):
            answer = client.request(method, f"/api/v1{path}", json=body, headers={"Authorization": f"Bearer {who}"})
            assert answer.is_success, answer.text
            return answer.json()["data"]

        ask("POST", "/namespaces", name="crew")
        for name in ("ana", "bob"):
            ask("POST", "/people", name=name)
            ask("PUT", f"/namespaces/crew/members/{name}", role="publisher")
            served.tokens[name] = ask("POST", "/tokens", label=name, person=name, scope="publish")["secret"]
        ana = served.tokens["ana"]
        text = {"name": "greeting", "description": "Greets. Use when someone arrives.", "namespace": "crew"}
        skill = ask("POST", "/skills", ana, **text, content="Say hello.\n")["id"]
        ask("POST", f"/skills/{skill}/versions", ana)
        ask("PUT", "/namespaces/crew/policy", review=True)
        for words in ("Say good morning.", "Say good evening."):
            ask("PUT", f"/skills/{skill}", ana, content=f"{words}\n")
            ask("POST", f"/skills/{skill}/versions", ana)
    return served


def test_a_version_is_compared_with_what_ships_and_judged_with_a_reason_by_someone_else(crew, visit):
    who_made_it, reviewer = visit(crew.url), visit(crew.url)
    for visitor, name in ((who_made_it, "ana"), (reviewer, "bob")):
        page = visitor.go("/reviews")
        page.get_by_label("Your token").fill(crew.tokens[name])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    page = who_made_it.go("/skills/crew/greeting/versions")
    expect(page.get_by_text("Someone else must review it.")).to_have_count(2)
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    who_made_it.is_content()

    page = reviewer.page
    page.get_by_role("link", name="crew/greeting").first.click()
    row = page.get_by_role("row").filter(has_text="0.1.1")
    reviewer.is_content()
    row.get_by_role("link", name="Compare").click()
    expect(page.locator(".diff .removed")).to_contain_text("Say hello.")
    expect(page.locator(".diff .added")).to_contain_text("Say good morning.")
    page.go_back()
    row.get_by_placeholder("Why").fill("Friendlier")
    row.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("row").filter(has_text="0.1.1")).not_to_contain_text("waits for review")
    row = page.get_by_role("row").filter(has_text="0.1.2")
    row.get_by_placeholder("Why").fill("Mornings only")
    row.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("row").filter(has_text="0.1.2")).to_contain_text("rejected")
    page = reviewer.go("/skills/crew/greeting/history")
    for reason in ("Friendlier", "Mornings only"):
        expect(page.get_by_role("main")).to_contain_text(reason)
