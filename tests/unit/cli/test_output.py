import io
import sys
import threading

import pytest
from rich.progress import Progress
from rich.status import Status

from skillyard.cli import output
from skillyard.cli.output import Sink
from skillyard.errors import SkillyardError, UsageError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Make all streams a terminal. To be called in the test: pytest puts its own streams in before it."""

    def _terminal(typed=""):
        shown = Terminal()
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, shown)
        monkeypatch.setattr(sys, "stdin", Terminal(typed))
        monkeypatch.setenv("TERM", "xterm")
        return shown

    return _terminal


def test_off_a_terminal_items_pass_without_a_bar(capsys):
    sink = Sink(as_json=False)
    assert list(sink.track(iter("abc"), total=3, label="Work")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_short_work_shows_no_bar(terminal):
    shown = terminal()
    assert list(Sink(as_json=False).track("abc", total=3, label="Work")) == ["a", "b", "c"]
    assert "Work" not in shown.getvalue()


def test_long_work_shows_a_bar_and_takes_it_away(terminal, monkeypatch):
    monkeypatch.setattr(output, "SHOW_PROGRESS_AFTER", -1.0)
    shown = terminal()
    assert list(Sink(as_json=False).track("abc", total=3, label="Work \x1b[2J")) == ["a", "b", "c"]
    assert r"Work \x1b[2J" in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K")


def test_a_bar_ends_when_the_work_fails(terminal, monkeypatch):
    monkeypatch.setattr(output, "SHOW_PROGRESS_AFTER", -1.0)
    shown = terminal()
    items = Sink(as_json=False).track("abc", total=3, label="Work")
    next(items)
    next(items)
    items.close()
    assert shown.getvalue().endswith("\x1b[2K")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_no_at_the_terminal_stops(terminal, as_json):
    shown = terminal("n\n")
    with pytest.raises(SkillyardError, match="Nothing was done") as caught:
        Sink(as_json=as_json).confirm("Really?", yes=False)
    assert caught.value.exit_code == 1
    assert "Really? [y/N]" in shown.getvalue()


def test_a_yes_at_the_terminal_goes_on(terminal):
    terminal("y\n")
    Sink(as_json=False).confirm("Really?", yes=False)


def test_off_a_terminal_the_option_is_named(capsys):
    with pytest.raises(UsageError) as caught:
        Sink(as_json=False).confirm("Really?", yes=False)
    assert "-y" in caught.value.hint
    Sink(as_json=False).confirm("Really?", yes=True)
    assert capsys.readouterr().err == ""


def test_long_work_without_steps_is_shown_and_taken_away(terminal, monkeypatch):
    started = threading.Event()
    start = Status.start
    monkeypatch.setattr(output, "SHOW_PROGRESS_AFTER", 0.0)
    monkeypatch.setattr(Status, "start", lambda status: (start(status), started.set()))
    shown = terminal()
    with Sink(as_json=False).busy("Work"):
        assert started.wait(timeout=10)
    assert "Work" in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K")


def test_few_long_steps_are_counted_from_the_beginning(terminal, monkeypatch):
    started = threading.Event()
    start = Progress.start
    monkeypatch.setattr(output, "SHOW_PROGRESS_AFTER", 0.0)
    monkeypatch.setattr(Progress, "start", lambda bar: (start(bar), started.set()))
    shown = terminal()
    with Sink(as_json=False).counting("Work \x1b[2J", total=2) as advance:
        assert started.wait(timeout=10)
        advance()
    assert "50%" in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()
    assert shown.getvalue().endswith("\x1b[2K")


def test_short_work_and_work_off_a_terminal_show_nothing(terminal, capsys, monkeypatch):
    def work():
        with Sink(as_json=False).busy("Work"), Sink(as_json=False).counting("Work", total=1) as advance:
            advance()

    work()
    shown = terminal()
    work()
    monkeypatch.undo()
    assert "Work" not in shown.getvalue() + capsys.readouterr().err


def test_remarks_go_to_stderr_and_only_to_people(capsys):
    answer = output.Answer(document={}, text=lambda console: console.print("data"), remarks=["By the way."])
    Sink(as_json=False).show(answer)
    assert capsys.readouterr() == ("data\n", "By the way.\n")
    Sink(as_json=True).show(answer)
    assert capsys.readouterr() == ("{}\n", "")


def test_a_remark_wraps_between_words_and_keeps_commands_whole(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    shown = terminal()
    Sink(as_json=False).say("A remark of some length, after which comes `skillyard env use research` to copy.")
    assert shown.getvalue() == ("A remark of some length, after which\ncomes `skillyard env use research` to\ncopy.\n")


def test_a_document_is_indented_on_a_terminal_only(terminal):
    shown = terminal()
    answer = output.Answer(document={"a": 1}, text=lambda console: None)
    Sink(as_json=True).show(answer)
    assert shown.getvalue() == '{\n  "a": 1\n}\n'


def test_parts_of_an_answer_are_for_people_only(capsys):
    Sink(as_json=True).stream(lambda console: console.print("part"))
    assert capsys.readouterr().out == ""
    Sink(as_json=False).stream(lambda console: console.print("part"))
    assert capsys.readouterr().out == "part\n"
