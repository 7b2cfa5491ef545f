"""What comes along when skills are pulled or shipped: which versions, and all that these require."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from skillyard.db.database import Database
from skillyard.errors import InputError, LimitError, NotFoundError
from skillyard.identity.principals import Principal, Scope
from skillyard.registry.dependencies import Offer, Resolved, offers_named, resolve_visible
from skillyard.registry.naming import some_visible_names
from skillyard.registry.rights import no_skill
from skillyard.registry.shelf import Shelf
from skillyard.registry.skills import Version
from skillyard.registry.versions import LATEST
from skillyard.skill.dependencies import Resolution
from skillyard.skill.names import is_id
from skillyard.skill.requires import Requirement, name_key
from skillyard.skill.versions import ANY, Range
from skillyard.skill.versions import Version as Number

MAX_REFS: Final = 1_000
"""Skills that can be asked for at once."""


class ProblemCode(StrEnum):
    UNKNOWN_SKILL = "unknown-skill"
    UNKNOWN_VERSION = "unknown-version"
    NOT_PUBLISHED = "not-published"
    """The skill is there, but nothing of it may be shipped."""
    MISSING = "missing"
    """Something that is required is not there."""
    CONFLICT = "conflict"
    CYCLE = "cycle"
    YANKED = "yanked"


_WARNINGS: Final = frozenset({ProblemCode.CYCLE, ProblemCode.YANKED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Something that stands in the way, or that a person should know."""

    code: ProblemCode
    message: str
    skill: str

    @property
    def is_warning(self) -> bool:
        return self.code in _WARNINGS


@dataclass(frozen=True, kw_only=True, slots=True)
class ShippedSkill:
    """A skill that is shipped, and as what."""

    skill_id: str
    full_name: str
    version: str | None
    """None where the working copy is shipped, because nothing was ever published."""
    digest: str
    required_by: tuple[str, ...]
    """The full names of those that require it; empty for one that was asked for by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shipment:
    items: tuple[ShippedSkill, ...] = ()
    problems: tuple[Problem, ...] = ()
    resolution: Resolution = field(default_factory=Resolution)

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for, and everything that it requires, is there."""
        return all(problem.is_warning for problem in self.problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillRef:
    """A skill and which version of it, as people write it: `namespace/name@1.2`."""

    name: str
    """An id, a name, or a namespace and a name."""
    wanted: str = ""
    """A version, a tag or a range of versions; empty for the latest."""

    @classmethod
    def of(cls, name: str, wanted: str = "") -> "SkillRef":
        return cls(name=name, wanted="" if wanted == LATEST else wanted)

    @classmethod
    def parse(cls, text: str) -> "SkillRef":
        name, at, wanted = text.strip().partition("@")
        if not name or (at and not wanted) or name.count("/") > 1 or name.startswith("/") or name.endswith("/"):
            raise InputError(
                f"{text[:200]!r} names no skill.",
                hint="Write NAME, NAMESPACE/NAME or NAMESPACE/NAME@VERSION.",
                details={"field": "skill", "value": text[:200]},
            )
        return cls.of(name, wanted)

    def __str__(self) -> str:
        return f"{self.name}@{self.wanted}" if self.wanted else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class _Root:
    requirement: Requirement
    exact: Version | None = None
    """The one version that was asked for, by its number or a tag."""


class Shipping:
    """Works out shipments from what a principal may see."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def resolve_shipment(
        self, principal: Principal, refs: Sequence[SkillRef], *, alone: bool = False
    ) -> Shipment:
        """The versions of these skills and of all that they require; what cannot be had is among the problems.

        `alone` leaves out what they require.
        """
        principal.require_scope(Scope.READ)
        if len(refs) > MAX_REFS:
            raise LimitError(
                f"{len(refs):,} skills are asked for; at most {MAX_REFS:,} at once are allowed.",
                hint="Ask for some of them at a time.",
                details={"limit": MAX_REFS},
            )
        offers = await self.offers(principal, refs)
        problems = [_unknown(ref) for ref in refs if ref not in offers]
        roots = [_root(offers[ref], ref.wanted) for ref in refs if ref in offers]
        problems += [root for root in roots if isinstance(root, Problem)]
        asked = [root for root in roots if isinstance(root, _Root)]
        locked = {root.requirement.name: Number.parse(root.exact.version) for root in asked if root.exact}
        async with self._database.read() as session:
            required = [root.requirement for root in asked]
            resolved = await resolve_visible(session, principal, required, locked, alone=alone)
        problems += [_yanked(root) for root in asked if root.exact and root.exact.yank_reason is not None]
        return Shipment(
            items=_items(resolved), problems=(*problems, *_problems(resolved)), resolution=resolved.resolution
        )

    async def offers(self, principal: Principal, refs: Collection[SkillRef]) -> dict[SkillRef, Offer]:
        """The skills that these name, by id or by name; what is not there for the principal is left out."""
        names = {ref.name for ref in refs}
        ids = {name for name in names if is_id(name)}
        full_names = {name: name for name in names - ids if "/" in name}
        for name in names - ids - full_names.keys():
            with suppress(NotFoundError):
                full_names[name] = (await self._shelf.named(principal, name)).full_name
        async with self._database.read() as session:
            known = await some_visible_names(session, principal, ids=ids)
            full_names.update({skill.id: skill.full_name for skill in known.by_id.values()})
            keys = {name: name_key(full_name) for name, full_name in full_names.items()}
            offers = await offers_named(session, principal, keys.values())
        return {ref: offers[keys[ref.name]] for ref in refs if keys.get(ref.name, "") in offers}


def pick(offer: Offer, wanted: str) -> Version | Range:
    """What a text after the `@` means: the version with that number or tag, else the range it is.

    Raises NotFoundError where no version is meant by it.
    """
    for version in offer.versions:
        if wanted == version.version or wanted in version.tags:
            return version
    try:
        range_ = Range.parse(wanted)
    except InputError:
        range_ = None
    if range_ and any(range_.matches(Number.parse(one.version)) for one in offer.versions if one.yank_reason is None):
        return range_
    there = ", ".join(one.version for one in offer.versions[:10])
    raise NotFoundError(
        f"There is no version {wanted[:100]!r} of {offer.full_name!r}.",
        hint=f"It has: {there or 'none'}.",
        details={"skill": offer.full_name, "version": wanted[:100]},
    )


def _unknown(ref: SkillRef) -> Problem:
    return Problem(code=ProblemCode.UNKNOWN_SKILL, message=no_skill(ref.name).message, skill=ref.name)


def _root(offer: Offer, wanted: str) -> _Root | Problem:
    if not wanted:
        if offer.ships_draft or any(version.yank_reason is None for version in offer.versions):
            return _Root(requirement=Requirement(name=offer.full_name, range=ANY))
        message = f"Nothing of {offer.full_name!r} is published that may be shipped."
        return Problem(code=ProblemCode.NOT_PUBLISHED, message=message, skill=offer.full_name)
    try:
        picked = pick(offer, wanted)
    except NotFoundError as error:
        return Problem(code=ProblemCode.UNKNOWN_VERSION, message=error.message, skill=offer.full_name)
    if isinstance(picked, Range):
        return _Root(requirement=Requirement(name=offer.full_name, range=picked))
    return _Root(requirement=Requirement(name=offer.full_name, range=Range.parse(f"={picked.version}")), exact=picked)


def _items(resolved: Resolved) -> tuple[ShippedSkill, ...]:
    return tuple(
        ShippedSkill(
            skill_id=resolved.offers[name_key(locked.name)].id,
            full_name=locked.name,
            version=str(locked.version) if locked.version else None,
            digest=locked.digest,
            required_by=locked.required_by,
        )
        for locked in resolved.resolution.locked
    )


def _problems(resolved: Resolved) -> list[Problem]:
    resolution = resolved.resolution
    found = [
        Problem(
            code=ProblemCode.MISSING,
            message=f"{missing.name!r} is not there, or not for you; {' and '.join(missing.required_by)} needs it.",
            skill=missing.name,
        )
        for missing in resolution.missing
    ]
    found += [
        Problem(code=ProblemCode.CONFLICT, message=conflict.message, skill=conflict.name)
        for conflict in resolution.conflicts
    ]
    found += [
        Problem(
            code=ProblemCode.CYCLE,
            message=f"These require each other: {' → '.join((*cycle, cycle[0]))}.",
            skill=cycle[0],
        )
        for cycle in resolution.cycles
    ]
    return found


def _yanked(root: _Root) -> Problem:
    version = root.exact.version if root.exact else ""
    reason = root.exact.yank_reason if root.exact else ""
    name = root.requirement.name
    return Problem(code=ProblemCode.YANKED, message=f"{name!r} {version} was yanked: {reason}", skill=name)
