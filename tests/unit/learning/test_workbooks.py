"""Feedback in Excel workbooks, written here part by part as spreadsheets write them."""

import io
import zipfile
from datetime import UTC, datetime

import pytest

from skillyard.errors import InputError, LimitError
from skillyard.learning import workbooks
from skillyard.learning.feedback_files import read_feedback_file
from skillyard.learning.workbooks import read_workbook

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
BOOK = (
    f'<workbook {MAIN} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '{more}<sheets><sheet name="hidden" sheetId="1" state="hidden" r:id="rId1"/>'
    '<sheet name="Said" sheetId="2" r:id="rId2"/></sheets></workbook>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId2" Target="worksheets/sheet7.xml"/><Relationship Id="rId1" Target="/xl/no.xml"/>'
    "</Relationships>"
)
STRINGS = f"<sst {MAIN}><si><t>content</t></si><si><r><t>환불은 </t></r><r><t>5일</t></r><rPh><t>x</t></rPh></si></sst>"
STYLES = (
    f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
    '<numFmt numFmtId="165" formatCode="&quot;days&quot;\\ 0"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)
SAID = (
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>time</t></is></c>'
    '<c r="C1" t="inlineStr"><is><t>User ID</t></is></c></row>'
    '<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>46053.375</v></c><c r="C3"><v>42</v></c></row>'
)


def workbook(rows=SAID, *, more="", **parts):
    files = {
        "xl/workbook.xml": BOOK.format(more=more),
        "xl/_rels/workbook.xml.rels": RELATIONS,
        "xl/sharedStrings.xml": STRINGS,
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet7.xml": f"<worksheet {MAIN}><sheetData>{rows}</sheetData></worksheet>",
        **parts,
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            if text is not None:
                archive.writestr(name, text)
    return data.getvalue()


def cells(row, **more):
    return read_workbook(workbook(f"<row>{row}</row>", **more), max_rows=10)


def test_feedback_is_read_from_the_first_sheet_that_is_shown():
    read = read_feedback_file(workbook(), name="said.xlsx")
    assert read.problems == ()
    [(line, spec)] = read.specs
    assert (line, spec.content, spec.user) == (3, "환불은 5일", "42")
    assert spec.time == datetime(2026, 1, 31, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("<c><v>1.50</v></c>", "1.50"),
        ("<c><v>3.0</v></c>", "3"),
        ('<c t="b"><v>1</v></c>', "true"),
        ('<c t="str"><f>A1&amp;"!"</f><v>so!</v></c>', "so!"),
        ('<c s="2"><v>46053</v></c>', "2026-01-31T00:00:00"),
        ('<c s="3"><v>5</v></c>', "5"),
        ('<c t="inlineStr"><is><r><t>a </t></r><r><t>b</t></r></is></c>', "a b"),
    ],
)
def test_a_cell_is_read_as_it_is_shown(cell, shown):
    assert cells(cell) == [(1, [shown])]


@pytest.mark.parametrize(
    "cell", ['<c t="e"><v>#REF!</v></c>', '<c t="s"><v>99</v></c>', '<c t="s"><v>-1</v></c>', "<c/>"]
)
def test_a_cell_that_says_nothing_is_empty(cell):
    assert cells(f"{cell}<c r='C1'><v>7</v></c>") == [(1, ["", "", "7"])]


def test_a_workbook_that_counts_from_1904_has_its_dates():
    row = '<c s="1"><v>44591</v></c>'
    assert cells(row, more='<workbookPr date1904="1"/>') == [(1, ["2026-01-31T00:00:00"])]


def test_a_row_far_down_and_a_column_far_out_cost_nothing():
    row = '<row r="1048576"><c r="A1048576"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row>'
    assert read_workbook(workbook(row), max_rows=10) == [(1048576, ["1"])]


def test_no_more_rows_are_read_than_are_asked_for():
    rows = "<row><c><v>1</v></c></row>" * 100
    assert len(read_workbook(workbook(rows), max_rows=3)) == 3


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_BYTES", 1_000_000)
    for name in ("xl/sharedStrings.xml", "xl/worksheets/sheet7.xml"):
        bomb = f"<x>{' ' * 2_000_000}</x>"
        with pytest.raises(LimitError, match="1,000,000"):
            read_workbook(workbook(**{name: bomb}), max_rows=10)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"xl/workbook.xml": None}, "no workbook"),
        ({"xl/workbook.xml": "<workbook/>"}, "no sheet"),
        ({"xl/worksheets/sheet7.xml": None}, "not in it"),
        ({"xl/_rels/workbook.xml.rels": None}, "not in it"),
        ({"xl/worksheets/sheet7.xml": "<worksheet>"}, "well-formed"),
        ({"xl/sharedStrings.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}, "document type"),
        ({"xl/styles.xml": '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>'}, "document type"),
    ],
)
def test_what_is_no_workbook_is_refused_with_what_to_do(parts, problem):
    with pytest.raises(InputError, match=problem) as refused:
        read_workbook(workbook(**parts), max_rows=10)
    assert "CSV" in refused.value.hint


def test_a_damaged_file_is_refused():
    data = workbook()
    with pytest.raises(InputError, match="unpacked"):
        read_workbook(data[: len(data) // 2], max_rows=10)
