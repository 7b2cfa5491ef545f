import threading
from itertools import chain

import pytest

from skillyard.agents import telling
from skillyard.agents.uses import Uses
from skillyard.errors import UnavailableError
from skillyard.usage.events import UsageKind


class Yard:
    """Takes what it is told, once it is let."""

    def __init__(self):
        self.told = []
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()
        self.fails = 0

    def report_usage(self, events):
        self.is_asked.set()
        assert self.may_answer.wait(10)
        if self.fails:
            self.fails -= 1
            raise UnavailableError("No.")
        self.told.append([event["skill"] for event in events])


@pytest.fixture
def yard():
    return Yard()


def test_what_comes_together_is_told_together_and_nobody_waits(yard):
    uses = Uses(yard)
    for number in range(5):
        uses.add(UsageKind.LOADED, str(number))
    yard.may_answer.set()
    uses.flush()
    assert list(chain(*yard.told)) == ["0", "1", "2", "3", "4"]
    assert len(yard.told) <= 2
    uses.add(UsageKind.LOADED, "5")
    uses.flush()
    assert yard.told[-1] == ["5"]


def test_what_cannot_be_told_is_dropped_and_the_next_is_told(yard):
    yard.fails = 1
    yard.may_answer.set()
    uses = Uses(yard)
    uses.add(UsageKind.LOADED, "lost")
    uses.flush()
    uses.add(UsageKind.LOADED, "told")
    uses.flush()
    assert yard.told == [["told"]]


def test_a_yard_that_does_not_answer_fills_no_memory(yard, monkeypatch):
    monkeypatch.setattr(telling, "MAX_WAITING", 3)
    uses = Uses(yard)
    uses.add(UsageKind.LOADED, "0")
    assert yard.is_asked.wait(10)
    for number in range(1, 50):
        uses.add(UsageKind.LOADED, str(number))
    yard.may_answer.set()
    uses.flush()
    assert yard.told == [["0"], ["47", "48", "49"]]


def test_texts_are_cut_and_cleaned_before_they_are_sent(yard, monkeypatch):
    sent = []
    monkeypatch.setattr(yard, "report_usage", sent.extend)
    uses = Uses(yard)
    uses.add(UsageKind.FAILED, "s", session="a\nb" + "x" * 500, agent="\0", detail="d" * 5000)
    uses.flush()
    assert sent[0]["session"].startswith("a\\nb")
    assert len(sent[0]["session"]) <= 128
    assert sent[0]["agent"] == "\\x00"
    assert len(sent[0]["detail"]) <= 2000
