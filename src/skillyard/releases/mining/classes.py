"""Units that are the same task: alike whatever the values, or but for the names of things in lists."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from skillyard.releases.mining.acts import Act, Context
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.units import Unit, ordered
from skillyard.releases.replay.labels import ENOUGH, alikeness

_SEVERAL = 3


@dataclass(kw_only=True, eq=False, slots=True)
class Kind:
    """Units that are the same."""

    id: str
    units: list[Unit]


def digest_of(forms: Sequence[str]) -> str:
    return sha256("\n".join(forms).encode("utf-8", "surrogatepass")).hexdigest()


def kinds_of(units: Sequence[Unit]) -> dict[int, str]:
    """For each unit, by its identity, what it is."""
    exact: dict[str, Kind] = {}
    for unit in units:
        own = digest_of(unit.forms)
        exact.setdefault(own, Kind(id=own, units=[])).units.append(unit)
    by_skeleton: dict[str, list[Kind]] = defaultdict(list)
    for kind in exact.values():
        skeleton = digest_of([act.skeleton() for _, act in ordered(kind.units[0].acts)])
        by_skeleton[skeleton].append(kind)
    found: dict[int, str] = {}
    for skeleton, kinds in by_skeleton.items():
        for alike in _alike(kinds):
            merged = len(alike) >= _SEVERAL or sum(len(kind.units) == 1 for kind in alike) > 1
            for kind in alike:
                found.update({id(unit): skeleton if merged else kind.id for unit in kind.units})
    return found


def _alike(kinds: Sequence[Kind]) -> list[list[Kind]]:
    """Kinds in groups, those that may be the same in one."""
    groups: list[list[Kind]] = []
    for kind in kinds:
        group = next((group for group in groups if _may_be_same(group[0].units[0], kind.units[0])), None)
        if group is None:
            groups.append([kind])
        else:
            group.append(kind)
    return groups


def _may_be_same(one: Unit, other: Unit) -> bool:
    """Whether all that differs is what things are called, and at least as much is the same."""
    if len(one.acts) != len(other.acts):
        return False
    pairs = zip(ordered(one.acts), ordered(other.acts), strict=True)
    done = [
        (first == second, act, another) for (first, act), (second, another) in pairs if act.weight or first != second
    ]
    differing = [(act, another) for same, act, another in done if not same]
    return len(differing) <= len(done) / 2 and all(_similar(act, another) for act, another in differing)


def _similar(one: Act, other: Act) -> bool:
    """Whether two acts are on things of a list, or on one whose label changed a little."""
    if not isinstance(one, BrowserAct) or not isinstance(other, BrowserAct) or one.skeleton() != other.skeleton():
        return False
    if one.verb == "open" or one.spot is None or other.spot is None:
        return False
    listed = any(slot.listed for slot in one.slots if slot.context is Context.NAME)
    return listed or alikeness(one.spot.name, other.spot.name) >= ENOUGH
