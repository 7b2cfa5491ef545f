"""Tasks: what was done several times, in one session or in many; or once, where that is enough."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.classes import digest_of
from skillyard.releases.mining.units import Unit

_LONGEST: Final = 12
"""Units that one task may have."""
_LEAST_WEIGHT: Final = 3
_LEAST_ACTS: Final = 2


@dataclass(kw_only=True, eq=False, slots=True)
class Occurrence:
    """A task as it was done once."""

    before: list[Act]
    """What had to be done first."""
    acts: list[Act]
    is_whole: bool = True

    @classmethod
    def of(cls, units: Sequence[Unit]) -> "Occurrence":
        acts = _each_once(act for unit in units for act in unit.acts)
        own = set(map(id, acts))
        before = _each_once(act for unit in units for act in unit.before)
        is_whole = all(unit.is_whole for unit in units)
        return cls(before=[act for act in before if id(act) not in own], acts=acts, is_whole=is_whole)

    @property
    def all(self) -> list[Act]:
        return [*self.before, *self.acts]

    @property
    def execution_ids(self) -> list[str]:
        looks = [look.execution_id for act in self.all for look in act.looks if look.kept]
        return list(dict.fromkeys([*(act.execution_id for act in self.all), *looks]))

    @property
    def is_worth_keeping(self) -> bool:
        if not self.is_whole:
            return False
        if self.acts[0].type == "browser":
            return sum(act.weight for act in self.acts) >= _LEAST_ACTS
        return sum(act.weight for act in self.acts) >= _LEAST_WEIGHT


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """The occurrences of one task."""

    occurrences: tuple[Occurrence, ...]


@dataclass(kw_only=True, eq=False, slots=True)
class _Row:
    """The units of a session, and which of them are part of a task."""

    units: list[Unit]
    kinds: list[str]
    used: list[bool]


def tasks_in(sessions: Sequence[Sequence[Unit]], *, once: Callable[[Unit], bool]) -> list[Task]:
    """The tasks of sessions. `once` tells of which units one occurrence is enough."""
    rows = [
        _Row(units=list(units), kinds=[digest_of(unit.forms) for unit in units], used=[False] * len(units))
        for units in sessions
    ]
    found = [Task(occurrences=tuple(occurrences)) for occurrences in _repeated(rows)]
    found += [Task(occurrences=(occurrence,)) for row in rows for occurrence in _single(row, once)]
    return found


def _repeated(rows: Sequence[_Row]) -> Iterator[list[Occurrence]]:
    """What was done more than once: first what covers the most, each unit in one task only."""
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for row in rows:
        for _, pattern in _patterns(row):
            counts[pattern] += 1
    ranked = sorted(
        (pattern for pattern, count in counts.items() if count > 1),
        key=lambda pattern: (-len(pattern) * counts[pattern], len(pattern), pattern),
    )
    for pattern in ranked:
        found = [
            (row, start, Occurrence.of(row.units[start : start + len(pattern)]))
            for row, start in _places(rows, pattern)
        ]
        worth = [(row, start, occurrence) for row, start, occurrence in found if occurrence.is_worth_keeping]
        if len(worth) < 2:  # noqa: PLR2004 -- what is done once is not repeated
            continue
        for row, start, _ in worth:
            row.used[start : start + len(pattern)] = [True] * len(pattern)
        yield [occurrence for _, _, occurrence in worth]


def _patterns(row: _Row) -> Iterator[tuple[int, tuple[str, ...]]]:
    for start in range(len(row.kinds)):
        for length in range(1, min(_LONGEST, len(row.kinds) - start) + 1):
            pattern = tuple(row.kinds[start : start + length])
            if len(set(pattern)) == length and _belongs_together(row.units[start : start + length]):
                yield start, pattern


def _places(rows: Sequence[_Row], pattern: tuple[str, ...]) -> Iterator[tuple[_Row, int]]:
    """Where a pattern stands among what is not used yet, never two on the same unit."""
    for row in rows:
        start = 0
        while start + len(pattern) <= len(row.kinds):
            end = start + len(pattern)
            if tuple(row.kinds[start:end]) == pattern and not any(row.used[start:end]):
                yield row, start
                start = end
            else:
                start += 1


def _belongs_together(units: Sequence[Unit]) -> bool:
    """Whether units may be one task: pages of different sites are so only if something went from one to the other."""
    sites = [unit for unit in units if unit.is_browser]
    return all(one.origin == other.origin or _hands_over(one, other) for one, other in pairwise(sites))


def _hands_over(one: Unit, other: Unit) -> bool:
    shown = " ".join([*(act.output for act in one.acts), *(look.output for act in one.acts for look in act.looks)])
    given = {slot.value for act in one.acts for slot in act.slots}
    values = [slot.value for act in other.acts for slot in act.slots if len(slot.value) >= _LEAST_WEIGHT]
    return any(value in given or value in shown for value in values)


def _single(row: _Row, once: Callable[[Unit], bool]) -> Iterator[Occurrence]:
    """What was done once: a page that was opened and all that was done from there; code that was run in a row."""
    run: list[Unit] = []

    def ended() -> Iterator[Occurrence]:
        if run:
            occurrence = Occurrence.of(run)
            if occurrence.is_worth_keeping:
                yield occurrence
            run.clear()

    for unit, used in zip(row.units, row.used, strict=True):
        if used or not once(unit):
            yield from ended()
        elif unit.is_browser:
            yield from ended()
            run.append(unit)
            yield from ended()
        else:
            run.append(unit)
    yield from ended()


def _each_once(acts: Iterable[Act]) -> list[Act]:
    return list({id(act): act for act in acts}.values())
