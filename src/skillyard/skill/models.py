"""The values that every part of the format speaks: findings, profiles, documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value]"
"""A frontmatter value. Scalars are always strings: `no`, `1.10` and dates stay what was written."""


class PlainScalar(str):
    """A scalar that stood unquoted and that other readers take for a number, a truth value, a date or nothing.

    Here it is the text as written; when it is written again, it stays unquoted.
    """

    __slots__ = ()


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """For sorting: the most serious first."""
        return list(Severity).index(self)


class Profile(StrEnum):
    """How a skill is judged.

    `lenient` reads the wild, `agents` is the specification with what agents document beside it, `strict` is the
    specification alone.
    """

    LENIENT = "lenient"
    AGENTS = "agents"
    STRICT = "strict"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing worth saying about a skill: where it is, what it means, how to fix it."""

    code: str
    severity: Severity
    message: str
    fix: str = ""
    field: str = ""
    file: str = ""
    line: int = 0

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "field": self.field,
            "file": self.file,
            "line": self.line,
            "message": self.message,
            "fix": self.fix,
        }


def has_errors(findings: Sequence[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillDocument:
    """A `SKILL.md`, read: typed fields, everything else it carried, and the text as written."""

    name: str
    description: str
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Value] = field(default_factory=dict[str, Value])
    allowed_tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    extra: Mapping[str, Value] = field(default_factory=dict[str, Value])
    fields: Mapping[str, Value] = field(default_factory=dict[str, Value])
    """Every top-level field in the order written, as read."""
    frontmatter: str = ""
    """The text between the fences, verbatim."""
    body: str = ""
    body_line: int = 1
    """The line of the file on which the body starts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """What parsing any bytes yields: a document where one could be read, and all findings."""

    document: SkillDocument | None
    findings: tuple[Finding, ...]

    @property
    def valid(self) -> bool:
        return self.document is not None and not has_errors(self.findings)
