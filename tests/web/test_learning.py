"""Learning in the browser: said, proposed, approved, seen, taken back; tables that are edited, and memories."""

import io
import itertools
import json
import re
import zipfile

import httpx
import pytest
from playwright.sync_api import expect
from tests.learning_minds import FINISHED, Mind, by_plan, call, calls

from skillyard.learning.feedback_files import ENCODINGS
from skillyard.llm.scripted import Reply, ScriptedModel

TEXT = """\
---
name: {name}
description: How to pay money back. Use for refunds.
---
# Refunds

## When to use

When somebody asks for money back, and shows what they paid.

## Steps

1. Check the receipt.
2. Pay.
"""
EDIT = {"summary": "A third step.", "edits": [{"path": "SKILL.md", "find": "2. Pay.", "replace": "2. Pay.\n3. Thank."}]}
TABLE = {
    "hit_policy": "F",
    "inputs": [
        {"id": "grade", "type": "string", "label": "등급", "values": '"vip", "regular"'},
        {"id": "amount", "type": "number", "values": ">= 0"},
    ],
    "outputs": [{"id": "action", "type": "string"}],
    "rules": [
        {"id": "r1", "when": ["-", "<= 30000"], "then": ["refund at once"]},
        {"id": "r2", "when": ['"regular"', "-"], "then": ["ask a manager"]},
    ],
}
HOSTILE = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> {{ 7*7 }}"
ADMIN = "sky_test_admin_0123456789abcdef"


def told(page):
    """What a page says first of what was done."""
    return page.get_by_role("main").get_by_role("status").first


@pytest.fixture(scope="module")
def school(serve):
    """A yard with a model that is scripted: it changes the skill `refunds`, once somebody agrees."""
    update = call("commit_to_skill", operation="UPDATE", skill_id="refunds")
    mind = Mind(
        decide=by_plan(
            calls(call("analyze_knowledge_conflict", knowledge_type="SKILL", knowledge_id="refunds")),
            calls(update),
            FINISHED,
        ),
        judge=lambda _: Reply(text=json.dumps({"relation": "EXTENDS", "reason": "A step more."})),
        write=lambda _: Reply(text=json.dumps(EDIT)),
    )
    with ScriptedModel(mind) as model:
        yield serve(
            SKILLYARD_MODEL="openai:scripted",
            SKILLYARD_MODEL_BASE_URL=model.base_url,
            SKILLYARD_LEARNING__SKILLS="review",
        )


@pytest.fixture
def api(yard):
    with httpx.Client(base_url=yard.url, trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture
def rule(api):
    def made(name):
        answer = api.post("/api/v1/rules", json={"name": name, "table": TABLE})
        return f"/learning/rules/{answer.json()['data']['rule']['id']}"

    return made


def test_feedback_is_proposed_approved_a_new_version_and_undone(school, visit, tmp_path):
    folder = tmp_path / "refunds"
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT.format(name="refunds"))
    name = school.client.publish(folder)["full_name"]
    visitor = visit(school.url)
    page = visitor.go("/learning")
    page.get_by_label("What should be different?").fill("환불이 끝나면 감사 인사를 해 주세요.")
    page.get_by_label("What was the task?").fill("a refund")
    page.get_by_label("Whose work").fill("support")
    page.get_by_role("button", name="Send").click()
    expect(told(page)).to_contain_text("Thank you")
    expect(page.locator("#standing")).to_contain_text("proposed")  # by itself
    visitor.is_content()
    expect(page.locator(".diff .added")).to_have_text(re.compile("3. Thank."))
    expect(page.get_by_text("A step more.")).to_be_visible()
    page.locator("summary", has_text="What the agent and its tools said").click()
    expect(page.locator(".talk")).to_contain_text("commit_to_skill")
    visitor.is_content()
    page.get_by_role("link", name="Proposals").click()
    page.locator("#proposals li a").click()
    page.get_by_label("Why").fill("Politeness pays")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#standing")).to_contain_text("learned")
    visitor.go(f"/skills/{name}/versions")
    expect(page.get_by_role("table")).to_contain_text("0.1.1")
    page.go_back()
    page.get_by_role("link", name="Change ").first.click()
    expect(page.locator(".diff .added")).to_contain_text("Thank")
    expect(page.get_by_text("Politeness pays")).to_be_visible()
    page.go_back()
    page.locator("summary", has_text="Undo").click()
    page.get_by_label("Why").fill("Too polite")
    page.get_by_role("button", name="Take it back").click()
    expect(told(page)).to_contain_text("Undone")
    expect(page.locator("#standing")).to_contain_text("undone")
    visitor.go("/learning")
    expect(page.locator("#inbox li", has_text="감사 인사")).to_contain_text("undone")
    expect(page.get_by_role("link", name="undone 1")).to_be_visible()
    visitor.go(f"/skills/{name}")
    expect(page.get_by_role("article")).not_to_contain_text("Thank")
    visitor.go("/learning?stage=undone")
    page.locator("#inbox li a.said").click()
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_contain_text("tried again")
    expect(page.locator("#standing")).to_contain_text("proposed")  # by itself, and as a proposal of its own
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#standing")).to_contain_text("rejected")


def test_a_proposal_that_somebody_else_decided_shows_so_and_takes_no_half_written_word_away(school, visit, tmp_path):
    folder = tmp_path / "refunds"
    folder.mkdir()
    (folder / "SKILL.md").write_text(TEXT.format(name="refunds"))
    school.client.publish(folder)
    with httpx.Client(base_url=f"{school.url}/api/v1", trust_env=False, timeout=60) as api:
        thanks = {"content": "Thank them twice.", "agents": [{"id": "support"}]}
        said = api.post("/feedback", json=thanks).json()["data"]
        lesson = visit(school.url).go(f"/learning/feedback/{said['id']}")
        lesson.locator("summary", has_text="What the agent").click()  # the last that comes, after what is to be decided
        lesson.get_by_label("Why").fill("I am not done wri")
        (proposal,) = api.get("/proposals", params={"state": "open"}).json()["data"]
        page = visit(school.url).go(f"/learning/proposals/{proposal['id']}")
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
        assert api.post(f"/proposals/{proposal['id']}/reject", json={"reason": "Once is enough"}).is_success
    expect(page.locator("#decide")).to_contain_text("Once is enough")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.locator("#stage")).to_have_text("rejected")
    expect(lesson.locator("#changed")).to_contain_text("This changed.")
    expect(lesson.get_by_label("Why")).to_have_value("I am not done wri")
    lesson.get_by_label("Why").fill("")
    lesson.get_by_label("Why").blur()
    expect(lesson.locator("#lesson")).to_contain_text("Once is enough")
    expect(lesson.locator("#changed")).to_be_empty()
    expect(lesson.locator(".talk")).to_be_visible()  # what was opened stays open


def test_without_a_model_it_says_how_to_set_one_and_a_file_waits_line_by_line(yard, visit, tmp_path):
    table = tmp_path / "said.csv"
    said = HOSTILE.replace('"', "'")
    table.write_text(f'content,agent,colour\n"Say please, {said}",support,red\n,support,\n')
    visitor = visit(yard.url, javascript=False)
    page = visitor.go("/learning")
    expect(page.get_by_role("link", name="Choose a model")).to_have_attribute("href", "/set-up")
    page.get_by_label("A file").set_input_files(table)
    page.get_by_role("button", name="Check only").click()
    expect(told(page)).to_contain_text("Nothing was taken in")
    page.get_by_label("A file").set_input_files(table)
    page.get_by_role("button", name="Import").click()
    expect(told(page)).to_contain_text("1 new piece of feedback")
    expect(told(page)).to_contain_text("Line 3:")
    expect(told(page)).to_contain_text("colour")
    page = visit(yard.url).go("/learning?stage=waiting_for_model")
    expect(page.locator("#inbox")).to_contain_text("waits for a model")
    page.locator("#inbox a.said").first.click()
    expect(page.locator("blockquote")).to_contain_text("<script>")
    assert page.title() == "Feedback · Skillyard"
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_contain_text("learned from once a model is set")


def test_feedback_that_is_given_without_a_model_is_said_to_wait_and_leads_to_where_one_is_set(yard, visit):
    page = visit(yard.url).go("/learning")
    page.get_by_label("What should be different?").fill("Say please.")
    page.get_by_role("button", name="Send").click()
    expect(told(page)).to_contain_text(
        "Saved. It is learned from once a model is set, or when a connected agent takes it."
    )
    expect(page.locator("#standing")).to_contain_text("waits for a model")
    expect(page.get_by_role("link", name="Choose a model")).to_have_attribute("href", "/set-up")


@pytest.mark.parametrize("javascript", [True, False])
def test_a_table_in_the_encoding_of_its_country_is_read_once_that_is_named(yard, visit, tmp_path, javascript):
    table = tmp_path / "excel.csv"
    table.write_bytes("content,task\n환불이 늦어요,환불\n".encode("cp949"))
    page = visit(yard.url, javascript=javascript).go("/learning")
    page.get_by_label("A file").set_input_files(table)
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("alert").first).to_contain_text("name its encoding")
    page.get_by_label("A file").set_input_files(table)
    page.get_by_label("Encoding").select_option("cp949")
    page.get_by_role("button", name="Check only").click()
    expect(told(page)).to_contain_text("1 piece of feedback is in the file")
    expect(page.get_by_label("Encoding")).to_have_value("cp949")


def test_every_encoding_that_the_form_offers_is_read(api):
    page = api.get("/learning", headers={"Accept": "text/html"}).text
    offered = re.findall(r'value="([\w-]+)"', re.search(r'<select name="encoding">(.*?)</select>', page)[1])
    assert {"utf-8", "cp949", "gb18030"} <= set(offered) <= set(ENCODINGS)


def test_the_inbox_follows_and_says_when_nothing_is_new(yard, visit, api):
    page = visit(yard.url).go("/learning")
    expect(page.locator("#inbox")).not_to_contain_text("Mind the gap")
    api.post("/api/v1/feedback", json={"content": "Mind the gap."})
    expect(page.locator("#inbox")).to_contain_text("Mind the gap")
    again = page.locator("#inbox").get_attribute("data-from")
    expect(page.locator("#inbox li").first).to_contain_text("waits for a model")
    again = page.locator("#inbox").get_attribute("data-from")
    assert api.get(again).status_code == 204
    assert api.get("/learning").status_code == 200


def test_a_table_is_edited_without_a_script_its_gaps_and_overlaps_are_marked_and_a_case_is_tried(yard, visit, rule):
    path = rule("Refunds by hand")
    page = visit(yard.url, javascript=False).go(path)
    row = page.locator("tr", has=page.locator("input[name='row1.id']"))
    expect(row).to_contain_text("overlaps r1")
    gap = page.locator("tr.gap")
    expect(gap).to_contain_text('"vip"')
    gap.get_by_role("button", name="Add a row for it").click()
    expect(page.locator("#unsaved")).to_contain_text("This is not saved yet.")
    expect(page.get_by_text("This is not saved yet")).to_be_visible()
    page.locator("[name='row2.then0']").fill("ask the boss")
    page.get_by_role("button", name="Move r3 up").click()
    expect(page.locator("[name='row1.then0']")).to_have_value("ask the boss")
    page.locator("[name='row0.when1']").fill("<= many")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("rules[0].when[1]")
    expect(page.locator("[name='row0.when1']")).to_have_value("<= many")
    expect(page.locator("[name='row0.when1']")).to_have_attribute("aria-invalid", "true")
    page.locator("[name='row0.when1']").fill("<= 50000")
    page.locator("form.card [name='reason']").fill("more at once")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("2.0.0")).to_be_visible()
    page.locator("[name='case.grade']").fill("vip")
    page.locator("[name='case.amount']").fill("60000")
    page.get_by_role("button", name="Decide").click()
    expect(page.locator("#try")).to_contain_text("ask the boss")
    expect(page.locator("tr.counted")).to_have_count(1)
    page.get_by_role("button", name="Keep as an example").click()
    expect(page.get_by_text("must hold", exact=True).first).to_be_visible()
    page.get_by_role("link", name="Versions").click()
    expect(page.locator("tr.removed")).to_contain_text("<= 30000")
    expect(page.locator("tr.added").filter(has_text="<= 50000")).to_be_visible()
    page.locator("li", has_text="more at once").get_by_role("link").last.click()
    expect(page.locator("tr.added").filter(has_text="ask the boss")).to_be_visible()


def test_an_edit_of_an_old_version_is_a_conflict_and_loses_nothing(yard, visit, api, rule):
    path = rule("Contended table")
    page = visit(yard.url).go(path)
    rule_id = path.rpartition("/")[2]
    api.put(f"/api/v1/rules/{rule_id}", json={"description": "Somebody was faster."})
    page.locator("[name='row0.then0']").fill("mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("[name='row0.then0']")).to_have_value("mine")


def test_a_rule_is_made_with_buttons_for_its_columns_downloaded_and_read_again(yard, visit, tmp_path):
    visitor = visit(yard.url)
    page = visitor.go("/learning/rules/new")
    page.get_by_role("button", name="Add an input").click()  # by htmx: the page stays where it is
    expect(page.locator("[name='inputs']")).to_have_value("2")
    expect(page.get_by_role("button", name="Add an input")).to_be_focused()
    page.locator("[name='name']").fill("Discounts")
    for field, text in {
        "input0.id": "tier",
        "input1.id": "years",
        "output0.id": "percent",
        "row0.when0": '"gold"',
        "row0.then0": "10",
        "default0": "0",
    }.items():
        page.locator(f"[name='{field}']").fill(text)
    page.locator("[name='input1.type']").select_option("number")
    page.locator("[name='output0.type']").select_option("number")
    page.get_by_role("button", name="Make the rule").click()
    expect(told(page)).to_contain_text("The rule is there")
    visitor.is_content()
    with page.expect_download() as download:
        page.get_by_role("link", name="DMN").click()
    file = tmp_path / "discounts.dmn"
    download.value.save_as(file)
    page.locator("section", has_text="From a file").get_by_label("DMN or JSON").set_input_files(file)
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("[name='row0.when0']")).to_have_value('"gold"')
    expect(page.locator("[name='default0']")).to_have_value("0")
    page.get_by_role("link", name="Cancel").click()
    page.locator("summary", has_text="Delete the rule").click()
    page.locator("details[open]").get_by_role("button", name="Delete").click()
    expect(told(page)).to_contain_text("The rule is gone")


def test_memories_are_added_found_changed_and_forgotten(yard, visit, api):
    api.post("/api/v1/agents", json={"id": "clerk", "name": "Clerk"})
    visitor = visit(yard.url)
    page = visitor.go("/learning/memories")
    page.get_by_label("What to remember").fill(f"환불은 5일 걸립니다. {HOSTILE}")
    page.get_by_label("For whom").select_option("clerk")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_role("heading", name="clerk")).to_be_visible()
    page.get_by_label("What it is about").fill("환불")
    expect(page).to_have_url(re.compile("q="))
    page.locator("#memories a.said").first.click()
    expect(page).to_have_title("Memory · Skillyard")
    page.get_by_label("What to remember").fill("환불은 3일 걸립니다.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(told(page)).to_contain_text("Saved")
    page.get_by_role("button", name="It helped").click()
    expect(page.get_by_text("helped 1 times")).to_be_visible()
    visitor.is_content()
    visitor.go("/learning/memories?everything=true")
    expect(page.locator("#memories")).to_contain_text("superseded")
    page.get_by_role("link", name="환불은 3일 걸립니다.").click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Forget").click()
    expect(page.locator("#memories")).not_to_contain_text("3일")


def test_every_page_is_without_faults_in_both_themes_and_widths(yard, visit, api, rule):
    path = rule(f"A name with {HOSTILE[:60]}")
    memory = api.post("/api/v1/memories", json={"text": HOSTILE}).json()["data"]["memory"]["id"]
    said = api.post("/api/v1/feedback", json={"content": HOSTILE, "task": "x" * 300}).json()["data"]["id"]
    visitor = visit(yard.url)
    paths = [
        "/learning",
        f"/learning/feedback/{said}",
        "/learning/proposals?state=any",
        "/learning/rules",
        "/learning/rules/new",
        f"{path}?case.grade=vip&case.amount=1",
        f"{path}/versions",
        "/learning/memories?q=nothing-like-it",
        f"/learning/memories/{memory}",
    ]
    for at, each in enumerate(paths):
        for width, theme in ((1280, "light"), (390, "dark")) if at % 2 else ((1280, "dark"), (390, "light")):
            visitor.page.set_viewport_size({"width": width, "height": 900})
            visitor.page.emulate_media(color_scheme=theme)
            visitor.go(each)
            visitor.is_content()
    assert "taken" not in visitor.page.title()


def test_pages_have_twins_and_forms_are_only_taken_from_our_own_pages(api, rule):
    path = rule("Twinned table")
    lists = [f"/learning{below}" for below in ("", "/proposals", "/rules", "/memories")]
    for below in (*lists, path, f"{path}/versions"):
        answer = api.get(f"{below}.json")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["success"] is True
    tried = api.get(f"{path}.json?case.grade=vip&case.amount=40000").json()["data"]
    assert tried["decided"]["outputs"] is None
    assert [remark["kind"] for remark in tried["found"]["remarks"]] == ["overlap", "gap"]
    for each in ("/learning", "/learning/import", "/learning/memories", path, f"{path}/delete", f"{path}/cases"):
        assert api.post(each, data={"content": "x", "text": "x", "do": "save"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "entered", "kept"),
    [
        ("/learning", {"content": "Keep my words.", "agents": "x" * 500}, "Keep my words."),
        ("/learning/memories", {"text": "Keep my words.", "expires": "soon"}, "Keep my words."),
        ("/learning/rules/new", {"do": "save", "name": "n" * 200, "inputs": "1", "input0.id": "kept_id"}, "kept_id"),
    ],
)
def test_a_form_that_cannot_be_taken_says_why_and_keeps_what_was_entered(api, path, entered, kept):
    page = api.get(path, headers={"Accept": "text/html"})
    token = re.findall(r'name="form_token" value="([^"]+)"', page.text)[0]
    answer = api.post(path, data={**entered, "form_token": token}, headers={"Accept": "text/html"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert kept in answer.text


def test_another_tenant_never_shows(serve):
    served = serve(SKILLYARD_AUTH="token", SKILLYARD_ADMIN_TOKEN=ADMIN)
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        operator = {"Authorization": f"Bearer {ADMIN}"}
        people = {}
        for tenant in ("north", "south"):
            client.post("/api/v1/tenants", json={"name": tenant}, headers=operator)
            person = {"name": f"{tenant}-boss", "tenant": tenant, "admin": True}
            assert client.post("/api/v1/people", json=person, headers=operator).status_code == 201
            token = {"label": "x", "person": person["name"], "tenant": tenant, "scope": "admin"}
            made = client.post("/api/v1/tokens", json=token, headers=operator).json()["data"]["secret"]
            people[tenant] = {"Authorization": f"Bearer {made}", "Accept": "text/html"}
        north = {"Authorization": people["north"]["Authorization"]}
        said = client.post("/api/v1/feedback", json={"content": "our secret"}, headers=north).json()["data"]["id"]
        kept = client.post("/api/v1/memories", json={"text": "our secret"}, headers=north).json()["data"]["memory"]
        table = {"name": "our secret", "table": TABLE}
        rule = client.post("/api/v1/rules", json=table, headers=north).json()["data"]["rule"]["id"]
        own = [f"/learning/feedback/{said}", f"/learning/memories/{kept['id']}", f"/learning/rules/{rule}"]
        for path in (*own, f"/learning/rules/{rule}/versions"):
            assert "our secret" in client.get(path, headers=people["north"]).text
            assert client.get(path, headers=people["south"]).status_code == 404
        for path in ("/learning", "/learning/rules", "/learning/memories?q=secret", "/learning/proposals?state=any"):
            assert "our secret" not in client.get(path, headers=people["south"]).text.replace('value="secret"', "")
        assert client.get("/learning", headers={"Accept": "text/html"}).status_code == 303


def workbook(rows):
    """A workbook of one sheet, as small as they come."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    sheets = '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}">'
        '<Relationship Id="r1" Target="worksheets/sheet1.xml" Type="x"/></Relationships>',
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'<worksheet xmlns="{main}"><sheetData>'.encode())
            for row in ("content", *rows):
                sheet.write(f'<row><c t="inlineStr"><is><t>{row}</t></is></c></row>'.encode())
            sheet.write(b"</sheetData></worksheet>")
    return written.getvalue()


BOMBS = {
    "unpacks to 600 MB": (lambda: workbook(itertools.repeat("a" * 1_000_000, 600)), "said.xlsx", 413),
    "rows of a workbook": (lambda: workbook(map(str, range(100_000))), "said.xlsx", 413),
    "rows": (lambda: b"content\n" + b"\n".join(b"%d" % each for each in range(1_000_000)), "said.csv", 413),
    "columns": (lambda: b"content," + b",".join(b"%d" % each for each in range(1_000_000)), "said.csv", 413),
    "a cell": (lambda: b"content\n" + b"a" * 15_000_000, "said.csv", 200),
    "depth": (lambda: b"[" * 1_000_000, "said.json", 422),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "said.xlsx", 422),
    "more than is taken": (lambda: b"content\n" + b"a\n" * 12_000_000, "said.csv", 413),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_file_that_is_too_much_is_refused_on_a_page_that_says_so(yard, bomb):
    made, name, status = BOMBS[bomb]
    with httpx.Client(base_url=yard.url, headers={"Accept": "text/html"}, timeout=60) as browser:
        token = re.search('name="form_token" value="([^"]+)"', browser.get("/learning").text)
        form = {"form_token": token[1], "do": "look"}
        answer = browser.post("/learning/import", data=form, files={"file": (name, made())})
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith("text/html")
        assert re.search('class="notice (bad|warn)" role="(alert|status)"', answer.text)
        assert len(answer.content) < 100_000
