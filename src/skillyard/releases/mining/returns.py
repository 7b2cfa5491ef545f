"""Going back to a page that one came from: to begin again there, or only to look."""

from collections.abc import Sequence
from itertools import takewhile

from skillyard.releases.mining.addresses import address_form
from skillyard.releases.mining.browser_acts import BrowserAct


def without_returns(acts: Sequence[BrowserAct], lead: Sequence[BrowserAct]) -> list[BrowserAct]:
    """Acts without those that only go back to where something was begun."""
    return [act for index, act in enumerate(acts) if not _returns(acts, index, lead)]


def without_last_returns(acts: Sequence[BrowserAct], lead: Sequence[BrowserAct]) -> list[BrowserAct]:
    """The same, but only of those at the end."""
    end = len(acts)
    while end and any(act.is_entry for act in acts[: end - 1]) and _returns(acts[:end], end - 1, lead):
        end -= 1
    return list(acts[:end])


def _returns(acts: Sequence[BrowserAct], index: int, lead: Sequence[BrowserAct]) -> bool:
    act = acts[index]
    if act.verb != "click" or act.spot is None or act.spot.role != "link" or act.before == act.after:
        return False
    if index + 1 < len(acts) and acts[index + 1].is_entry and not _begins_again(acts, index):
        return False  # it leads to another form
    visited = {address_form(one.after) for one in (*lead, *acts[:index]) if one.after}
    return address_form(act.after) in visited


def _begins_again(acts: Sequence[BrowserAct], index: int) -> bool:
    """Whether it leads to the form with which all began, which is then filled in once more."""
    first = [act.same_place for act in takewhile(lambda act: act.is_entry, acts)]
    return acts[index + 1].same_place in first and address_form(acts[index].after) == address_form(acts[0].before)
