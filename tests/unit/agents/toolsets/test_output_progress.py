"""Progress of long runs: the last line, now and then."""

from contextvars import copy_context

import pytest

from skillyard.agents.progress import reporting
from skillyard.agents.toolsets import output_progress
from skillyard.agents.toolsets.output_progress import told_output
from skillyard.errors import ConflictError


def test_nothing_is_followed_where_nobody_wants_to_know():
    assert told_output() is None


def test_the_last_line_is_told_and_not_every_one(monkeypatch):
    now = iter([0.0, 0.1, 0.7, 0.8, 2.0, 3.0])
    monkeypatch.setattr(output_progress.time, "monotonic", lambda: next(now))
    told = []
    with reporting(lambda *report: told.append(report)):
        tell = told_output()
        tell("stdout", "one\n")
        tell("stdout", "two\nthree\n")
        tell("stderr", "four\n")
        tell("stdout", "x" * 1_000)
        tell("stdout", "\n \n")
    assert [(done, total, message[:5]) for done, total, message in told] == [
        (14, None, "three"),
        (1_019, None, "xxxxx"),
    ]
    assert len(told[1][2]) <= 200


def test_a_run_that_nobody_waits_for_any_more_is_ended_by_its_next_output():
    with reporting(lambda *_: None):
        thread = copy_context()
        tell = told_output()
        thread.run(tell, "stdout", "")
    with pytest.raises(ConflictError, match="cancelled"):
        thread.run(tell, "stdout", "")
