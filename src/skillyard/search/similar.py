"""Skills that say the same: copies, variants, siblings of one template, and different ones of one name.

No model is asked and nothing is left to chance: the same skills in the same order give the same answer. What two skills
tell an agent to do is compared by the phrases their texts share. Of many, only those are compared that agree in some
part of their samples, so that a hundred thousand take little more than the time to read them.

Skills that someone made from one template share nearly all their text and are still different: the words of their own
names are in their texts, each in one only. Such skills are told apart from variants of one skill.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final, NamedTuple, Protocol

from skillyard.skill.requires import name_key
from skillyard.skill.signature import BAND, Signature, signature, similarity, words_of

NEAR: Final = 0.7
"""From this similarity on, two texts are one text with edits."""
LOWEST: Final = 0.5
"""Below this, texts that share so little are not reliably found among many."""
_SHORT: Final = 200
"""A body of fewer characters says too little by itself; the description is read with it."""
_CROWD: Final = 16
"""With so many of those that are together, or may be, each one that comes is compared."""
_FAMILY: Final = 64
"""In a family of more names than this, only skills of one name or one text are looked at pair by pair."""


class Kind(StrEnum):
    """What two skills are to each other."""

    EXACT = "exact"
    """The same files; perhaps under another name."""
    NEAR = "near"
    """One skill with edits."""
    SAME_NAME = "same-name"
    """One name for skills that say different things."""
    TEMPLATE = "template"
    """Different skills, written from one template."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sketch:
    """What is kept of a skill to compare it with others."""

    key: str
    name: str
    description: bytes
    fields: bytes
    """The rest of its frontmatter."""
    body: str
    """Equal for bodies that differ in line ends and trailing space at most."""
    text: Signature


def sketch_of(key: str, *, name: str, description: str, fields: Mapping[str, Any], body: str) -> Sketch:
    """The sketch of a skill; `fields` is its frontmatter without name and description."""
    said = signature(body)
    return Sketch(
        key=key,
        name=name,
        description=_digest(" ".join(description.split())),
        fields=_digest(json.dumps(fields, sort_keys=True, default=str)),
        body=said.key,
        text=said if len(body) >= _SHORT else signature(f"{description}\n{body}"),
    )


class Closer(Protocol):
    """A closer look, which is taken at few skills only."""

    def body(self, key: str) -> str: ...

    def files(self, key: str) -> str:
        """Equal for skills that have the same files beside `SKILL.md`."""
        ...


class Likeness(NamedTuple):
    """What a skill is to another one."""

    key: str
    kind: Kind
    similarity: float
    """Of what the two tell an agent to do; 1.0 when it is the same."""
    differs: tuple[str, ...]
    """Where they differ: `name`, `description`, `fields`, `body`, `files`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Skills that belong together, in the order in which they were given."""

    kind: Kind
    first: str
    others: tuple[Likeness, ...]
    """Each compared with the first."""


def like(one: Sketch, others: Iterable[Sketch], closer: Closer, *, threshold: float = NEAR) -> list[Likeness]:
    """Those of the others that are like one skill, the most alike first."""
    compare = _Comparison(closer, threshold)
    found = [likeness for other in others if other.key != one.key and (likeness := compare(one, other))]
    kinds = list(Kind)
    return sorted(found, key=lambda each: (kinds.index(each.kind), -each.similarity, each.key))


def groups(sketches: Sequence[Sketch], closer: Closer, *, threshold: float = NEAR) -> list[Group]:
    """The groups among many skills, the kinds in their order, the largest first.

    A group of one name or of one template names one skill of each group of variants: those are told by themselves.
    """
    compare = _Comparison(closer, threshold)
    circles: list[list[Sketch]] = []
    found: list[Group] = []
    for family in _families(sketches, threshold):
        parts = _circles(family, compare)
        found += [_circle_group(part, compare) for part in parts if len(part) > 1]
        if len(parts) > 1:
            found.append(_group(Kind.TEMPLATE, [part[0] for part in parts], compare))
        circles += parts
    namesakes: dict[str, list[Sketch]] = {}
    for circle in circles:
        for key in dict.fromkeys(name_key(sketch.name) for sketch in circle):
            namesakes.setdefault(key, []).append(next(each for each in circle if name_key(each.name) == key))
    order = {sketch.key: place for place, sketch in enumerate(sketches)}
    for same in namesakes.values():
        if len(same) > 1:
            same.sort(key=lambda sketch: order[sketch.key])
            found.append(_group(Kind.SAME_NAME, same, compare))
    kinds = list(Kind)
    return sorted(found, key=lambda group: (kinds.index(group.kind), -len(group.others), order[group.first]))


class _Comparison:
    """Compares two skills, and remembers what it had to look up for that."""

    def __init__(self, closer: Closer, threshold: float) -> None:
        self._closer = closer
        self._threshold = threshold
        self._words: dict[str, set[str]] = {}

    def __call__(self, one: Sketch, other: Sketch) -> Likeness | None:
        """What the other is to the one; None when it is nothing to it."""
        alike = similarity(one.text, other.text)
        differs = _differences(one, other)
        if not {"description", "fields", "body"} & set(differs):
            if self._closer.files(one.key) == self._closer.files(other.key):
                return Likeness(other.key, Kind.EXACT, 1.0, differs)
            return Likeness(other.key, Kind.NEAR, 1.0, (*differs, "files"))
        if alike >= self._threshold:
            kind = Kind.TEMPLATE if self._has_another_subject(one, other) else Kind.NEAR
            return Likeness(other.key, kind, alike, differs)
        if "name" not in differs:
            return Likeness(other.key, Kind.SAME_NAME, alike, differs)
        return None

    def are_one(self, one: Sketch, other: Sketch) -> bool:
        """Whether one is a copy or a variant of the other."""
        likeness = self(one, other)
        return likeness is not None and likeness.kind in {Kind.EXACT, Kind.NEAR}

    def _has_another_subject(self, one: Sketch, other: Sketch) -> bool:
        """Whether each name says something that the other does not, and the texts bear that out."""
        if one.description == other.description or one.body == other.body:
            return False
        names, others = words_of(one.name), words_of(other.name)
        own, foreign = names - others, others - names
        if not own or not foreign:
            return False
        text, other_text = self._body(one), self._body(other)
        return bool(own & (text - other_text) or foreign & (other_text - text))

    def _body(self, sketch: Sketch) -> set[str]:
        if sketch.key not in self._words:
            if len(self._words) >= _FAMILY * 2:
                self._words.pop(next(iter(self._words)))
            self._words[sketch.key] = words_of(self._closer.body(sketch.key))
        return self._words[sketch.key]


def _differences(one: Sketch, other: Sketch) -> tuple[str, ...]:
    parts = {
        "name": name_key(one.name) == name_key(other.name),
        "description": one.description == other.description,
        "fields": one.fields == other.fields,
        "body": one.body == other.body,
    }
    return tuple(part for part, same in parts.items() if not same)


def _families(sketches: Sequence[Sketch], threshold: float) -> list[list[Sketch]]:
    """All skills, those together whose texts are linked by likeness."""
    first: dict[str, int] = {}
    sets = _Sets(len(sketches))
    for place, sketch in enumerate(sketches):
        sets.join(first.setdefault(sketch.text.key, place), place)
    distinct = [place for place in first.values() if sketches[place].text.sample]
    for start in range(0, len(sketches[distinct[0]].text.sample) if distinct else 0, BAND):
        # One band at a time: all at once would take gigabytes.
        crowds: dict[bytes, list[int]] = {}
        for place in distinct:
            text = sketches[place].text
            _meet(place, crowds.setdefault(text.sample[start : start + BAND], []), sketches, sets, threshold)
    return [[sketches[place] for place in members] for members in sets.members()]


def _meet(place: int, crowd: list[int], sketches: Sequence[Sketch], sets: "_Sets", threshold: float) -> None:
    for other in crowd:
        if sets.are_joined(other, place):
            return
        if similarity(sketches[other].text, sketches[place].text) >= threshold:
            sets.join(other, place)
            return
    if len(crowd) < _CROWD:
        crowd.append(place)


def _circles(family: list[Sketch], compare: _Comparison) -> list[list[Sketch]]:
    """A family parted into the skills that are one and the same, each with its copies and variants."""
    circles: list[list[Sketch]] = []
    by_name: dict[str, list[list[Sketch]]] = {}
    by_text: dict[str, list[Sketch]] = {}
    small = len({name_key(sketch.name) for sketch in family}) <= _FAMILY
    for sketch in family:
        same_text = by_text.get(sketch.text.key)
        likely = [*([same_text] if same_text else []), *by_name.get(name_key(sketch.name), [])]
        for circle in circles if small and not same_text else likely:
            if any(compare.are_one(known, sketch) for known in circle[:_CROWD]):
                circle.append(sketch)
                break
        else:
            circle = [sketch]
            circles.append(circle)
        by_text.setdefault(sketch.text.key, circle)
        known = by_name.setdefault(name_key(sketch.name), [])
        if not any(circle is each for each in known):
            known.append(circle)
    return circles


def _group(kind: Kind, members: Sequence[Sketch], compare: _Comparison) -> Group:
    first, *others = members
    likenesses = (
        # Those in a chain need not be like the first.
        compare(first, other)
        or Likeness(other.key, kind, similarity(first.text, other.text), _differences(first, other))
        for other in others
    )
    return Group(kind=kind, first=first.key, others=tuple(likenesses))


def _circle_group(circle: Sequence[Sketch], compare: _Comparison) -> Group:
    group = _group(Kind.NEAR, circle, compare)
    return replace(group, kind=Kind.EXACT) if all(other.kind is Kind.EXACT for other in group.others) else group


class _Sets:
    """Disjoint sets of places, each found by its smallest."""

    def __init__(self, size: int) -> None:
        self._above = list(range(size))

    def join(self, one: int, other: int) -> None:
        smaller, larger = sorted((self._top(one), self._top(other)))
        self._above[larger] = smaller

    def are_joined(self, one: int, other: int) -> bool:
        return self._top(one) == self._top(other)

    def members(self) -> list[list[int]]:
        """The sets in the order of their smallest places."""
        found: dict[int, list[int]] = {}
        for place in range(len(self._above)):
            found.setdefault(self._top(place), []).append(place)
        return list(found.values())

    def _top(self, place: int) -> int:
        above = self._above
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
