"""The skills that a skill requires: `metadata.requires`, read with everything that is wrong in it.

Not to be mixed up with what some skills write under `requires` about servers, programs or variables: a mapping there
is read for its `skills` only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from skillyard.errors import InputError
from skillyard.skill.limits import MAX_NAME
from skillyard.skill.models import Finding, Profile, SkillDocument, Value
from skillyard.skill.names import hidden_characters, normal_name
from skillyard.skill.normal_form import normalized
from skillyard.skill.paths import printable
from skillyard.skill.rules import Findings
from skillyard.skill.versions import ANY, OPERATORS, Range

REQUIRES: Final = "requires"
MAX_REQUIREMENTS: Final = 100

_SKILLS: Final = "skills"
_WORD: Final = re.compile(rf"[{OPERATORS}]+\s*[^\s,{OPERATORS}]*|[^\s,{OPERATORS}]+")
_LIKE_A_RANGE: Final = re.compile(rf"[{OPERATORS}].*|\*|\d+|v?\d+\.[0-9xX*].*", re.ASCII | re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"""["'`()\[\]{}:;@#|\\*?!&$%]""")
_MAX_PARTS: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement:
    """Another skill, and which of its versions will do."""

    name: str
    """`name` or `namespace/name`, NFKC."""
    range: Range = ANY

    @property
    def key(self) -> str:
        return name_key(self.name)

    def within(self, namespace: str) -> "Requirement":
        """The requirement with a namespace: its own, or the one given where it leaves that open."""
        return self if "/" in self.name else replace(self, name=f"{namespace}/{self.name}")

    def __str__(self) -> str:
        return self.name if self.range.is_any else f"{self.name} {self.range}"


def name_key(name: str) -> str:
    """The form in which names of skills are compared: NFKC, without case."""
    return normal_name(name).casefold()


class Requirements(NamedTuple):
    """What was read: the requirements in the order written, and what is wrong with the others."""

    items: tuple[Requirement, ...]
    findings: tuple[Finding, ...]


def parse_requires(text: str) -> Requirements:
    """The requirements in one line: `other-skill >=1.2 third-skill team/fourth ^2`. Never raises."""
    return _read({f"metadata.{REQUIRES}": text})


def requirements_of(document: SkillDocument) -> Requirements:
    """What a skill requires, under `metadata` or at the top, as a line or as a list. Never raises."""
    return _read(
        {
            f"metadata.{REQUIRES}": document.metadata.get(REQUIRES, ""),
            REQUIRES: document.fields.get(REQUIRES, ""),
        }
    )


def _read(values: dict[str, Value]) -> Requirements:
    findings = Findings(Profile.LENIENT)
    found: dict[Requirement, None] = {}
    room = MAX_REQUIREMENTS
    for field, value in values.items():
        for name, ranges in _entries(value, field, findings):
            if not room:
                message = f"More than {MAX_REQUIREMENTS} skills are required; the rest is not looked at."
                findings.add("requires-many", message, field=field)
                return Requirements(tuple(found), tuple(findings.items))
            room -= 1
            requirement = _requirement(name, ranges, field, findings)
            if requirement is not None:
                found[requirement] = None
    return Requirements(tuple(found), tuple(findings.items))


def _entries(value: Value, field: str, findings: Findings) -> Iterator[tuple[str, str]]:
    """Each name and the versions written after it."""
    if isinstance(value, dict):
        value = value.get(_SKILLS, "")
    items = value if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) < len(items):
        findings.add("requires-type", f"{len(items) - len(texts)} of the required skills are not texts.", field=field)
    for text in texts:
        # Full-width signs, as some keyboards write them, are meant as the plain ones.
        yield from _entries_of_line(normalized("NFKC", text))


def _entries_of_line(line: str) -> Iterator[tuple[str, str]]:
    name, ranges = "", list[str]()
    for match in _WORD.finditer(line):
        word = match.group()
        if _LIKE_A_RANGE.fullmatch(word):
            ranges.append(word)
            continue
        if name or ranges:
            yield name, " ".join(ranges)
        name, ranges = word, []
    if name or ranges:
        yield name, " ".join(ranges)


def _requirement(name: str, ranges: str, field: str, findings: Findings) -> Requirement | None:
    problem = _name_problem(name)
    if problem:
        findings.add("requires-name", f"'{printable(name or ranges)}' {problem}.", field=field)
        return None
    try:
        range_ = Range.parse(ranges) if ranges else ANY
    except InputError as error:
        message = f"The versions of the required skill '{printable(name)}' cannot be read: {error.message}"
        findings.add("requires-range", message, field=field)
        return None
    return Requirement(name=normal_name(name), range=range_)


def _name_problem(name: str) -> str:
    """What keeps a text from naming a skill; leniently, for skills with odd names are out there too."""
    if not name:
        return "is a version without a skill before it; a skill of such a name needs its namespace"
    parts = name.split("/", _MAX_PARTS)
    if len(parts) > _MAX_PARTS or not all(parts):
        return "is neither `name` nor `namespace/name`"
    if any(len(part) > MAX_NAME for part in parts):
        return f"has a name of more than {MAX_NAME} characters"
    if hidden_characters(name) or _NOT_IN_NAMES.search(name):
        return "has characters that no skill has in its name"
    return ""
