import json

import pytest

from skillyard.learning.skills.command_runs import Result
from skillyard.learning.skills.evals import Check, compared, evals_of
from skillyard.learning.skills.trials import judged, scripts_of
from skillyard.skill.bundle import Bundle, BundleFile

FINE = Result(exit_code=0, output="", timed_out=False)


def result(exit_code=1, output="", *, timed_out=False):
    return Result(exit_code=exit_code, output=output, timed_out=timed_out)


@pytest.mark.parametrize(
    ("reading", "running", "problem", "warning"),
    [
        (FINE, FINE, "", ""),
        (result(output="a.py\nSyntaxError: invalid syntax"), FINE, "SyntaxError", ""),
        (result(127), FINE, "", "its interpreter is not there"),
        (FINE, result(-9, timed_out=True), "did not end", ""),
        (FINE, result(output="Traceback (most recent call last):\nNameError: x"), "NameError: x", ""),
        (
            FINE,
            result(output="Traceback (most recent call last):\nModuleNotFoundError: No module named 'pandas'"),
            "",
            "'pandas'",
        ),
        (FINE, result(139), "it ended with 139", ""),
        (FINE, result(2, "usage: a FILE"), "", "ends with 2: usage: a FILE"),
    ],
)
def test_a_script_is_judged_by_how_it_is_read_and_run(reading, running, problem, warning):
    verdict = judged("scripts/a.py", reading, running)
    assert bool(problem) == bool(verdict.problems)
    assert bool(warning) == bool(verdict.warnings)
    assert problem in "".join(verdict.problems)
    assert warning in "".join(verdict.warnings)


def test_only_scripts_that_are_other_than_before_are_tried():
    old = Bundle(
        [BundleFile("SKILL.md", b""), BundleFile("scripts/a.py", b"1"), BundleFile("bin/run", b"", executable=True)]
    )
    new = Bundle(
        [BundleFile("SKILL.md", b"x"), BundleFile("scripts/a.py", b"2"), BundleFile("bin/run", b"", executable=True)]
    )
    assert [file.path for file in scripts_of(new, old)] == ["scripts/a.py"]
    assert [file.path for file in scripts_of(new, None)] == ["bin/run", "scripts/a.py"]


def test_a_check_that_held_must_hold_and_one_that_always_holds_shows_nothing():
    checks = [Check(run="a"), Check(run="b", contains="ok")]
    good, bad = result(0, "ok"), result(1, "ok")
    assert compared(checks, [bad, bad], [good, good], [good, good]).problems == ()
    assert "'b' holds with the old skill" in compared(checks, [bad, bad], [good, good], [good, bad]).problems[0]
    assert "'a' holds without the skill and" in compared(checks, [good, bad], None, [bad, good]).problems[0]
    assert "'b' does not hold" in compared(checks, [bad, bad], None, [good, bad]).problems[0]
    assert "'b' does not hold" in compared(checks, [bad, bad], [good, bad], [good, bad]).warnings[0]
    assert "shows nothing" in compared(checks, [good, bad], [bad, good], [good, good]).warnings[0]


def with_evals(text):
    return Bundle([BundleFile("SKILL.md", b""), BundleFile("evals/evals.json", text)])


def test_a_change_is_held_to_the_evals_that_were_there_before():
    old = with_evals(b'{"evals": [{"id": 1, "checks": [{"run": "true"}]}, {"id": 2, "assertions": ["x"]}]}')
    assert evals_of(with_evals(b'{"evals": []}'), old) == evals_of(old, None)
    assert (len(evals_of(old, None).checks), len(evals_of(old, None).words)) == (1, 1)
    assert "cannot be read" in evals_of(with_evals(b"not json"), None).ask
    assert evals_of(Bundle([BundleFile("SKILL.md", b"")]), None) is None


def test_what_evals_say_in_words_is_told_to_a_person():
    cases = [
        {"prompt": "Pay back.", "assertions": ["Says\nthank you", "Names the sum"], "checks": [{"run": "true"}]},
        {"prompt": "Refuse.", "expected_output": "A kind no."},
        {"expectations": [f"fact {number}" for number in range(4)]},
    ]
    evals = evals_of(with_evals(json.dumps({"evals": cases}).encode()), None)
    assert len(evals.checks) == 1
    assert "A person has to judge" in evals.ask
    assert "“Says thank you”; “Names the sum”; “A kind no.”; “fact 0”; “fact 1”; and 2 more." in evals.ask


def test_evals_that_check_everything_ask_nobody():
    evals = evals_of(with_evals(b'{"evals": [{"prompt": "x", "checks": [{"run": "true"}]}]}'), None)
    assert (evals.ask, evals.left_out) == ("", 0)


def test_checks_that_are_too_many_are_told():
    cases = [{"checks": [{"run": "true"}] * 12}]
    assert evals_of(with_evals(json.dumps({"evals": cases}).encode()), None).left_out == 2
