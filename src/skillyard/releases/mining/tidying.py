"""What was undone, done over or given up is left out: only what led to the end is worth doing again."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.labels import label_key
from skillyard.sandbox.browser_steps import TYPING

_WRITTEN: Final = frozenset({"textbox", "searchbox", "spinbutton"})
"""Elements that are clicked only to write into them."""


def tidied(acts: Sequence[Act]) -> list[Act]:
    """The acts of one life of a sandbox, without those that came to nothing."""
    kept = _without_detours([act for act in acts if not _only_moves(act)])
    kept = _without_retries(kept)
    return _without_overwritten(kept)


def _only_moves(act: Act) -> bool:
    """Whether it only goes to another field, or to the same page once more."""
    if not isinstance(act, BrowserAct):
        return False
    if act.verb == "reload" or (act.verb == "press" and act.values[:1] in {("Tab",), ("Shift+Tab",)}):
        return True
    return act.verb == "click" and act.spot is not None and act.spot.role in _WRITTEN and act.before == act.after


def _without_detours(acts: Sequence[Act]) -> list[Act]:
    """Without going somewhere and coming back."""
    kept: list[Act] = []
    undone: list[Act] = []
    for act in acts:
        if isinstance(act, BrowserAct) and act.verb == "forward" and undone:
            kept.append(undone.pop())
            continue
        if isinstance(act, BrowserAct) and act.verb == "back":
            last = _last_step(kept)
            if last is not None:
                kept.remove(last)
                undone.append(last)
                continue
        elif isinstance(act, BrowserAct):
            undone = []
        kept.append(act)
    return kept


def _last_step(acts: Sequence[Act]) -> BrowserAct | None:
    """The last act in the browser, if it did nothing but go to another page from one that there was."""
    browser = [act for act in acts if isinstance(act, BrowserAct)]
    if len(browser) > 1 and _leads_elsewhere(browser[-1]):
        return browser[-1]
    return None


def _leads_elsewhere(act: BrowserAct) -> bool:
    return act.verb == "open" or (act.verb in {"click", "dblclick"} and act.before != act.after and not act.is_entry)


def _without_retries(acts: Sequence[Act]) -> list[Act]:
    """Without a form that was sent and came back to be corrected."""
    kept = list(acts)
    sent = [index for index, act in enumerate(kept) if _sends(act)]
    dropped: set[int] = set()
    for first, second in pairwise(sent):
        before, after = _entries(kept, first), _entries(kept, second)
        if not after or not _same_place(kept[first], kept[second]) or second - first - 1 != len(after):
            continue
        if _said(kept[first], before) & _said(kept[second], after):
            continue  # each was taken: the page said the same of what was entered
        places, again = {act.same_place for act in before}, {act.same_place for act in after}
        signs_in = any(act.enters_secret for act in after) and any(act.enters_secret for act in before)
        if again < places or (signs_in and again <= places):
            dropped.add(first)
    return [act for index, act in enumerate(kept) if index not in dropped]


def _said(act: Act, entered: Sequence[BrowserAct]) -> set[str]:
    """What a page said of what was entered, whatever that was."""
    typed = [value for one in entered for value in one.values]
    said = [label_key(text, typed) for text in act.shown] if isinstance(act, BrowserAct) else []
    return {text for text in said if "?" in text and text != "?"}


def _sends(act: Act) -> bool:
    return isinstance(act, BrowserAct) and act.verb in {"click", "dblclick", "press"} and not act.is_entry


def _same_place(one: Act, other: Act) -> bool:
    return isinstance(one, BrowserAct) and isinstance(other, BrowserAct) and one.form(()) == other.form(())


def _entries(acts: Sequence[Act], end: int) -> list[BrowserAct]:
    """What was entered right before an act."""
    found: list[BrowserAct] = []
    for act in reversed(acts[:end]):
        if not isinstance(act, BrowserAct) or not act.is_entry:
            break
        found.append(act)
    return found


def _without_overwritten(acts: Sequence[Act]) -> list[Act]:
    """Without what was entered and then replaced, checked and then unchecked."""
    dropped: set[int] = set()
    waiting: dict[tuple[str, ...], list[int]] = {}
    """What was entered into each element of the form so far."""
    for index, act in enumerate(acts):
        if not isinstance(act, BrowserAct):
            continue
        if not act.is_entry:
            waiting = {}
            continue
        earlier = waiting.setdefault(act.same_place, [])
        if _toggles(act):
            if earlier and _opposite(acts[earlier[-1]], act):
                dropped |= {earlier.pop(), index}
                continue
            dropped |= set(earlier)
            earlier.clear()
        elif act.verb != "type" or _only_cleared(acts, earlier):
            act.verb = "fill" if act.verb == "type" else act.verb
            dropped |= set(earlier)
            earlier.clear()
        earlier.append(index)
    return [act for index, act in enumerate(acts) if index not in dropped]


def _only_cleared(acts: Sequence[Act], earlier: Sequence[int]) -> bool:
    """Whether a field was only emptied before something was typed into it."""
    last = acts[earlier[-1]] if earlier else None
    return isinstance(last, BrowserAct) and last.verb == "fill" and last.values == ("",)


def _toggles(act: BrowserAct) -> bool:
    return act.verb not in TYPING and act.kind in {"check", "uncheck"}


def _opposite(one: Act, other: BrowserAct) -> bool:
    if not isinstance(one, BrowserAct):
        return False
    role = other.spot.role if other.spot else ""
    if one.verb == other.verb == "click" and role in {"checkbox", "switch", "menuitemcheckbox"}:
        return True
    return {one.verb, other.verb} == {"check", "uncheck"}
