"""Decision tables as large as a form can be, and forms that are larger than any of ours."""

import re

import pytest
from playwright.sync_api import expect
from tests.page_forms import PageClient

from skillyard.server.web.forms import MAX_FIELDS

INPUTS = 7
FIELDS_OF_ROW = INPUTS + 3
FIELDS_OF_COLUMNS = (INPUTS + 1) * 5


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
    largest = (MAX_FIELDS - 100 - FIELDS_OF_COLUMNS) // FIELDS_OF_ROW
    with PageClient(yard.url) as client:
        shown = client.get(page_of_table(largest)).text
        assert "row0.then0" in shown
        assert len(re.findall("<(?:input|select)[^>]* name=", shown)) <= MAX_FIELDS
        assert "row0.then0" not in client.get(page_of_table(largest + 1)).text


@pytest.mark.parametrize("upload", [None, {"file": ("a.txt", b"x")}])
def test_a_form_of_too_many_fields_is_told_so_on_a_page(yard, upload):
    fields = {f"field{at}": "x" for at in range(MAX_FIELDS)}
    with PageClient(yard.url) as client:
        answer = client.fill_in("/learning", "/learning", upload, **fields)
    assert answer.status_code == 413
    assert "Send less at once." in answer.text
