"""What differs between two releases: their steps and their variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from skillyard.releases.payload_json import variable_document
from skillyard.releases.payload_steps import step_document
from skillyard.releases.payloads import Payload


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One line of a diff."""

    change: str
    """`same`, `added`, `removed` or `changed`."""
    old: Any
    new: Any
    name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PayloadDiff:
    steps: tuple[Difference, ...]
    variables: tuple[Difference, ...]

    @property
    def changed(self) -> bool:
        return any(each.change != "same" for each in (*self.steps, *self.variables))


def diff_payloads(old: Payload | None, new: Payload | None) -> PayloadDiff:
    """From one payload to another; what has none has no steps that could be told."""
    before, after = _steps(old), _steps(new)
    return PayloadDiff(steps=tuple(_step_diff(before, after)), variables=tuple(_variable_diff(old, new)))


def _step_diff(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[Difference]:
    matcher = SequenceMatcher(a=[repr(step) for step in old], b=[repr(step) for step in new], autojunk=False)
    found: list[Difference] = []
    for _, start, end, other, stop in matcher.get_opcodes():
        for index in range(max(end - start, stop - other)):
            before = old[start + index] if start + index < end else None
            after = new[other + index] if other + index < stop else None
            found.append(Difference(change=_change(before, after), old=before, new=after))
    return found


def _variable_diff(old: Payload | None, new: Payload | None) -> list[Difference]:
    before = {name: variable_document(each) for name, each in old.variables.items()} if old else {}
    after = {name: variable_document(each) for name, each in new.variables.items()} if new else {}
    return [
        Difference(
            name=name, change=_change(before.get(name), after.get(name)), old=before.get(name), new=after.get(name)
        )
        for name in dict.fromkeys([*before, *after])
    ]


def _steps(payload: Payload | None) -> list[Mapping[str, Any]]:
    return [step_document(step) for step in payload.steps] if payload else []


def _change(old: object, new: object) -> str:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    return "same" if old == new else "changed"
