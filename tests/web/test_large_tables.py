"""Decision tables as large as a form can be, and forms that are larger than any of ours."""

import re

import pytest
from playwright.sync_api import expect
from tests.page_forms import PageClient

from skillyard.learning.rules.table import MAX_RULES
from skillyard.server.web.forms import MAX_FIELDS

INPUTS = 7
FIELDS_OF_ROW = INPUTS + 3
FIELDS_OF_COLUMNS = (INPUTS + 1) * 5
LARGEST = (MAX_FIELDS - 100 - FIELDS_OF_COLUMNS) // FIELDS_OF_ROW
"""Rows of a table that is just shown as a form."""


@pytest.fixture
def page_of_table(yard):
    """Keep a table of so many rows, with seven inputs and one output, and answer where its page is."""

    def made(rows):
        table = {
            "hit_policy": "FIRST",
            "inputs": [{"id": f"in{at}", "type": "number"} for at in range(INPUTS)],
            "outputs": [{"id": "share", "type": "number"}],
            "rules": [{"id": f"r{at}", "when": [str(at), *["-"] * (INPUTS - 1)], "then": [at]} for at in range(rows)],
        }
        with PageClient(yard.url) as client:
            answer = client.post("/api/v1/rules", json={"name": f"Of {rows} rows", "table": table})
            return f"/learning/rules/{answer.json()['data']['rule']['id']}"

    return made


def test_a_table_of_three_thousand_fields_is_edited_and_saved(yard, visit, page_of_table):
    path = page_of_table(3_000 // FIELDS_OF_ROW)
    page = visit(yard.url).go(path)
    page.locator("[name='row299.then0']").fill("12345")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("main").get_by_role("status").first).to_contain_text("Saved")
    with PageClient(yard.url) as client:
        table = client.get(f"{path}.json").json()["data"]["rule"]["table"]
    assert len(table["rules"]) == 300
    assert table["rules"][299]["then"] == [12345]


def test_what_is_shown_as_a_form_can_be_sent(yard, page_of_table):
    with PageClient(yard.url) as client:
        shown = client.get(page_of_table(LARGEST)).text
        assert "row0.then0" in shown
        assert len(re.findall("<(?:input|select)[^>]* name=", shown)) <= MAX_FIELDS
        assert "row0.then0" not in client.get(page_of_table(LARGEST + 1)).text


@pytest.mark.parametrize("button", ["Add a row", "Add an input"])
def test_a_table_without_room_for_more_keeps_what_was_entered_and_says_why(yard, visit, page_of_table, button):
    path = page_of_table(LARGEST)
    page = visit(yard.url).go(path)
    page.locator("[name='row395.then0']").fill("12345")
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.locator("#table").get_by_role("alert")).to_contain_text("4,000 fields on this page")
    expect(page.locator("#table").get_by_role("alert")).to_be_in_viewport()
    expect(page.locator("[name='row395.then0']")).to_have_value("12345")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("main").get_by_role("status").first).to_contain_text("Saved")
    with PageClient(yard.url) as client:
        rules = client.get(f"{path}.json").json()["data"]["rule"]["table"]["rules"]
    assert (len(rules), rules[395]["then"]) == (LARGEST, [12345])


def test_a_row_is_added_where_it_still_fits(yard, visit, page_of_table):
    page = visit(yard.url).go(page_of_table(LARGEST - 1))
    page.locator("[name='row0.then0']").fill("12345")
    page.get_by_role("button", name="Add a row", exact=True).click()
    expect(page.locator(f"[name='row{LARGEST - 1}.then0']")).to_have_count(1)
    expect(page.locator("#table").get_by_role("alert")).to_have_count(0)
    expect(page.locator("[name='row0.then0']")).to_have_value("12345")


@pytest.mark.parametrize("do", ["add-row", "gap:0"])
def test_a_new_table_of_as_many_rows_as_there_may_be_says_so(yard, do):
    frame = {"hit_policy": "FIRST", "inputs": 1, "outputs": 1, "rows": MAX_RULES, "default0": ""}
    columns = {"input0.id": "n", "input0.type": "number", "output0.id": "share", "output0.type": "number"}
    rows = {f"row{at}.{part}": str(at) for at in range(MAX_RULES) for part in ("when0", "then0")}
    with PageClient(yard.url) as client:
        answer = client.fill_in(
            "/learning/rules/new", "/learning/rules/new", name="Mine", do=do, **frame, **columns, **rows
        )
    assert "at most 500 rows" in answer.text
    assert 'name="name" required maxlength="128" value="Mine"' in answer.text
    assert answer.text.count('name="row499.') == 4


@pytest.mark.parametrize("upload", [None, {"file": ("a.txt", b"x")}])
def test_a_form_of_too_many_fields_is_told_so_on_a_page(yard, upload):
    fields = {f"field{at}": "x" for at in range(MAX_FIELDS)}
    with PageClient(yard.url) as client:
        answer = client.fill_in("/learning", "/learning", upload, **fields)
    assert answer.status_code == 413
    assert "Send less at once." in answer.text
