"""Sending a form: by its button or with the Enter key, which is the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from skillyard.releases.mining.addresses import common_glob, path_glob, same_page
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.replay.labels import ENOUGH, alikeness


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    """A form that was sent."""

    act: BrowserAct
    entered: tuple[BrowserAct, ...]
    after: str
    """Where the browser was then; after the key that may be known only when something else is done."""

    @property
    def button(self) -> str:
        """The name of the button; empty where none was used."""
        spot = self.act.spot
        return spot.name if self.act.verb == "click" and spot is not None and spot.role == "button" else ""

    def is_same_form(self, other: "_Sent") -> bool:
        """Whether most of what was entered is the same, on the same page, and led to the same."""
        shared = sum(any(_is_one_field(act, each) for each in other.entered) for act in self.entered)
        return (
            shared * 3 >= len(self.entered) + len(other.entered)
            and _is_one_place(self.act.before, other.act.before)
            and _is_one_place(self.after, other.after)
        )


def use_the_button(sessions: Sequence[Sequence[object]]) -> None:
    """Have what was sent with Enter be sent by the button that was used another time for the same form."""
    sent = [one for events in sessions for one in _sent([act for act in events if isinstance(act, BrowserAct)])]
    pressed, clicked = ([one for one in sent if bool(one.button) is by_button] for by_button in (False, True))
    for one in pressed:
        buttons = [each for each in clicked if each.is_same_form(one)] if one.act.verb == "press" else []
        if buttons and all(alikeness(buttons[-1].button, each.button) >= ENOUGH for each in buttons):
            act, button = one.act, buttons[-1].act
            act.done_as = act.form(())
            act.verb, act.spot, act.selector, act.values = "click", button.spot, button.selector, ()
            act.slots, act.after = button.slots, one.after


def _sent(acts: Sequence[BrowserAct]) -> Iterator[_Sent]:
    """What was done right after something was entered."""
    entered: list[BrowserAct] = []
    for act, following in zip_longest(acts, acts[1:]):
        if act.is_entry:
            entered.append(act)
            continue
        is_key = act.verb == "press" and act.values == ("Enter",)
        if entered and (is_key or act.verb == "click") and act.before and act.after:
            is_late = is_key and act.after == act.before and following is not None and following.verb != "open"
            after = following.before if is_late and following is not None else act.after
            yield _Sent(act=act, entered=tuple(entered), after=after or act.after)
        entered = []


def _is_one_field(one: BrowserAct, other: BrowserAct) -> bool:
    """Whether two fields are the same, or one whose label changed a little."""
    if one.form(()) == other.form(()) or one.spot is None or other.spot is None:
        return one.form(()) == other.form(())
    return one.skeleton() == other.skeleton() and alikeness(one.spot.name, other.spot.name) >= ENOUGH


def _is_one_place(one: str, other: str) -> bool:
    """Whether two addresses are of one page, or of pages of one kind."""
    return same_page(one, other) or bool(common_glob([path_glob(one), path_glob(other)]))
