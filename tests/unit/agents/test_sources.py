"""What holds for every source of skills, wherever they are kept."""

import pytest

from skillyard.agents.source import Found, require, texts
from skillyard.errors import InputError, NotAllowedError, NotFoundError
from skillyard.search.catalog import Form, Shape


def all_ids(source, limit=2):
    ids, cursor = [], ""
    while True:
        page = source.page(cursor, limit)
        assert len(page.skills) <= limit
        ids += [skill.id for skill in page.skills]
        cursor = page.next_cursor
        if not cursor:
            return ids


def own(shelf, ids):
    """Those that a test put there: a yard has skills of its own."""
    return [each for each in ids if not each.startswith("system/") and each != "skill-creator"]


def test_a_skill_is_found_by_its_id_and_by_its_name_in_any_case(shelf):
    shelf.put("pdf-tables", "Reads tables.")
    for name in (shelf.id("pdf-tables"), "pdf-tables", "PDF-Tables", shelf.id("PDF-tables")):
        found = shelf.source.find(name)
        assert (found.id, found.name, found.description) == (shelf.id("pdf-tables"), "pdf-tables", "Reads tables.")
    assert require(shelf.source, "  pdf-tables ").id == shelf.id("pdf-tables")


@pytest.mark.parametrize("name", ["", " ", "nothing", "../pdf", "a/b/c", "x" * 5000, "a\0b", "a\nb", "%2e%2e", "?#"])
def test_a_name_that_no_skill_has_finds_nothing_and_says_so(shelf, name):
    shelf.put("pdf-tables")
    assert shelf.source.find(name) is None
    with pytest.raises(NotFoundError) as refused:
        require(shelf.source, name)
    assert len(refused.value.message) < 400


def test_the_nearest_names_come_first_in_what_is_said_about_a_missing_skill(shelf):
    for name in ("alpha", "beta", "pdf-tables", "zeta"):
        shelf.put(name)
    assert shelf.source.nearest("pdf-tabels", 2)[0] == shelf.id("pdf-tables")
    error = shelf.source.missing("pdf-tabels")
    assert error.message == "There is no skill 'pdf-tabels'."
    assert error.hint.index("pdf-tables") < error.hint.index("zeta")


def test_a_name_with_a_slip_in_it_is_found_though_no_word_of_it_is_right(shelf):
    for name in (*(f"a-{number}" for number in range(5)), "invoices"):
        shelf.put(name)
    assert shelf.source.nearest("invoces", 2)[0] == shelf.id("invoices")
    shelf.source.snapshot()
    shelf.put("contracts")
    assert shelf.source.nearest("Contracs", 2)[0] == shelf.id("contracts")


def test_the_text_is_the_whole_file_and_the_bundle_all_of_them(shelf):
    shelf.put("tool", "Does it.", "# Do\n\nIt — 하자.", {"references/A.md": "a", "scripts/run.py": "print()"})
    found = require(shelf.source, "tool")
    assert shelf.source.text(found) == "---\nname: tool\ndescription: Does it.\n---\n\n# Do\n\nIt — 하자.\n"
    assert [file.path for file in shelf.source.bundle(found)] == ["SKILL.md", "references/A.md", "scripts/run.py"]
    gone = Found(entry=found.entry._replace(id="gone", location="/nowhere/SKILL.md"), key="0" * 36)
    whole, error = texts(shelf.source, [found, gone])
    assert whole == shelf.source.text(found)
    assert isinstance(error, NotFoundError)


def test_files_are_listed_and_read(shelf):
    files = {"references/A.md": "abc", "scripts/run.py": "print()", "notes.txt": ""}
    shelf.put("tool", files=files, executable=["scripts/run.py"])
    found = require(shelf.source, "tool")
    listed = {file.path: (file.size, file.executable) for file in shelf.source.files(found)}
    assert list(listed) == ["SKILL.md", "notes.txt", "references/A.md", "scripts/run.py"]
    assert listed["references/A.md"] == (3, False)
    assert listed["scripts/run.py"] == (7, True)
    assert shelf.source.file(found, "references/A.md") == b"abc"
    assert shelf.source.file(found, "SKILL.md") == shelf.source.text(found).encode()


def test_a_file_that_is_not_there_is_told_with_those_that_are(shelf):
    shelf.put("tool", files={"references/GUIDE.md": "abc"})
    found = require(shelf.source, "tool")
    with pytest.raises(NotFoundError) as refused:
        shelf.source.file(found, "references/GIUDE.md")
    assert refused.value.hint == "Did you mean 'references/GUIDE.md'?"


@pytest.mark.parametrize("path", ["../other/SKILL.md", "/etc/passwd", "references/../../x", "a\0b", ""])
def test_no_path_leads_out_of_a_skill(shelf, path):
    shelf.put("tool")
    with pytest.raises(NotAllowedError):
        shelf.source.file(require(shelf.source, "tool"), path)


def test_pages_hold_every_skill_once(shelf):
    names = [f"skill-{letter}" for letter in "fbdace"]
    for name in names:
        shelf.put(name)
    assert own(shelf, all_ids(shelf.source)) == [shelf.id(name) for name in sorted(names)]


@pytest.mark.parametrize("cursor", ["!", "é", "AAAAA", "x" * 3000])
def test_a_cursor_that_no_page_gave_is_refused(shelf, cursor):
    with pytest.raises(InputError):
        shelf.source.page(cursor)


def test_search_finds_what_fits_and_nothing_else(shelf):
    shelf.put("pdf-tables", "Extracts tables from PDF files.")
    shelf.put("soup", "Cooks a soup of vegetables.")
    hits = shelf.source.search("get the tables out of a PDF")
    assert hits[0].skill.id == shelf.id("pdf-tables")
    assert "PDF" in hits[0].snippet.text
    assert shelf.source.search("quantum chromodynamics lattice") == []
    assert shelf.source.search("   ") == []


def test_the_catalog_has_what_fits_first_within_its_budget_and_tells_what_it_shows(shelf):
    for number in range(12):
        shelf.put(f"skill-{number:02}", "Does one thing, and does it well. " * 4)
    shelf.put("zebra", "Counts the stripes of zebras.")
    written = shelf.source.catalog_text("How many stripes has a zebra?", budget=900, shape=Shape.MARKDOWN)
    assert len(written.text) <= 900
    assert next(iter(written.shown.items())) == (shelf.id("zebra"), Form.WHOLE)
    assert written.text.startswith("- ")
    assert f"of {written.total} shown" in written.text
    pinned = shelf.source.catalog_text("stripes", budget=900, pins=["skill-07"])
    assert next(iter(pinned.shown)) == shelf.id("skill-07")


def test_every_change_is_seen_at_the_next_call(shelf):
    source = shelf.source
    shelf.put("stays", files={"references/A.md": "a"})
    for _ in range(4):  # often enough that folders are watched
        stamps, states = source.stamp(), dict(source.snapshot())
    assert source.stamp() == stamps
    assert dict(source.snapshot()) == states

    shelf.put("comes", "Came.", "First.")
    assert source.find("comes").description == "Came."
    assert source.stamp() != stamps
    assert own(shelf, source.snapshot().keys() - states.keys()) == [shelf.id("comes")]

    stamps, states = source.stamp(), dict(source.snapshot())
    shelf.put("comes", "Came.", "Second.")
    assert "Second." in source.text(source.find("comes"))
    assert source.stamp() != stamps
    changed = {key for key, state in source.snapshot().items() if states.get(key) != state}
    assert changed == {shelf.id("comes")}

    shelf.put("comes", "Is otherwise.", "Second.")
    assert source.search("otherwise")[0].skill.description == "Is otherwise."
    assert "Is otherwise." in source.catalog_text("otherwise").text

    stamps = source.stamp()
    shelf.remove("comes")
    assert source.find("comes") is None
    assert source.stamp() != stamps
    assert set(source.snapshot()) == set(states) - {shelf.id("comes")}


def test_a_change_to_any_file_is_a_change_to_its_skill(shelf):
    shelf.put("tool", files={"references/A.md": "a"})
    shelf.put("other", files={"references/A.md": "a"})
    before = dict(shelf.source.snapshot())
    shelf.put("tool", files={"references/A.md": "b"})
    after = shelf.source.snapshot()
    assert {key for key in after if after[key] != before[key]} == {shelf.id("tool")}
