"""The rows of decision tables as pages show them: with what is to be said of each, and what a change does to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

_OF_ROWS: Final = ("conflict", "overlap", "unreachable", "impossible")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """Something to be said of a row, and which others it is about."""

    kind: str
    seriousness: str
    others: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparedRow:
    kind: str
    """`same`, `added`, `removed`, or `changed`: then `before` is what stood there."""
    row: Mapping[str, Any]
    before: Mapping[str, Any] | None = None


def marks_of(remarks: Sequence[Mapping[str, Any]]) -> dict[str, list[Mark]]:
    """What is to be said of each row, by its id: one mark of a kind, with all the others that it is about."""
    others: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for remark in remarks:
        if remark["kind"] in _OF_ROWS:
            for rule in remark["rules"]:
                kept = others.setdefault((rule, remark["kind"]), (remark["seriousness"], []))
                kept[1].extend(each for each in remark["rules"] if each != rule)
    marks: dict[str, list[Mark]] = {}
    for (rule, kind), (seriousness, rows) in others.items():
        mark = Mark(kind=kind, seriousness=seriousness, others=tuple(dict.fromkeys(rows)))
        marks.setdefault(rule, []).append(mark)
    return marks


def gaps_of(remarks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The cases that no row is for, each as cells by the ids of the inputs."""
    return [remark["where"] for remark in remarks if remark["kind"] == "gap" and remark.get("where")]


def same_frame(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether two tables differ in nothing but their rows."""
    return all(before.get(part) == after.get(part) for part in ("hit_policy", "inputs", "outputs", "default"))


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ComparedRow]:
    """The rows of both tables in one order, with what became of each."""
    old, new = list(before["rules"]), list(after["rules"])
    ids = [row["id"] for row in old], [row["id"] for row in new]
    rows: list[ComparedRow] = []
    for tag, a, b, c, d in SequenceMatcher(None, *ids, autojunk=False).get_opcodes():
        if tag == "equal":
            for was, now in zip(old[a:b], new[c:d], strict=True):
                kind = "same" if was == now else "changed"
                rows.append(ComparedRow(kind=kind, row=now, before=was))
        else:
            rows += [ComparedRow(kind="removed", row=row) for row in old[a:b]]
            rows += [ComparedRow(kind="added", row=row) for row in new[c:d]]
    return rows
