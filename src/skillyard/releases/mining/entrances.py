"""Entrances: the addresses of a site that lead to the same place, such as its own and that of its page to sign in."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from skillyard.releases.mining.addresses import address_form, origin_of
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.signing_in import end_of_sign_in
from skillyard.releases.mining.units import Unit, ordered

_Place: TypeAlias = tuple[str, ...]


def use_one_entrance(units: Sequence[Unit]) -> None:
    """Have tasks begin at the same address that got to the same place: there, nothing is left of the one opened."""
    doors: dict[_Place, dict[int, BrowserAct]] = defaultdict(dict)
    for unit in units:
        acts = [act for act in unit.acts if isinstance(act, BrowserAct)]
        place = _place(acts) if acts and acts[0].verb == "open" else None
        if place is not None:
            doors[place][id(acts[0])] = acts[0]
    for opened in doors.values():
        forms = {address: address_form(act.values[0]) for address, act in opened.items()}
        usual = Counter(forms.values()).most_common(1)[0][0]
        door = next(act for address, act in opened.items() if forms[address] == usual)
        for address, act in opened.items():
            if forms[address] != usual:
                act.values, act.slots, act.after, act.title = door.values, door.slots, door.after, door.title


def _place(acts: Sequence[BrowserAct]) -> _Place | None:
    """Where one is once the page was opened: behind the sign-in, if there is one, whatever it was before."""
    origin = origin_of(acts[0].values[0])
    end = end_of_sign_in(acts, known=True)
    reached = acts[end - 1].after if end else acts[0].after
    if not origin or not reached:
        return None
    return (origin, reached, *(form for form, _ in ordered(acts[1:end])))
