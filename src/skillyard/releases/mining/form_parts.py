"""Forms as they were filled in: what was entered, part by part, up to what sent it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.browser_acts import CHOOSING, BrowserAct
from skillyard.sandbox.browser_steps import TYPING

_MOST: Final = 100
_TICKED: Final = frozenset({"checkbox", "switch"})
_PICKED: Final = frozenset({"radio", "menuitemradio"})
"""One of a group, of which one may be picked already."""


@dataclass(kw_only=True, eq=False, slots=True)
class FormPart:
    """What is entered into a form, up to what sends it or leads elsewhere."""

    entries: dict[str, BrowserAct] = field(default_factory=dict[str, BrowserAct])
    """By their forms."""
    end: str = ""
    """The form of what comes then; empty if nothing does."""
    at: int = 0
    """Where among the acts that is."""


class Rounds(NamedTuple):
    """The parts that were done again and again, to the end."""

    start: int
    length: int
    times: int


def parts_of(acts: Sequence[Act]) -> list[FormPart] | None:
    """The parts of what was done in a browser, the last one without an end; None if a field was filled in twice."""
    parts = [FormPart()]
    typed: list[str] = []
    for index, act in enumerate(acts):
        if not isinstance(act, BrowserAct):
            return None
        form = act.form(typed)
        typed += act.entered
        if not act.is_entry:
            parts[-1].end, parts[-1].at = form, index
            parts.append(FormPart())
        elif form in parts[-1].entries:
            return None
        else:
            parts[-1].entries[form] = act
    parts[-1].at = len(acts)
    return parts


def same_but_for_options(one: Sequence[FormPart], other: Sequence[FormPart]) -> bool:
    """Whether two differ only in fields that were left as they are, and at least half of each form is the same."""
    return len(one) == len(other) and all(
        first.end == second.end and _is_same_form(first.entries, second.entries)
        for first, second in zip(one, other, strict=True)
    )


def rounds_in(parts: Sequence[FormPart]) -> Rounds | None:
    """The same forms filled in again and again, perhaps not all of their fields each time."""
    count = len(parts) - 1
    if count > _MOST or parts[-1].entries:
        return None
    for start in range(count - 1):
        for length in range(1, (count - start) // 2 + 1):
            times, rest = divmod(count - start, length)
            rounds = [parts[start + time * length : start + (time + 1) * length] for time in range(times)]
            if rest or not all(any(part.entries for part in one) for one in rounds):
                continue
            if all(same_but_for_options(rounds[0], one) for one in rounds):
                return Rounds(start, length, times)
    return None


def _is_same_form(one: Mapping[str, BrowserAct], other: Mapping[str, BrowserAct]) -> bool:
    common, every = one.keys() & other.keys(), one.keys() | other.keys()
    acts = {**one, **other}
    return common == every or (
        len(common) * 2 >= len(every) and all(may_be_left_out(acts[form]) for form in every - common)
    )


def may_be_left_out(act: BrowserAct) -> bool:
    """Whether a form can be sent without it."""
    spot = act.spot
    if spot is None or not spot.name or act.enters_secret:
        return False
    return act.verb in TYPING | CHOOSING or spot.role in _TICKED or (spot.role in _PICKED and bool(spot.group))
