"""Detours: going somewhere and back with nothing sent, giving up a form, or clicking what only was in the way."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from skillyard.releases.mining.acts import Act
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.classes import digest_of
from skillyard.releases.mining.units import Unit, ordered

_GIVING_UP: Final = re.compile(
    r"\b(?:cancel|back|discard|abort|abbrechen|zurück|annuler|retour|cancelar|annulla)\b|취소|取消|キャンセル",
    re.IGNORECASE,
)
_LONGEST: Final = 50
"""Acts of a detour."""


def leave_out_detours(units: Sequence[Unit]) -> None:
    """Have tasks be without detours that were done without them another time: only then it is sure that it was one."""
    digests = [digest_of(unit.forms) for unit in units]
    times = Counter(digests)
    for unit, digest in zip(units, digests, strict=True):
        if not unit.is_browser or times[digest] > 1:
            continue
        for direct in (_direct(unit.acts), _needed(unit.acts), _needed(_direct(unit.acts))):
            if len(direct) < len(unit.acts) and digest_of([form for form, _ in ordered(direct)]) in times:
                unit.acts = direct
                break


def _direct(acts: Sequence[Act]) -> list[Act]:
    """Acts without those between leaving a page and being there again."""
    kept: list[Act] = []
    for act in acts:
        left = _left_at(kept, act)
        if left is None:
            kept.append(act)
        else:
            del kept[left:]
    return kept


def _needed(acts: Sequence[Act]) -> list[Act]:
    """Acts without clicks that sent nothing and led nowhere, such as on a notice that is shown once."""
    kept: list[Act] = []
    for act in acts:
        is_after_entry = bool(kept) and kept[-1].is_entry
        stays = isinstance(act, BrowserAct) and act.verb == "click" and bool(act.before) and act.before == act.after
        if is_after_entry or act.is_entry or not stays:
            kept.append(act)
    return kept


def _left_at(acts: Sequence[Act], back: Act) -> int | None:
    """Which act left the page that another one leads back to, if nothing was sent since."""
    if not isinstance(back, BrowserAct) or not back.after or not (_follows_link(back) or _gives_up(back)):
        return None
    for index in range(len(acts) - 1, max(len(acts) - _LONGEST, 0) - 1, -1):
        act = acts[index]
        if not isinstance(act, BrowserAct) or not (act.is_entry or _follows_link(act)):
            return None
        if not act.is_entry and act.before == back.after != act.after:
            return index
    return None


def _follows_link(act: BrowserAct) -> bool:
    return act.verb == "click" and act.spot is not None and (act.spot.role == "link" or act.spot.tag == "a")


def _gives_up(act: BrowserAct) -> bool:
    return act.verb == "click" and act.spot is not None and _GIVING_UP.search(act.spot.name) is not None
