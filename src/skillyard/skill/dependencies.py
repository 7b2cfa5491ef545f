"""Which version of every required skill to take, so that all requirements hold.

Nothing is loaded here. A store fills a `Pool` with all candidates, then calls `resolve`. A skill goes by one key:
requirements that leave the namespace open are given one (`Requirement.within`) by the store.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from skillyard.errors import LimitError
from skillyard.skill.requires import Requirement, name_key
from skillyard.skill.versions import Version

MAX_STEPS: Final = 200_000
"""Versions that are held against a requirement before the whole is given up as too tangled."""
MAX_NAMES: Final = 2_000
"""Skills that may be looked at for one resolution."""
MAX_CYCLES: Final = 100

_SHOWN: Final = 10
_NO_LOCK: Final[Mapping[str, Version | None]] = MappingProxyType({})
_NOTHING: Final = object()
"""What equals no version, not even the lack of one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One version of a skill that could be taken."""

    name: str
    """The skill's own, as it is shown."""
    version: Version | None
    """None for a skill without versions, which satisfies `*` only."""
    digest: str
    requires: tuple[Requirement, ...] = ()
    yanked: bool = False


Lookup: TypeAlias = Callable[[str], Sequence[Candidate]]
"""The candidates of a skill by its key (the name in the form names are compared in); none if it is not there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Locked:
    """A skill that is needed, and the version that all who need it agree on."""

    name: str
    version: Version | None
    digest: str
    required_by: tuple[str, ...]
    """The skills that ask for it; the roots of the resolution are no skills."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A skill that is required and not there."""

    name: str
    required_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """A skill of which no version satisfies all who require it."""

    name: str
    required: tuple[tuple[str, str], ...]
    """Who asks for it (empty for a root) and for which versions."""
    available: tuple[Version | None, ...]
    """Its versions that are not yanked, the newest first."""

    @property
    def message(self) -> str:
        asked = " and ".join(f"{range_} by {_quoted(by)}" for by, range_ in self.required[:_SHOWN])
        there = ", ".join(str(version or "one without a version") for version in self.available[:_SHOWN])
        return f"'{self.name}' is required as {asked}; there is {there or 'no version that may be taken'}."


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """What to take, by name, and what stands in the way. With a conflict nothing is locked."""

    locked: tuple[Locked, ...] = ()
    missing: tuple[Missing, ...] = ()
    cycles: tuple[tuple[str, ...], ...] = ()
    """Skills that require each other in a circle, each starting with its first name. They can be taken all the same."""
    conflicts: tuple[Conflict, ...] = ()

    @property
    def complete(self) -> bool:
        return not self.missing and not self.conflicts


class Pool:
    """The candidates that a resolution may need, loaded a level at a time.

    While `wanted` holds keys, look them up in the store and `add` what is there; then resolve with `candidates`.
    """

    def __init__(self, roots: Iterable[Requirement]) -> None:
        self.wanted: frozenset[str] = frozenset(requirement.key for requirement in roots)
        self._known: dict[str, Sequence[Candidate]] = {}

    def add(self, found: Mapping[str, Sequence[Candidate]]) -> None:
        """Takes in what is there of the wanted skills and wants what these require."""
        level = {key: found.get(key, ()) for key in self.wanted}
        self._known.update(level)
        if len(self._known) > MAX_NAMES:
            raise LimitError(
                f"More than {MAX_NAMES:,} skills may be required.",
                hint="Require fewer skills.",
                details={"field": "requires", "limit": MAX_NAMES},
            )
        required = {
            item.key for candidates in level.values() for candidate in candidates for item in candidate.requires
        }
        self.wanted = frozenset(required.difference(self._known))

    def candidates(self, key: str) -> Sequence[Candidate]:
        return self._known.get(key, ())


def resolve(
    roots: Sequence[Requirement], lookup: Lookup, *, locked: Mapping[str, Version | None] = _NO_LOCK
) -> Resolution:
    """The newest versions that satisfy every requirement, roots first; the same for the same candidates.

    Of a skill with prereleases only, `*` takes the newest. A yanked version is never taken unless `locked` (names and
    versions of an earlier resolution) holds it; what that holds is kept while it satisfies. Missing skills are
    reported and never avoided by taking something older. To see circles through a skill, make it a root.
    """
    return _Search(lookup, {name_key(name): version for name, version in locked.items()}).run(roots)


class _Demand(NamedTuple):
    requirement: Requirement
    by: str
    """The key of the skill that asks; empty for a root."""


@dataclass(kw_only=True, slots=True)
class _Choice:
    """A skill whose version was chosen, and how to go back to before that."""

    key: str
    left: Iterator[Candidate]
    position: int
    demands: int
    blamed: set[str]
    """The choices before this one that had a part in leaving nothing to choose."""


class _Search:
    """Backtracking that goes back to a choice which had a part in the failure, past those that had none."""

    def __init__(self, lookup: Lookup, pinned: Mapping[str, Version | None]) -> None:
        self._lookup = lookup
        self._pinned = pinned
        self._loaded: dict[str, _Skill | None] = {}
        self._demands: list[_Demand] = []
        self._demands_on: dict[str, list[_Demand]] = {}
        self._position = 0
        self._choices: list[_Choice] = []
        self._chosen: dict[str, Candidate] = {}
        self._steps = 0

    def run(self, roots: Sequence[Requirement]) -> Resolution:
        failure: Resolution | None = None
        self._ask(roots, "")
        while self._position < len(self._demands):
            demand = self._demands[self._position]
            self._position += 1
            blamed = self._meet(demand)
            if not blamed:
                continue
            # What the newest versions run into is what a person wants to read.
            failure = failure or Resolution(missing=self._missing(), conflicts=(self._conflict(demand),))
            if not self._go_back(blamed):
                return failure
        return Resolution(locked=self._locked(), missing=self._missing(), cycles=self._cycles())

    def _meet(self, demand: _Demand) -> set[str]:
        """Meets a demand by a version already chosen or chosen now; else says whose choices are to blame."""
        key = demand.requirement.key
        skill = self._skill(key)
        if skill is None:
            return set()
        chosen = self._chosen.get(key)
        if chosen is not None:
            return set() if self._fits(demand, chosen, skill) else {key, demand.by}
        demands = tuple(self._demands_on[key])
        choice = _Choice(
            key=key,
            left=(item for item in skill.candidates if all(self._fits(each, item, skill) for each in demands)),
            position=self._position,
            demands=len(self._demands),
            blamed={each.by for each in demands},
        )
        return set() if self._take_next(choice) else choice.blamed

    def _take_next(self, choice: _Choice) -> bool:
        candidate = next(choice.left, None)
        if candidate is None:
            return False
        self._choices.append(choice)
        self._chosen[choice.key] = candidate
        self._ask(candidate.requires, choice.key)
        return True

    def _go_back(self, blamed: set[str]) -> bool:
        while self._choices:
            choice = self._choices.pop()
            del self._chosen[choice.key]
            self._take_back_demands(choice.demands)
            self._position = choice.position
            if choice.key not in blamed:
                continue
            choice.blamed |= blamed - {choice.key}
            if self._take_next(choice):
                return True
            blamed = choice.blamed
        return False

    def _ask(self, requirements: Iterable[Requirement], by: str) -> None:
        for requirement in requirements:
            demand = _Demand(requirement, by)
            self._demands.append(demand)
            self._demands_on.setdefault(requirement.key, []).append(demand)

    def _take_back_demands(self, kept: int) -> None:
        while len(self._demands) > kept:
            self._demands_on[self._demands.pop().requirement.key].pop()

    def _skill(self, key: str) -> "_Skill | None":
        if key not in self._loaded:
            self._loaded[key] = _Skill.of(self._lookup(key), self._pinned.get(key, _NOTHING))
        return self._loaded[key]

    def _fits(self, demand: _Demand, candidate: Candidate, skill: "_Skill") -> bool:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise LimitError(
                f"The requirements are too tangled: {MAX_STEPS:,} steps were not enough to find versions that agree.",
                hint="Require fewer versions, such as ^2 in place of *.",
                details={"field": "requires", "limit": MAX_STEPS},
            )
        range_ = demand.requirement.range
        if range_.is_any:
            return skill.has_no_release or candidate.version is None or not candidate.version.is_prerelease
        return candidate.version is not None and range_.matches(candidate.version)

    def _conflict(self, demand: _Demand) -> Conflict:
        key = demand.requirement.key
        skill = self._skill(key)
        return Conflict(
            name=demand.requirement.name,
            required=tuple((self._name(each.by), str(each.requirement.range)) for each in self._demands_on[key]),
            available=tuple(item.version for item in skill.candidates) if skill else (),
        )

    def _locked(self) -> tuple[Locked, ...]:
        return tuple(
            Locked(
                name=candidate.name,
                version=candidate.version,
                digest=candidate.digest,
                required_by=self._askers(key),
            )
            for key, candidate in sorted(self._chosen.items())
        )

    def _missing(self) -> tuple[Missing, ...]:
        gone = sorted(key for key, skill in self._loaded.items() if skill is None and self._demands_on[key])
        return tuple(
            Missing(name=self._demands_on[key][0].requirement.name, required_by=self._askers(key)) for key in gone
        )

    def _askers(self, key: str) -> tuple[str, ...]:
        return tuple(sorted({self._name(demand.by) for demand in self._demands_on[key] if demand.by}))

    def _name(self, key: str) -> str:
        return self._chosen[key].name if key else ""

    def _cycles(self) -> tuple[tuple[str, ...], ...]:
        graph = {
            key: sorted({required.key for required in candidate.requires} & self._chosen.keys())
            for key, candidate in sorted(self._chosen.items())
        }
        return tuple(tuple(map(self._name, cycle)) for cycle in islice(_cycles_of(graph), MAX_CYCLES))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Skill:
    """The versions of a skill that may be taken, the best first."""

    candidates: tuple[Candidate, ...]
    has_no_release: bool

    @classmethod
    def of(cls, candidates: Sequence[Candidate], pinned: object) -> "_Skill | None":
        if not candidates:
            return None
        usable = [item for item in candidates if not item.yanked or item.version == pinned]
        newest_first = sorted(usable, key=_age, reverse=True)
        return cls(
            candidates=tuple(sorted(newest_first, key=lambda item: item.version != pinned)),
            has_no_release=all(item.version is None or item.version.is_prerelease for item in usable),
        )


def _age(candidate: Candidate) -> tuple[object, ...]:
    version = candidate.version
    return (False,) if version is None else (True, version, candidate.digest)


def _cycles_of(graph: dict[str, list[str]]) -> Iterator[list[str]]:
    """Circles in a graph that has each of them broken up as it is found, until there are none."""
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            closed: list[str] = error.args[1]
            # It goes from what is required to who requires it, and ends where it starts.
            circle = closed[:0:-1]
            start = circle.index(min(circle))
            circle = circle[start:] + circle[:start]
            graph[circle[-1]].remove(circle[0])
            yield circle
        else:
            return


def _quoted(by: str) -> str:
    return f"'{by}'" if by else "you"
