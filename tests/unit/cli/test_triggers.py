import json

import pytest


@pytest.fixture
def mine(skill, tmp_path):
    root = tmp_path / "mine"
    skill("pdf-forms", under=root, description="Fills in PDF forms. Use it for forms that people send as PDF.")
    skill("meeting-notes", under=root, description="Writes down what was decided in a meeting, and who does what.")
    skill("sql-review", under=root, description="Reviews SQL for slow queries and missing indexes of a database.")
    return root


@pytest.fixture
def prompts(tmp_path):
    def write(*records, name="prompts.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records))
        return path

    return write


GOOD = {"prompt": "fill in this PDF form for me", "should": "pdf-forms", "should_not": ["sql-review"]}
BAD = {"prompt": "which indexes does the database miss", "should": "meeting-notes"}


def test_expectations_that_hold_are_summed_up(run, mine, prompts):
    result = run("skill", "triggers", prompts(GOOD), "--root", mine)
    assert result.code == 0
    assert "2 of 2 expectations hold (100%) in 1 prompt." in result.out
    assert "line 1" not in result.out
    assert "line 1" in run("skill", "triggers", prompts(GOOD), "--root", mine, "--all").out


def test_an_expectation_that_fails_is_told_with_what_came_instead(run, mine, prompts):
    result = run("skill", "triggers", prompts(GOOD, BAD), "--root", mine)
    assert result.code == 1
    lines = result.out.splitlines()
    assert "✗ line 2  which indexes does the database miss" in lines
    assert any(line.split() == ["meeting-notes", "sql-review", "1"] for line in lines)
    assert any(line.split() == ["pdf-forms", "1", "0", "100%", "100%", "100%", "100%"] for line in lines)
    assert lines[-1] == "2 of 3 expectations hold (67%) in 2 prompts."
    assert all(len(line) <= 80 for line in lines)
    assert run("skill", "triggers", prompts(GOOD, BAD), "--root", mine, "--min-share", 0.6).code == 0


def test_json_tells_everything(run, mine, prompts):
    told = run("skill", "triggers", prompts(GOOD, BAD), "--root", mine, "--json").json
    first, second = told["prompts"]
    assert first["top"][0] == "pdf-forms"
    assert first["expectations"][0] == {
        "skill": "pdf-forms",
        "should": True,
        "rank": 1,
        "catalog": "whole",
        "held": True,
    }
    assert (second["line"], second["held"]) == (2, False)
    assert told["confusions"] == [{"expected": "meeting-notes", "instead": "sql-review", "count": 1}]
    assert told["summary"]["held"] == 2


def test_a_bad_line_is_a_finding_and_the_others_are_tried(run, mine, prompts):
    file = prompts(GOOD, '{"prompt"', {"prompt": "x", "should": "pdf-form"})
    result = run("skill", "triggers", file, "--root", mine)
    assert result.code == 1
    assert f"{file}:2" in result.out
    assert "Did you mean 'pdf-forms'?" in result.out
    assert "2 of 2 expectations hold" in result.out


def test_the_skill_may_be_named_by_the_command(run, mine, prompts):
    file = prompts(json.dumps([{"query": "fill in a PDF form", "should_trigger": True}]), name="evals.json")
    assert run("skill", "triggers", file, "--root", mine, "--skill", "pdf-forms").code == 0
    assert "--skill NAME" in run("skill", "triggers", file, "--root", mine).out


def test_a_file_without_prompts_says_so(run, mine, prompts):
    result = run("skill", "triggers", prompts(), "--root", mine)
    assert result.code == 1
    assert "no prompt" in result.out


def test_a_file_that_is_not_there_is_not_found(run, mine, tmp_path):
    assert run("skill", "triggers", tmp_path / "none.csv", "--root", mine).code == 3
    assert run("skill", "triggers", tmp_path, "--root", mine).code == 1
