"""Looking over a decision table before it is kept: rules that overlap or contradict, cases that no rule is for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from skillyard.learning.rules.regions import Region, covered, whole
from skillyard.learning.rules.table import DecisionTable, HitPolicy, Rule
from skillyard.learning.rules.values import plain

MAX_TOLD: Final = 100
"""Of each kind; how many there are is told in any case."""
MAX_CUTS: Final = 500_000
"""How often the cells of two rules are laid over each other before looking on is given up."""

_Box: TypeAlias = tuple[Region, ...]


class _TooMuchError(Exception):
    """There is more to look through than anybody waits for."""


class _Cuts:
    """Lays sets of cases over each other, for as long as that is worth it."""

    def __init__(self) -> None:
        self._left = MAX_CUTS

    def common(self, one: _Box, other: _Box) -> _Box | None:
        """The cases in both; None if there are none."""
        common: list[Region] = []
        for mine, theirs in zip(one, other, strict=True):
            self._spend(1)
            region = mine.cut(theirs)
            if region.empty:
                return None
            common.append(region)
        return tuple(common)

    def left(self, boxes: list[_Box], taken: Sequence[_Box]) -> list[_Box]:
        """What is left of some sets without others."""
        for other in taken:
            if not any(region.empty for region in other):
                boxes = [piece for box in boxes for piece in self._without(box, other)]
        return boxes

    def _without(self, box: _Box, other: _Box) -> list[_Box]:
        if self.common(box, other) is None:
            return [box]
        self._spend(len(box) ** 2 // 2)
        pieces: list[_Box] = []
        for at, region in enumerate(box):
            rest = region.without(other[at])
            if not rest.empty:
                before = (mine.cut(theirs) for mine, theirs in zip(box[:at], other, strict=False))
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
    """All such inputs, as cells."""

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

    @property
    def decides(self) -> bool:
        """Whether it gives one answer for whatever it answers."""
        return not any(remark.seriousness is Seriousness.ERROR for remark in self.remarks)

    def as_dict(self) -> dict[str, Any]:
        return {
            "decides": self.decides,
            "complete": self.complete,
            "remarks": [remark.as_dict() for remark in self.remarks],
        }


def report(table: DecisionTable) -> Report:
    """Look a table over."""
    boxes = [_box(table, rule) for rule in table.rules]
    remarks = _impossible(table, boxes)
    complete = True
    for look in (_overlaps, _unreachable, _gaps):
        try:
            remarks += look(table, boxes, _Cuts())[:MAX_TOLD]
        except _TooMuchError:
            complete = False
    return Report(remarks=tuple(remarks), complete=complete)


def _box(table: DecisionTable, rule: Rule) -> _Box:
    return tuple(covered(cell, column) for cell, column in zip(rule.when, table.inputs, strict=True))


def _impossible(table: DecisionTable, boxes: Sequence[_Box]) -> list[Remark]:
    return [
        Remark(
            kind="impossible",
            seriousness=Seriousness.WARNING,
            message=f"Rule {rule.id} asks {table.inputs[at].id} for {rule.when[at]}, which it can never be.",
            rules=(rule.id,),
        )
        for rule, box in zip(table.rules, boxes, strict=True)
        for at, region in enumerate(box)
        if region.empty
    ][:MAX_TOLD]


def _overlaps(table: DecisionTable, boxes: Sequence[_Box], cuts: _Cuts) -> list[Remark]:
    found: list[Remark] = []
    for later, rule in enumerate(table.rules):
        for earlier in range(later):
            common = cuts.common(boxes[earlier], boxes[later])
            if common is not None:
                remark = _overlap(table, table.rules[earlier], rule, common)
                found += [remark] if remark else []
        if len(found) >= MAX_TOLD:
            break
    return found


def _overlap(table: DecisionTable, first: Rule, second: Rule, common: _Box) -> Remark | None:
    same = first.then == second.then
    policy = table.hit_policy
    if policy is HitPolicy.COLLECT or (policy in {HitPolicy.ANY, HitPolicy.PRIORITY} and same):
        return None
    case = _case(table, common)
    both = f"Rules {first.id} and {second.id} both hold, for example for {_shown(case)}"
    if policy is HitPolicy.UNIQUE or policy is HitPolicy.ANY:
        differing = "and say the same" if same else "and say different things"
        seriousness, kind = Seriousness.ERROR, "overlap" if same else "conflict"
        message = f"{both}, {differing}; with the hit policy {policy} that has no answer."
    elif policy is HitPolicy.FIRST:
        if same:
            return None
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
        where=_where(table, common),
    )


def unreachable_rules(table: DecisionTable) -> set[str]:
    """The ids of rules that never count; none, where there is too much to look through."""
    try:
        return {rule.id for rule in _never_counting(table, [_box(table, rule) for rule in table.rules], _Cuts())}
    except _TooMuchError:
        return set()


def _unreachable(table: DecisionTable, boxes: Sequence[_Box], cuts: _Cuts) -> list[Remark]:
    why = "the rules before it hold" if table.hit_policy is HitPolicy.FIRST else "more important rules hold"
    return [
        Remark(
            kind="unreachable",
            seriousness=Seriousness.WARNING,
            message=f"Rule {rule.id} never counts: {why} for all that it is for.",
            rules=(rule.id,),
        )
        for rule in _never_counting(table, boxes, cuts)
    ]


def _never_counting(table: DecisionTable, boxes: Sequence[_Box], cuts: _Cuts) -> list[Rule]:
    """Rules that others, which come first or are more important, cover together."""
    if table.hit_policy is HitPolicy.FIRST:
        order = list(range(len(table.rules)))
    elif table.hit_policy is HitPolicy.PRIORITY:
        order = sorted(range(len(table.rules)), key=lambda at: priority(table, table.rules[at]))
    else:
        return []
    found: list[Rule] = []
    for place, at in enumerate(order):
        if any(region.empty for region in boxes[at]):
            continue
        if not cuts.left([boxes[at]], [boxes[ahead] for ahead in order[:place]]):
            found.append(table.rules[at])
    return found


def _gaps(table: DecisionTable, boxes: Sequence[_Box], cuts: _Cuts) -> list[Remark]:
    if table.default is not None:
        return []
    found: list[Remark] = []
    for box in cuts.left([tuple(map(whole, table.inputs))], boxes)[:MAX_TOLD]:
        case = _case(table, box)
        message = f"No rule holds, for example, for {_shown(case)}."
        found.append(
            Remark(kind="gap", seriousness=Seriousness.WARNING, message=message, case=case, where=_where(table, box))
        )
    return found


def priority(table: DecisionTable, rule: Rule) -> tuple[int, ...]:
    """The place of a rule's outputs among those that they can be: the less, the more important."""
    return tuple(output.values.index(value) for output, value in zip(table.outputs, rule.then, strict=True))


def _case(table: DecisionTable, box: _Box) -> dict[str, Any]:
    return {column.id: plain(region.example(column.type)) for column, region in zip(table.inputs, box, strict=True)}


def _where(table: DecisionTable, box: _Box) -> dict[str, str]:
    return {column.id: str(region) for column, region in zip(table.inputs, box, strict=True)}


def _shown(case: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in case.items())
