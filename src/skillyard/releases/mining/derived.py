"""Values that nobody brought along: they stood in what an earlier step showed, and were typed again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from skillyard.releases.mining.acts import Act, Context
from skillyard.releases.mining.expressions import differs, whole_word
from skillyard.releases.mining.tasks import Occurrence
from skillyard.releases.mining.variables import Found
from skillyard.releases.payloads import StepType

_SHORTEST: Final = 4
_WORD: Final = re.compile(r"[^\W_][\w.-]*[^\W_]")
_Shown: TypeAlias = tuple[str, Act]


def mark_derived(found: Mapping[str, Found], occurrences: Sequence[Occurrence], at: int) -> None:
    """Note after which act the value of a variable, or a part of it, was shown every time before it was used.

    `at` is the time by whose texts the task is told.
    """
    for one in found.values():
        if one.secret or one.default is not None or not one.values[at]:
            continue
        pairs = [(value, occurrence) for value, occurrence in zip(one.values, occurrences, strict=True) if value]
        seen = [_seen(value, occurrence) for value, occurrence in pairs]
        shown = [each for each in seen if each is not None]
        # What is the same every time, such as the year below a page, is chance.
        if len(shown) == len(seen) and (len(seen) == 1 or differs(tuple(text for text, _ in shown))):
            here = _seen(one.values[at] or "", occurrences[at])
            one.shown_by = here[1] if here else None


def _seen(value: str, occurrence: Occurrence) -> _Shown | None:
    """What of a value stood in something that was shown before it was used, and the act that showed it."""
    if not any(character.isdigit() for character in value):
        return None  # plain words stand everywhere
    shown: list[_Shown] = []
    given: list[str] = []
    for act in occurrence.all:
        if value in _given(act):
            return next(_places(value, shown, given), None)
        shown += [(act.output, act), *((look.output, act) for look in act.looks)]
        given += _given(act)
    return None


def _places(value: str, shown: Sequence[_Shown], given: Sequence[str]) -> Iterator[_Shown]:
    """Where a value, or a part of it, was shown; the newest first."""
    # A number of few digits stands everywhere too, but seldom alone at the end of what a program wrote.
    alone = re.compile(rf"(?:^|[\s=:]){re.escape(value)}[^\S\n]*$", re.MULTILINE)
    for text, act in reversed(shown):
        is_alone = act.type is not StepType.BROWSER and alone.search(text)
        if is_alone or (len(value) >= _SHORTEST and whole_word(value).search(text)):
            yield value, act
    parts = [part for part in _WORD.findall(value) if len(part) >= _SHORTEST and any(map(str.isdigit, part))]
    for part in parts:
        if any(part in text for text in given):
            continue  # it was brought along, and only shown again
        yield from ((part, act) for text, act in reversed(shown) if whole_word(part).search(text))


def _given(act: Act) -> Iterator[str]:
    """What was brought along with an act: not what was only pointed at."""
    pointed = {Context.NAME, Context.AROUND, Context.CHOICE}
    return (slot.value for slot in act.slots if slot.context not in pointed)
