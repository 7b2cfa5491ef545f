"""Tasks that are the same but for what things are called: labels that changed a little, and things of lists."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

from skillyard.releases.mining.acts import Context
from skillyard.releases.mining.addresses import common_glob, path_glob
from skillyard.releases.mining.browser_acts import BrowserAct
from skillyard.releases.mining.expressions import words_around
from skillyard.releases.mining.form_parts import may_be_left_out
from skillyard.releases.mining.labels import label_key
from skillyard.releases.mining.snapshots import named_in
from skillyard.releases.mining.units import Unit, kind_of_thing, ordered
from skillyard.releases.replay.labels import ENOUGH, alikeness

_SEVERAL: Final = 3


def digest_of(forms: Sequence[str]) -> str:
    return sha256("\n".join(forms).encode("utf-8", "surrogatepass")).hexdigest()


class _How(Enum):
    """In what way two acts are the same."""

    SAME = auto()
    RENAMED = auto()
    """On an element whose label changed a little."""
    THING = auto()
    """On things of one list, each of which leads to a page of one kind."""
    LISTED = auto()
    """On things that may be of one list; that they are is told by how often each was chosen."""


_Done: TypeAlias = tuple[str, BrowserAct]
"""An act with its form."""


class _Pair(NamedTuple):
    how: _How
    first: _Done
    other: _Done


@dataclass(kw_only=True, slots=True)
class _Part:
    """What was entered on a page, and what was done then."""

    entries: list[_Done] = field(default_factory=list[_Done])
    end: _Done | None = None
    shown: set[str] = field(default_factory=set[str])
    """The names of what the page had, as far as it was looked at."""


_Pages: TypeAlias = tuple[set[str], set[str]]
"""The names of what was on the page at the one time, and at the other."""
_Told: TypeAlias = list[_Part]
"""A task as it was done once."""


def use_one_name(units: Sequence[Unit]) -> None:
    """Have tasks that are the same but for the names of things have the same form for each of these."""
    families: dict[tuple[str, ...], list[_Told]] = defaultdict(list)
    for unit in units:
        if unit.is_browser:
            told = list(_parts(unit))
            families[tuple(part.end[1].skeleton() if part.end else "" for part in told)].append(told)
    for family in families.values():
        for group in _alike(family):
            _name(group)


def _parts(unit: Unit) -> Iterator[_Part]:
    forms = {id(act): form for form, act in ordered(unit.acts)}
    part = _Part()
    for act in unit.acts:
        if not isinstance(act, BrowserAct):
            continue
        seen = {name for look in act.looks for _, name in named_in(look.output)}
        done = (forms[id(act)], act)
        if act.is_entry:
            part.entries.append(done)
            part.shown |= seen
        else:
            part.end = done
            yield part
            part = _Part(shown=seen)
    yield part


def _alike(family: Sequence[_Told]) -> list[list[_Told]]:
    """Those that may be the same as the first of their group."""
    groups: list[list[_Told]] = []
    for told in family:
        group = next((group for group in groups if _pairs(group[0], told) is not None), None)
        if group is None:
            groups.append([told])
        else:
            group.append(told)
    return groups


def _name(group: Sequence[_Told]) -> None:
    """Give what is the same in a group the same form; what was not chosen from one list splits it."""
    pairs = [pair for told in group[1:] for pair in _pairs(group[0], told) or ()]
    doubtful = {id(pair.first[1]) for pair in pairs if pair.how is _How.LISTED}
    places = [index for index, part in enumerate(group[0]) if part.end and id(part.end[1]) in doubtful]
    chosen = [tuple(end[0] if (end := told[index].end) else "" for index in places) for told in group]
    times = Counter(chosen)
    if 1 < len(times) < _SEVERAL and list(times.values()).count(1) < len(times):
        for names in times:
            _name([told for told, own in zip(group, chosen, strict=True) if own == names])
        return
    for pair in pairs:
        if pair.how is _How.RENAMED:
            pair.other[1].same_as = pair.first[0]
    things = {id(pair.first[1]) for pair in pairs if pair.how in {_How.THING, _How.LISTED}}
    for index, part in enumerate(group[0]):
        if part.end and id(part.end[1]) in things:
            for end in (told[index].end for told in group):
                if end is not None:
                    end[1].same_as = f"~{end[1].skeleton()}"
                    end[1].slots = tuple(
                        replace(slot, listed=True) if slot.context is Context.NAME else slot for slot in end[1].slots
                    )


def _pairs(one: _Told, other: _Told) -> list[_Pair] | None:
    """What of two tasks is the same; None if more differs than names and options, or more than is the same."""
    found: list[_Pair] = []
    for first, second in zip(one, other, strict=True):
        entries = _paired_entries(first, second)
        if entries is None:
            return None
        found += entries
        if first.end is not None and second.end is not None:
            how = _how(first.end, second.end, (first.shown, second.shown))
            if how is None:
                return None
            found.append(_Pair(how, first.end, second.end))
    named = [pair for pair in found if pair.how is not _How.SAME]
    weighty = [pair for pair in found if pair.first[1].weight or pair.how is not _How.SAME]
    return found if len(named) <= len(weighty) / 2 else None


def _paired_entries(first: _Part, second: _Part) -> list[_Pair] | None:
    """The fields of two forms side by side; None if fields are left that a form cannot do without."""
    left, right = list(first.entries), list(second.entries)
    found: list[_Pair] = []
    for done in first.entries:
        same = next((each for each in right if each[0] == done[0]), None)
        if same is not None:
            found.append(_Pair(_How.SAME, done, same))
            left.remove(done)
            right.remove(same)
    pages = (first.shown, second.shown)
    for done in list(left):
        renamed = [each for each in right if _how(done, each, pages) is _How.RENAMED]
        if len(renamed) == 1 and sum(_how(each, renamed[0], pages) is _How.RENAMED for each in left) == 1:
            found.append(_Pair(_How.RENAMED, done, renamed[0]))
            left.remove(done)
            right.remove(renamed[0])
    options = [*left, *right]
    return found if all(may_be_left_out(act) for _, act in options) and len(options) <= len(found) else None


def _how(one: _Done, other: _Done, pages: _Pages) -> _How | None:
    """In what way two acts are the same."""
    if one[0] == other[0]:
        return _How.SAME
    first, second = one[1], other[1]
    if first.skeleton() != second.skeleton() or first.verb == "open" or first.spot is None or second.spot is None:
        return None
    names = (first.spot.name, second.spot.name)
    is_one_place = not first.is_entry or label_key(first.spot.within) == label_key(second.spot.within)
    are_two = any(set(names) <= page for page in pages)
    if is_one_place and not are_two and alikeness(*names) >= ENOUGH:
        return _How.RENAMED
    if first.is_entry or not (any(slot.listed for slot in first.slots) or _are_of_one_list(names, pages)):
        return None
    return _How.THING if _lead_to_one_kind(first, second) else _How.LISTED


def _are_of_one_list(names: tuple[str, str], pages: _Pages) -> bool:
    """Whether names are of the same words but for those that say which, and a page had several of these."""
    frame = words_around(names)
    if frame is None:
        return False
    before, _, after = frame
    return any(sum(name.startswith(before) and name.endswith(after) for name in page) > 1 for page in pages)


def _lead_to_one_kind(first: BrowserAct, second: BrowserAct) -> bool:
    """Whether two things of a list have pages of one kind: `Reserve B12` leads to `/book/B12`, as others do."""
    kind = kind_of_thing(first)
    if kind and kind == kind_of_thing(second):
        return True
    if first.after == first.before or second.after == second.before or first.spot is None or second.spot is None:
        return False
    is_one_kind = bool(common_glob([path_glob(first.after), path_glob(second.after)]))
    return is_one_kind and words_around((first.spot.name, second.spot.name)) is not None
