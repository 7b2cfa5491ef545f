import json
from datetime import UTC, datetime

import pytest

from skillyard.errors import InputError, LimitError
from skillyard.learning import feedback_files
from skillyard.learning.feedback_files import read_feedback_file

CSV = "content,task,agent,user,time,event_id\n환불은 5일,refund,support; orders,ana,2026-01-31T09:00:00+09:00,e-1\n"


def only(data, **given):
    read = read_feedback_file(data, **given)
    assert read.problems == ()
    [(_, spec)] = read.specs
    return spec


def test_a_csv_file_is_read_by_its_column_names():
    spec = only(CSV.encode(), name="said.csv")
    assert (spec.content, spec.task, spec.user, spec.event_id) == ("환불은 5일", "refund", "ana", "e-1")
    assert spec.agents == [{"id": "support"}, {"id": "orders"}]
    assert spec.time == datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_columns_may_be_divided_otherwise(delimiter):
    text = "Feedback|User ID|mood\nBe brief.|ana|good\n".replace("|", delimiter)
    read = read_feedback_file(text.encode())
    assert (read.specs[0][1].content, read.specs[0][1].user) == ("Be brief.", "ana")
    assert read.ignored == ("mood",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_with_a_mark_is_read_in_its_encoding(encoding):
    assert only(CSV.encode(encoding)).content == "환불은 5일"


@pytest.mark.parametrize(
    ("encoding", "text"), [("cp949", "환불은 5일"), ("gb18030", "退款要五天"), ("shift_jis", "返金は五日")]
)
def test_an_encoding_without_a_mark_can_be_named(encoding, text):
    data = f"content\n{text}\n".encode(encoding)
    assert only(data, encoding=encoding.upper()).content == text
    with pytest.raises(InputError, match="utf-8") as refused:
        read_feedback_file(data, name="said.csv")
    assert "cp949" in refused.value.hint


@pytest.mark.parametrize("encoding", ["punycode", "idna", "hex", "no-such"])
def test_other_encodings_are_not_read(encoding):
    with pytest.raises(InputError, match="not read"):
        read_feedback_file(b"content\nx\n", encoding=encoding)


def test_cells_of_several_lines_stay_together_and_lines_are_counted_from_the_file():
    text = 'content,time\n"one\ntwo",\n"",\nlate,never\nlast,\n'
    read = read_feedback_file(text.encode())
    assert [(line, spec.content) for line, spec in read.specs] == [(2, "one\ntwo"), (6, "last")]
    assert [(problem.line, "time" in problem.message) for problem in read.problems] == [(5, True)]


def test_json_lines_are_read_one_by_one():
    lines = [
        json.dumps({"content": "Be brief.", "agents": ["support", {"id": "orders", "name": "주문"}], "time": 0}),
        "",
        "{broken",
        "[1]",
        json.dumps({"content": "x", "agents": [5]}),
        json.dumps({"content": ["x"]}),
        '{"content": "x", "events": [NaN]}',
        json.dumps({"content": "zero \0 byte"}),
        json.dumps({"content": "half \ud800"}),
        json.dumps({"content": "Said.", "events": ["a", {"b": 1}], "user_id": 7}),
    ]
    read = read_feedback_file("\n".join(lines).encode(), name="said.jsonl")
    first, last = (spec for _, spec in read.specs)
    assert first.agents == [{"id": "support"}, {"id": "orders", "name": "주문"}]
    assert first.time == datetime(1970, 1, 1, tzinfo=UTC)
    assert (list(last.events), last.user) == (["a", {"b": 1}], "7")
    assert [problem.line for problem in read.problems] == [3, 4, 5, 6, 7, 8, 9]


def test_a_list_of_objects_is_read_too():
    read = read_feedback_file(json.dumps([{"content": "a"}, 1, {"feedback": "b"}]).encode())
    assert [(line, spec.content) for line, spec in read.specs] == [(1, "a"), (3, "b")]
    with pytest.raises(InputError, match="no JSON"):
        read_feedback_file(b'[{"content": "a"')


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "no column"),
        (b"name,text\na,b\n", "no column"),
        (b"content,content\na,b\n", "two columns"),
        (b"PK\x03\x04xlsx", "workbook"),
        (b"\xd0\xcf\x11\xe0xls", "Excel"),
    ],
)
def test_what_is_no_such_file_is_refused_with_what_to_do(data, problem):
    with pytest.raises(InputError, match=problem) as refused:
        read_feedback_file(data)
    assert refused.value.hint


def test_a_picture_that_is_called_a_workbook_is_none():
    with pytest.raises(InputError, match=r"^team\.xlsx is called an Excel workbook") as refused:
        read_feedback_file(b"\x89PNG\r\n\x1a\n", name="team.xlsx")
    assert "CSV" in refused.value.hint


def test_a_number_without_end_is_a_problem_of_its_line():
    read = read_feedback_file(b'{"content": "a"}\n{"content": ' + b"9" * 5_000 + b"}\n", name="f.jsonl")
    assert [spec.content for _, spec in read.specs] == ["a"]
    assert "a number has 5,000 digits, of at most 4,000" in read.problems[0].message


def test_too_long_feedback_is_a_problem_of_its_line():
    read = read_feedback_file(f"content\n{'x' * 60_000}\nshort\n".encode())
    assert [spec.content for _, spec in read.specs] == ["short"]
    assert "50,000" in read.problems[0].message


def test_a_file_has_an_end(monkeypatch):
    monkeypatch.setattr(feedback_files, "MAX_LINES", 2)
    with pytest.raises(LimitError, match="2 lines"):
        read_feedback_file(b"content\na\nb\nc\n")


def test_a_file_of_a_million_columns_is_refused_at_once():
    names = b",".join(b"c%d" % number for number in range(1_000_000))
    with pytest.raises(LimitError, match="1,000 columns") as refused:
        read_feedback_file(b"content," + names + b"\nx\n")
    assert refused.value.hint
