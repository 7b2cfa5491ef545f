"""Looking over a decision table before it is kept: rules that overlap or contradict, cases that no rule is for."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeAlias

from skillyard.learning.rules.axes import Axis, axes_of
from skillyard.learning.rules.table import DecisionTable, HitPolicy, Rule
from skillyard.learning.rules.values import plain

MAX_TOLD: Final = 100
"""Remarks of each kind; the rest are only counted."""
MAX_TEXT: Final = 100_000
"""Characters of all remarks together, about; the rest are only counted."""
MAX_CUTS: Final = 250_000
"""How often the cells of two rules are laid over each other before looking on is given up."""
_WIDE: Final = 2_000
"""Parts of a column above which comparing two cells counts more than once."""
_MAX_WHERE: Final = 2_000
_SHOWN: Final = 300

_Box: TypeAlias = tuple[int, ...]
"""Some cases: for each input the bits of what it may be, on its axis."""


class _TooMuchError(Exception):
    """There is more to look through than anybody waits for."""


class _Cuts:
    """Lays sets of cases over each other, for as long as that is worth it."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        widest = max(axis.whole.bit_length() for axis in axes)
        self._left = MAX_CUTS // (1 + widest // _WIDE)

    def common(self, one: _Box, other: _Box) -> _Box | None:
        """The cases in both; None if there are none."""
        common: list[int] = []
        for mine, theirs in zip(one, other, strict=True):
            both = mine & theirs
            if not both:
                self._spend(len(common) + 1)
                return None
            common.append(both)
        self._spend(len(common))
        return tuple(common)

    def left(self, boxes: list[_Box], taken: Sequence[_Box]) -> list[_Box]:
        """What is left of some sets without others."""
        for other in taken:
            if all(other):
                boxes = [piece for box in boxes for piece in self._without(box, other)]
        return boxes

    def _without(self, box: _Box, other: _Box) -> list[_Box]:
        if self.common(box, other) is None:
            return [box]
        self._spend(len(box) ** 2 // 2)
        pieces: list[_Box] = []
        for at, bits in enumerate(box):
            rest = bits & ~other[at]
            if rest:
                before = (mine & theirs for mine, theirs in zip(box[:at], other, strict=False))
                pieces.append((*before, rest, *box[at + 1 :]))
        return pieces

    def _spend(self, cells: int) -> None:
        self._left -= cells
        if self._left < 0:
            raise _TooMuchError


class Seriousness(StrEnum):
    ERROR = "error"
    """The table would not decide."""
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """Something about a table that a person should know before it goes in."""

    kind: str
    """`conflict`, `overlap`, `gap`, `unreachable` or `impossible`."""
    seriousness: Seriousness
    message: str
    rules: tuple[str, ...] = ()
    case: dict[str, Any] | None = None
    """Inputs for which it is so."""
    where: dict[str, str] | None = None
    """All such inputs, as cells; None also where that would be a long list."""

    @property
    def size(self) -> int:
        """About how many characters it has as text."""
        return len(self.message) + len(str(self.case)) + len(str(self.where))

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "seriousness": self.seriousness.value,
            "message": self.message,
            "rules": list(self.rules),
            "case": self.case,
            "where": self.where,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """All that there is to say about a table."""

    remarks: tuple[Remark, ...]
    complete: bool
    """False: there is more to look through than was looked through."""
    more: int = 0
    """How many further remarks there are, which are only counted."""

    @property
    def decides(self) -> bool:
        """Whether it gives one answer for whatever it answers."""
        return not any(remark.seriousness is Seriousness.ERROR for remark in self.remarks)

    def as_dict(self) -> dict[str, Any]:
        return {
            "decides": self.decides,
            "complete": self.complete,
            "remarks": [remark.as_dict() for remark in self.remarks],
            "more": self.more,
        }


def report(table: DecisionTable) -> Report:
    """Look a table over."""
    axes = axes_of(table.inputs, [rule.when for rule in table.rules])
    boxes = _boxes(table, axes)
    remarks: list[Remark] = []
    complete, more, room = True, 0, MAX_TEXT
    for look in (_impossible, _overlaps, _unreachable, _gaps):
        found = 0
        try:
            for remark in look(table, axes, boxes, _Cuts(axes)):
                found += 1
                if found > MAX_TOLD or room < 0:
                    more += 1
                else:
                    remarks.append(remark())
                    room -= remarks[-1].size
        except _TooMuchError:
            complete = False
    return Report(remarks=tuple(remarks), complete=complete, more=more)


def _boxes(table: DecisionTable, axes: Sequence[Axis]) -> list[_Box]:
    return [tuple(axis.covered(cell) for axis, cell in zip(axes, rule.when, strict=True)) for rule in table.rules]


_Found: TypeAlias = Iterator[Callable[[], Remark]]
"""Remarks, each composed only if it is listed."""


def _impossible(table: DecisionTable, _axes: Sequence[Axis], boxes: Sequence[_Box], _cuts: _Cuts) -> _Found:
    for rule, box in zip(table.rules, boxes, strict=True):
        for at, bits in enumerate(box):
            if not bits:
                yield partial(_never, table, rule, at)


def _never(table: DecisionTable, rule: Rule, at: int) -> Remark:
    return Remark(
        kind="impossible",
        seriousness=Seriousness.WARNING,
        message=f"Rule {rule.id} tests {table.inputs[at].id} for {_cut(str(rule.when[at]))}, which it can never be.",
        rules=(rule.id,),
    )


def _overlaps(table: DecisionTable, axes: Sequence[Axis], boxes: Sequence[_Box], cuts: _Cuts) -> _Found:
    for later, second in enumerate(table.rules):
        for earlier, first in enumerate(table.rules[:later]):
            common = cuts.common(boxes[earlier], boxes[later])
            if common is not None and _matters(table.hit_policy, same=first.then == second.then):
                yield partial(_overlap, table, axes, first, second, common)


def _matters(policy: HitPolicy, *, same: bool) -> bool:
    """Whether two rules that hold for one case deserve a remark."""
    return policy is HitPolicy.UNIQUE or (policy is not HitPolicy.COLLECT and not same)


def _overlap(table: DecisionTable, axes: Sequence[Axis], first: Rule, second: Rule, common: _Box) -> Remark:
    same = first.then == second.then
    policy = table.hit_policy
    case = _case(table, axes, common)
    both = f"Rules {first.id} and {second.id} both hold, for example for {_shown(case)}"
    if policy is HitPolicy.UNIQUE or policy is HitPolicy.ANY:
        differing = "and say the same" if same else "and say different things"
        seriousness, kind = Seriousness.ERROR, "overlap" if same else "conflict"
        message = f"{both}, {differing}; with the hit policy {policy} that has no answer."
    elif policy is HitPolicy.FIRST:
        seriousness, kind, message = Seriousness.NOTE, "overlap", f"{both}; {first.id} comes first and counts."
    else:
        ahead = min((first, second), key=lambda rule: priority(table, rule))
        seriousness, kind, message = Seriousness.NOTE, "overlap", f"{both}; {ahead.id} is more important and counts."
    return Remark(
        kind=kind,
        seriousness=seriousness,
        message=message,
        rules=(first.id, second.id),
        case=case,
        where=_where(table, axes, common),
    )


def unreachable_rules(table: DecisionTable) -> set[str]:
    """The ids of rules that never count; empty if the table is too large to check."""
    axes = axes_of(table.inputs, [rule.when for rule in table.rules])
    try:
        return {rule.id for rule in _never_counting(table, _boxes(table, axes), _Cuts(axes))}
    except _TooMuchError:
        return set()


def _unreachable(table: DecisionTable, _axes: Sequence[Axis], boxes: Sequence[_Box], cuts: _Cuts) -> _Found:
    for rule in _never_counting(table, boxes, cuts):
        yield partial(_covered, table, rule)


def _never_counting(table: DecisionTable, boxes: Sequence[_Box], cuts: _Cuts) -> Iterator[Rule]:
    """Rules that are covered completely by others, which come first or are more important."""
    order: list[int] = []
    if table.hit_policy is HitPolicy.FIRST:
        order = list(range(len(table.rules)))
    elif table.hit_policy is HitPolicy.PRIORITY:
        order = sorted(range(len(table.rules)), key=lambda at: priority(table, table.rules[at]))
    for place, at in enumerate(order):
        if all(boxes[at]) and not cuts.left([boxes[at]], [boxes[ahead] for ahead in order[:place]]):
            yield table.rules[at]


def _covered(table: DecisionTable, rule: Rule) -> Remark:
    why = "the rules before it hold" if table.hit_policy is HitPolicy.FIRST else "more important rules hold"
    message = f"Rule {rule.id} never counts: {why} for all of its cases."
    return Remark(kind="unreachable", seriousness=Seriousness.WARNING, message=message, rules=(rule.id,))


def _gaps(table: DecisionTable, axes: Sequence[Axis], boxes: Sequence[_Box], cuts: _Cuts) -> _Found:
    if table.default is None:
        for box in cuts.left([tuple(axis.whole for axis in axes)], boxes):
            yield partial(_gap, table, axes, box)


def _gap(table: DecisionTable, axes: Sequence[Axis], box: _Box) -> Remark:
    case = _case(table, axes, box)
    message = f"No rule holds, for example, for {_shown(case)}."
    where = _where(table, axes, box)
    return Remark(kind="gap", seriousness=Seriousness.WARNING, message=message, case=case, where=where)


def priority(table: DecisionTable, rule: Rule) -> tuple[int, ...]:
    """The place of a rule's outputs among those that they can be: the less, the more important."""
    return tuple(output.values.index(value) for output, value in zip(table.outputs, rule.then, strict=True))


def _case(table: DecisionTable, axes: Sequence[Axis], box: _Box) -> dict[str, Any]:
    examples = (axis.example(bits) for axis, bits in zip(axes, box, strict=True))
    return {column.id: plain(value) for column, value in zip(table.inputs, examples, strict=True)}


def _where(table: DecisionTable, axes: Sequence[Axis], box: _Box) -> dict[str, str] | None:
    where = {column.id: axis.cell(bits) for column, axis, bits in zip(table.inputs, axes, box, strict=True)}
    return where if sum(map(len, where.values())) <= _MAX_WHERE else None


def _shown(case: dict[str, Any]) -> str:
    return _cut(", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in case.items()))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
