"""What is filled in only at some times: the same task, in which the others left that field as it was."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.form_parts import FormPart, parts_of, same_but_for_options
from skillyard.releases.mining.units import Unit

_Divided: TypeAlias = tuple[Unit, list[FormPart]]


def fill_in_optional(units: Sequence[Unit]) -> None:
    """Have tasks that are the same but for some fields have all of them, left out where nothing was entered."""
    families: dict[tuple[str, ...], list[_Divided]] = defaultdict(list)
    for unit in units:
        parts = parts_of(unit.acts) if unit.is_browser else None
        if parts is not None:
            families[tuple(part.end for part in parts)].append((unit, parts))
    for family in families.values():
        for group in _alike(family):
            _complete(group)


def _alike(family: Sequence[_Divided]) -> Iterator[list[_Divided]]:
    """Those that are the same, each as all others of its group."""
    groups: list[list[_Divided]] = []
    for unit, parts in family:
        group = next((one for one in groups if all(same_but_for_options(parts, each) for _, each in one)), None)
        if group is None:
            groups.append([(unit, parts)])
        else:
            group.append((unit, parts))
    return (group for group in groups if len(group) > 1)


def _complete(group: Sequence[_Divided]) -> None:
    every = [
        {form: act for part in column for form, act in part.entries.items()}
        for column in zip(*(parts for _, parts in group), strict=True)
    ]
    for unit, parts in group:
        for part, wanted in reversed(list(zip(parts, every, strict=True))):
            missing = [act for form, act in wanted.items() if form not in part.entries]
            if missing:
                # Before what sends the form; where nothing does, what was done last stays the last.
                at = part.at if part.end else part.at - 1
                unit.acts[at:at] = [_left_out(act, unit.acts[at - 1]) for act in missing]


def _left_out(act: BrowserAct, near: Act) -> BrowserAct:
    """The same, not done."""
    return replace(
        act,
        execution_id=near.execution_id,
        learn=near.learn,
        before="",
        after="",
        shown=(),
        output="",
        looks=[],
        is_left_out=True,
    )
