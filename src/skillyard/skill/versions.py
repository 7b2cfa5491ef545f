"""The versions of a skill (semantic versioning 2.0.0) and the ranges that say which of them will do (as in npm)."""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import total_ordering
from typing import Final, Literal, NamedTuple, TypeAlias

from skillyard.errors import InputError, LimitError
from skillyard.skill.paths import printable

MAX_VERSION: Final = 128
MAX_RANGE: Final = 256
OPERATORS: Final = "<>=^~"

Part: TypeAlias = Literal["major", "minor", "patch"]

_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER: Final = rf"(?:{_NUMBER}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_TAIL: Final = (
    rf"(?:-(?P<prerelease>{_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+(?P<build>[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
_VERSION: Final = re.compile(rf"(?P<major>{_NUMBER})\.(?P<minor>{_NUMBER})\.(?P<patch>{_NUMBER}){_TAIL}")
_NEARLY: Final = re.compile(r"[vV=]?[ ]?0*(\d+)(?:\.0*(\d+))?(?:\.0*(\d+))?[.-]?([^+.][^+]*)?(\+.*)?", re.ASCII)
_COMPARATOR: Final = re.compile(rf"([{OPERATORS}]*)\s*([^\s,{OPERATORS}]+)")
_PARTIAL: Final = re.compile(
    r"(0|[1-9][0-9]*)(?:\.[xX*]){0,2}"  # one number is known
    r"|(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:\.[xX*])?"  # two are
)
_LOWEST: Final = ("0",)
"""The prerelease that comes before all others."""
_ANY: Final = frozenset("*xX")
_FORMS: Final = "`>=1.2`, `^1.2`, `~1.2.3`, `=1.0.0`, `1.x` or `*`"

_COMPARE: Final[dict[str, Callable[[tuple[object, ...], tuple[object, ...]], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}


@total_ordering
@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One version. A prerelease comes before its release.

    Build metadata has no say in what a version satisfies, but two versions that differ only in it are two, and
    the order between them is that of their text.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: str = ""

    @classmethod
    def parse(cls, text: str) -> "Version":
        """The version that this text is, to the letter; the error says how to write what was meant."""
        if len(text) > MAX_VERSION:
            raise LimitError(
                f"The version '{printable(text)}' has {len(text)} characters; at most {MAX_VERSION} are allowed.",
                hint="Shorten what follows the three numbers.",
                details={"field": "version", "value": printable(text), "limit": MAX_VERSION},
            )
        match = _VERSION.fullmatch(text)
        if match is None:
            raise InputError(
                f"'{printable(text)}' is not a semantic version.",
                hint=f"Write {_nearest(text) or 'MAJOR.MINOR.PATCH, such as 1.0.0'}.",
                details={"field": "version", "value": printable(text)},
            )
        prerelease = match["prerelease"]
        return cls(
            major=int(match["major"]),
            minor=int(match["minor"]),
            patch=int(match["patch"]),
            prerelease=tuple(prerelease.split(".")) if prerelease else (),
            build=match["build"] or "",
        )

    @property
    def triple(self) -> tuple[int, int, int]:
        return self.major, self.minor, self.patch

    @property
    def is_prerelease(self) -> bool:
        return bool(self.prerelease)

    @property
    def precedence(self) -> tuple[object, ...]:
        """What semantic versioning compares: the numbers, then a release over its prereleases."""
        # Numbers come before words, and fewer identifiers before more that start alike.
        identifiers = tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in self.prerelease)
        return (*self.triple, not self.prerelease, identifiers)

    def bump(self, part: Part) -> "Version":
        """The next release after this version; that of a prerelease is the one it leads up to, where it fits."""
        major, minor, patch = self.triple
        if part == "major":
            leads_up = self.is_prerelease and minor == patch == 0
            return Version(major=major + (not leads_up), minor=0, patch=0)
        if part == "minor":
            leads_up = self.is_prerelease and patch == 0
            return Version(major=major, minor=minor + (not leads_up), patch=0)
        return Version(major=major, minor=minor, patch=patch + (not self.is_prerelease))

    def __lt__(self, other: "Version") -> bool:
        return (*self.precedence, self.build) < (*other.precedence, other.build)

    def __str__(self) -> str:
        prerelease = f"-{'.'.join(self.prerelease)}" if self.prerelease else ""
        build = f"+{self.build}" if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{prerelease}{build}"


def latest(versions: Iterable[Version]) -> Version | None:
    """The highest release; where there is none, the highest prerelease."""
    return max(versions, key=lambda version: (not version.is_prerelease, version), default=None)


class _Bound(NamedTuple):
    sign: str
    version: Version

    def holds(self, version: Version) -> bool:
        # Build metadata has no say: by the bound `=1.0.0`, 1.0.0+linux will do.
        return _COMPARE[self.sign](version.precedence, self.version.precedence)


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A set of versions: those that satisfy every one of its comparators."""

    text: str
    """The comparators as they were written, one space between them."""
    bounds: tuple[_Bound, ...]

    @classmethod
    def parse(cls, text: str) -> "Range":
        """The range of comparators joined by spaces or commas; the error says which one is wrong."""
        if len(text) > MAX_RANGE:
            raise LimitError(
                f"The version range '{printable(text)}' has {len(text)} characters; at most {MAX_RANGE} are allowed.",
                hint="Keep the comparators that matter.",
                details={"field": "range", "value": printable(text), "limit": MAX_RANGE},
            )
        comparators = _COMPARATOR.findall(text)
        rest = _COMPARATOR.sub("", text).replace(",", "").strip()
        if not comparators or rest:
            raise _refused(text, text)
        bounds = [bound for sign, version in comparators for bound in _bounds(sign, version, text)]
        return cls(text=" ".join(sign + version for sign, version in comparators), bounds=tuple(bounds))

    @property
    def is_any(self) -> bool:
        """Whether it is `*`, which a skill without versions satisfies too."""
        return not self.bounds

    def matches(self, version: Version) -> bool:
        """Whether the version will do. A prerelease does only where a comparator names one of the same numbers."""
        if version.is_prerelease and not any(
            bound.version.is_prerelease and bound.version.triple == version.triple for bound in self.bounds
        ):
            return False
        return all(bound.holds(version) for bound in self.bounds)

    def __str__(self) -> str:
        return self.text


ANY: Final = Range(text="*", bounds=())


def _bounds(sign: str, written: str, text: str) -> list[_Bound]:
    """What one comparator asks for. The bound above a range shuts out the prereleases of the version it names."""
    if written in _ANY and not sign:
        return []
    numbers = _numbers_of_partial(written)
    is_partial = bool(numbers)
    version = _release(numbers) if is_partial else _version(sign + written, written, text)
    numbers = numbers or version.triple
    match sign:
        case "^":
            fixed = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
            return [_Bound(">=", version), _Bound("<", _end_of(numbers[: fixed + 1]))]
        case "~":
            return [_Bound(">=", version), _Bound("<", _end_of(numbers[:2]))]
        case ">=":
            return [_Bound(">=", version)]
        case ">":
            return [_Bound(">=", _release(_next(numbers)))] if is_partial else [_Bound(">", version)]
        case "<":
            return [_Bound("<", replace(version, prerelease=_LOWEST) if is_partial else version)]
        case "<=":
            return [_Bound("<", _end_of(numbers))] if is_partial else [_Bound("<=", version)]
        case "" | "=" if is_partial:
            return [_Bound(">=", version), _Bound("<", _end_of(numbers))]
        case "" | "=":
            return [_Bound("=", version)]
        case _:
            raise _refused(sign + written, text)


def _numbers_of_partial(written: str) -> tuple[int, ...]:
    """The numbers of `1`, `1.2`, `1.x` or `1.2.*`; none when all three are given."""
    match = _PARTIAL.fullmatch(written)
    return tuple(int(number) for number in match.groups() if number) if match else ()


def _version(comparator: str, written: str, text: str) -> Version:
    try:
        return Version.parse(written)
    except InputError as error:
        raise _refused(comparator, text) from error


def _release(numbers: tuple[int, ...]) -> Version:
    major, minor, patch = (*numbers, 0, 0)[:3]
    return Version(major=major, minor=minor, patch=patch)


def _next(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers[:-1], numbers[-1] + 1)


def _end_of(numbers: tuple[int, ...]) -> Version:
    """The first version that no longer starts with these numbers."""
    return replace(_release(_next(numbers)), prerelease=_LOWEST)


def _refused(comparator: str, text: str) -> InputError:
    return InputError(
        f"'{printable(comparator)}' is not a version range.",
        hint=f"Write {_FORMS}; join several by spaces.",
        details={"field": "range", "value": printable(text)},
    )


def _nearest(text: str) -> str:
    """The version that was probably meant: `v1.2` is 1.2.0, `1.0b2` is 1.0.0-b2; empty when nobody can tell."""
    match = _NEARLY.fullmatch(text.strip())
    if match is None:
        return ""
    major, minor, patch, prerelease, build = match.groups()
    parts = [part.lstrip("0") or "0" if part.isdigit() else part for part in (prerelease or "").split(".")]
    tail = f"-{'.'.join(parts)}" if prerelease else ""
    nearest = f"{major}.{minor or 0}.{patch or 0}{tail}{build or ''}"
    return nearest if _VERSION.fullmatch(nearest) else ""
