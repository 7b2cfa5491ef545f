"""Sending a form: by its button or with the Enter key, which is the same."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from skillyard.releases.mining.addresses import address_form
from skillyard.releases.mining.browser_acts import BrowserAct

_Form: TypeAlias = tuple[frozenset[str], str, str]
"""What was entered, where, and where that led."""


def use_the_button(sessions: Sequence[Sequence[object]]) -> None:
    """Have what was sent with Enter be sent by the button that was used another time for the same form."""
    sent = [pair for events in sessions for pair in _sent(events)]
    buttons = {form: act for form, act in sent if act.verb == "click" and act.spot and act.spot.role == "button"}
    for form, act in sent:
        button = buttons.get(form)
        if button is not None and act.verb == "press":
            act.verb, act.spot, act.selector, act.values = "click", button.spot, button.selector, ()
            act.slots = button.slots


def _sent(events: Sequence[object]) -> Iterator[tuple[_Form, BrowserAct]]:
    """What was done right after something was entered."""
    entered: set[str] = set()
    for act in events:
        if not isinstance(act, BrowserAct):
            continue
        if act.is_entry:
            entered.add(act.form(()))
            continue
        sends = act.verb == "click" or (act.verb == "press" and act.values == ("Enter",))
        if entered and sends and act.before and act.after:
            yield (frozenset(entered), address_form(act.before), address_form(act.after)), act
        entered = set()
