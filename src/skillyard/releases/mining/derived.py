"""Values that nobody brought along: they stood in what an earlier step showed, and were typed again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from skillyard.releases.mining.acts import Act, Context
from skillyard.releases.mining.expressions import whole_word
from skillyard.releases.mining.tasks import Occurrence
from skillyard.releases.mining.variables import Found

_SHORTEST: Final = 4


def mark_derived(found: Mapping[str, Found], occurrences: Sequence[Occurrence]) -> None:
    """Note of which variables the value was shown, every time, before it was used."""
    for one in found.values():
        if one.secret or one.default is not None:
            continue
        pairs = [(value, occurrence) for value, occurrence in zip(one.values, occurrences, strict=True) if value]
        one.derived = bool(pairs) and all(_was_shown(value, occurrence) for value, occurrence in pairs)


def _was_shown(value: str, occurrence: Occurrence) -> bool:
    if len(value) < _SHORTEST or not any(character.isdigit() for character in value):
        return False  # plain words stand everywhere
    shown: list[str] = []
    for act in occurrence.all:
        if value in _given(act):
            return any(whole_word(value).search(text) for text in shown)
        shown += [act.output, *(look.output for look in act.looks)]
    return False


def _given(act: Act) -> Iterator[str]:
    """What was brought along with an act: not what was only pointed at."""
    pointed = {Context.NAME, Context.AROUND, Context.CHOICE}
    return (slot.value for slot in act.slots if slot.context not in pointed)
