"""The files of a skill in the browser: written, sent, replaced, and kept as they were beside an edit."""

import pytest
from playwright.sync_api import expect
from tests.page_forms import PageClient

TEXT = "---\r\nname: with-files\r\ndescription: Has files. Use it.\r\n---\r\n\r\n# One\r\n\r\nTwo.\r\n"


@pytest.fixture
def skill(yard, tmp_path):
    """A skill with a picture and Windows line ends, as its page's path; published anew for each test."""
    folder = tmp_path / "with-files"
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(TEXT.encode())
    (folder / "logo.bin").write_bytes(b"\0old")
    (folder / "blank.txt").write_bytes(b"\nsecond line\n")
    return f"/skills/{yard.client.publish(folder)['full_name']}"


def files(yard):
    return {file.path: file.data for file in yard.client.bundle("with-files", version="draft")}


def test_files_are_written_sent_and_replaced(yard, visit, skill):
    visitor = visit(yard.url)
    page = visitor.go(f"{skill}/files")
    page.get_by_role("link", name="New file").click()
    visitor.is_content_on_every_screen()
    page.get_by_label("File", exact=True).first.fill("references/guide.md")
    page.get_by_label("Text").fill("# Guide\n")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="references/guide.md")).to_be_visible()
    page.get_by_role("link", name="New file").click()
    sent = {"name": "data.bin", "mimeType": "application/octet-stream", "buffer": b"\0sent"}
    page.get_by_label("A file of yours").set_input_files(sent)
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("heading", name="data.bin")).to_be_visible()
    page.get_by_role("link", name="logo.bin").click()
    page.get_by_role("link", name="Replace").click()
    expect(page.get_by_label("Text")).to_have_count(0)
    expect(page.get_by_label("File", exact=True)).not_to_be_editable()
    visitor.is_content()
    page.get_by_label("A file of yours").set_input_files({**sent, "buffer": b"\0new"})
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("heading", name="logo.bin")).to_be_visible()
    now = files(yard)
    assert now["references/guide.md"] == b"# Guide\n"
    assert now["data.bin"] == b"\0sent"
    assert now["logo.bin"] == b"\0new"


def test_an_edit_changes_nothing_beside_it(yard, visit, skill):
    page = visit(yard.url).go(f"{skill}/edit")
    text = page.get_by_label("Text")
    text.fill(text.input_value().replace("Two.", "Three."))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".diff .removed")).to_have_count(1)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article")).to_contain_text("Three.")
    page.goto(f"{yard.url}{skill}/edit?path=blank.txt")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="blank.txt")).to_be_visible()
    now = files(yard)
    assert now["SKILL.md"] == TEXT.replace("Two.", "Three.").encode()
    assert now["blank.txt"] == b"\nsecond line\n"


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        ({"path": ""}, "has no name"),
        ({"path": "blank.txt"}, "already"),
        ({"path": "../out.md"}, "out.md"),
    ],
)
def test_a_new_file_takes_no_other_place(yard, skill, entered, said):
    before = files(yard)
    with PageClient(yard.url) as client:
        refused = client.fill_in(f"{skill}/edit?path=", f"{skill}/edit", new="1", do="save", text="Mine.", **entered)
    assert 400 <= refused.status_code < 500
    assert said in refused.text
    assert "Mine." in refused.text
    assert files(yard) == before
