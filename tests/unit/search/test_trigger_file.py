import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.errors import LimitError
from skillyard.search import trigger_file
from skillyard.search.trigger_file import read_triggers
from skillyard.skill.scaffold import scaffold


def read(text, *, file="p.jsonl", skill=""):
    data = text if isinstance(text, bytes) else text.encode()
    return read_triggers(data, file=file, skill=skill)


def expected(found):
    return [(each.line, each.text, each.should, each.should_not) for each in found.prompts]


def test_json_lines_name_one_skill_or_several():
    found = read(
        '{"prompt": "Fill in a form", "should": "pdf"}\n\n'
        '{"prompt": "양식", "should": ["pdf", "forms"], "should_not": "docx"}\r\n'
        '{"prompt": "hello", "should": []}\n'
    )
    assert expected(found) == [
        (1, "Fill in a form", ("pdf",), ()),
        (3, "양식", ("pdf", "forms"), ("docx",)),
        (4, "hello", (), ()),
    ]
    assert [each.wants_nothing for each in found.prompts] == [False, False, True]
    assert not found.findings


def test_a_json_list_may_leave_the_skill_to_the_caller():
    text = '[\n  {"query": "a", "should_trigger": true},\n  {"query": "b",\n   "should_trigger": false}\n]'
    assert expected(read(text, skill="pdf")) == [(2, "a", ("pdf",), ()), (3, "b", (), ("pdf",))]


def test_csv_has_columns_in_any_order_and_cells_of_several_lines():
    text = '\ufeffShould_Trigger,prompt,skill\nyes,"two\nlines",pdf\n\n0,plain,docx\n'
    assert expected(read(text, file="p.CSV")) == [(2, "two\nlines", ("pdf",), ()), (5, "plain", (), ("docx",))]


def test_records_of_the_same_prompt_are_one():
    text = "prompt,skill,should_trigger\nx,pdf,1\ny,pdf,1\n x ,forms,1\nx,docx,0\n"
    assert expected(read(text, file="p.csv")) == [(2, "x", ("pdf", "forms"), ("docx",)), (3, "y", ("pdf",), ())]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"prompt": "x"', "not-json"),
        ("[" * 100_000, "not-json"),
        ("5", "not-a-record"),
        ('{"should": "a"}', "no-prompt"),
        ('{"prompt": 5, "should": "a"}', "no-prompt"),
        ('{"prompt": " ", "should": "a"}', "no-prompt"),
        ('{"prompt": "x"}', "no-expectation"),
        ('{"prompt": "x", "should_not": []}', "no-expectation"),
        ('{"prompt": "x", "should": 5}', "not-a-name"),
        ('{"prompt": "x", "should": {}}', "not-a-name"),
        ('{"prompt": "x", "should": ["a", ""]}', "not-a-name"),
        ('{"prompt": "x", "should_trigger": true}', "no-skill"),
        ('{"prompt": "x", "skill": "a", "should_trigger": "maybe"}', "not-yes-or-no"),
        ('{"prompt": "x", "should": "a", "should_not": "a"}', "contradiction"),
        (json.dumps({"prompt": "x" * 20_001, "should": "a"}), "prompt-length"),
        (b'{"prompt": "\xff", "should": "a"}', "not-utf8"),
        ('{"prompt": "\\ud800", "should": "a"}', "not-utf8"),
    ],
)
def test_a_bad_line_is_a_finding_and_the_others_count(line, code):
    data = line if isinstance(line, bytes) else line.encode()
    found = read(b'{"prompt": "first", "should": "a"}\n' + data + b'\n{"prompt": "last", "should": "a"}')
    assert [each.text for each in found.prompts] == ["first", "last"]
    (finding,) = found.findings
    assert (finding.code, finding.line, finding.file) == (code, 2, "p.jsonl")
    assert finding.fix


def test_a_prompt_that_contradicts_an_earlier_one_is_a_finding():
    found = read('{"prompt": "x", "should": "a"}\n{"prompt": "x", "should_not": "a"}')
    assert expected(found) == [(1, "x", ("a",), ())]
    assert [(each.code, each.line) for each in found.findings] == [("contradiction", 2)]


def test_a_list_that_breaks_off_keeps_what_came_before():
    found = read('[{"prompt": "x", "should": "a"},\n{"prompt": ')
    assert len(found.prompts) == 1
    assert [(each.code, each.line) for each in found.findings] == [("not-json", 2)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [("name,skill\nx,y\n", "no-header", 1), ('prompt,skill,should_trigger\nx,a,1\n"open,a,1\n', "not-csv", 3)],
)
def test_csv_that_cannot_be_read_is_a_finding(text, code, line):
    assert [(each.code, each.line) for each in read(text, file="p.csv").findings] == [(code, line)]


def test_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(trigger_file, "MAX_PROMPTS", 2)
    found = read("".join(f'{{"prompt": "{number}", "should": "a"}}\n' for number in range(5)))
    assert len(found.prompts) == 2
    assert [(each.code, each.line) for each in found.findings] == [("too-many", 3)]
    monkeypatch.setattr(trigger_file, "MAX_BYTES", 10)
    with pytest.raises(LimitError):
        read("x" * 11)


@given(
    st.one_of(st.binary(max_size=200), st.text('[]{}",:\n promptshould', max_size=200).map(str.encode)), st.booleans()
)
def test_any_bytes_are_read_without_a_crash(data, is_csv):
    found = read(data, file="p.csv" if is_csv else "p.json")
    assert all(each.line >= 1 and each.message and each.fix for each in found.findings)


EVALS = """{
  "skill_name": "pdf",
  "evals": [
    {"id": 1, "prompt": "Fill in a form", "expected_output": "A form."},
    {"id": 2, "prompt": "Write a poem", "should_trigger": false}
  ]
}
"""


def test_the_evals_of_a_skill_are_prompts_that_should_find_it():
    found = read(EVALS, file="evals.json")
    assert expected(found) == [(4, "Fill in a form", ("pdf",), ()), (5, "Write a poem", (), ("pdf",))]
    assert not found.findings
    assert expected(read(json.dumps(json.loads(EVALS))))[0] == (1, "Fill in a form", ("pdf",), ())


def test_an_eval_without_a_prompt_is_a_finding_with_its_line():
    found = read(EVALS.replace('"prompt": "Fill', '"task": "Fill'))
    assert [(each.code, each.line) for each in found.findings] == [("no-prompt", 4)]
    assert len(found.prompts) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{\n  "name": "pdf",\n  "version": 1\n}\n', "not-prompts"),
        ('{\n  "evals": 3\n}\n', "not-prompts"),
        ('{\n  "evals": [\n    {"prompt": "x"\n  ]\n', "not-json"),
    ],
)
def test_a_file_that_is_something_else_has_one_finding(text, code):
    found = read(text, file="evals.json")
    assert [each.code for each in found.findings] == [code]
    assert found.findings[0].fix


def test_what_a_new_skill_starts_with_can_be_read():
    bundle = scaffold("pdf-forms", with_=["evals"])
    found = read(bundle.get("evals/evals.json").data, file="evals.json")
    assert ([each.should for each in found.prompts], found.findings) == ([("pdf-forms",)], ())
