"""What an audit tells: which skills each agent here really sees, and everything that is wrong."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from skillyard.library.roots import Root
from skillyard.skill.library import Shadowed, SkillEntry
from skillyard.skill.models import Finding, Severity


class Reason(StrEnum):
    """Why an agent does not see a skill that is on this machine."""

    OTHER_FOLDER = "other-folder"
    FILE_NAME = "file-name"
    TOO_DEEP = "too-deep"
    NAME_MISMATCH = "name-mismatch"
    DESCRIPTION_LENGTH = "description-length"
    YAML = "yaml-unquoted"
    BROKEN = "broken"
    LINK = "link"
    DISABLED = "disabled"


class Remedy(NamedTuple):
    """What can be done about something that is wrong."""

    fix: str = ""
    """A command that fixes it and takes no skill away from any agent, in this project or another."""
    see: str = ""
    """A command that changes nothing and shows more."""
    advice: str = ""
    """What it means, and what a person may choose, if a command cannot decide."""


class Unseen(NamedTuple):
    """A skill that an agent does not see, why, and the command that changes that."""

    skill: str
    path: str
    reason: Reason
    message: str
    fix: str = ""
    see: str = ""
    advice: str = ""


class DisabledSkill(NamedTuple):
    """A skill that is switched off, and by whom."""

    entry: SkillEntry
    by: str
    """`agent` when the agent's own settings hide it, `skillyard` when only Skillyard leaves it out."""
    undo: str
    """The command that turns it on again."""


class BudgetUse(NamedTuple):
    """How much of the prompt an agent's list of skills takes."""

    used: int
    limit: int
    setting: str = ""
    """The setting that the limit comes from, where the agent documents none."""

    @property
    def over(self) -> bool:
        return self.used > self.limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Issue:
    """One thing that is wrong or worth knowing, and what can be done about it."""

    code: str
    severity: Severity
    message: str
    fix: str = ""
    """As in `Remedy`; empty where a person has to choose."""
    see: str = ""
    advice: str = ""
    skill: str = ""
    path: str = ""
    agents: tuple[str, ...] = ()
    """The agents here that are affected."""
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "fix": self.fix,
            "see": self.see,
            "advice": self.advice,
            "skill": self.skill,
            "path": self.path,
            "agents": list(self.agents),
            "findings": [finding.as_dict() for finding in self.findings],
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class RootView:
    """A folder of skills on this machine."""

    root: Root
    skills: int
    problems: int

    def as_dict(self) -> dict[str, Any]:
        return {**_root(self.root), "skills": self.skills, "problems": self.problems}


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentView:
    """What one agent sees here."""

    id: str
    label: str
    roots: tuple[Root, ...]
    """The folders it reads that exist, in its own order."""
    sees: tuple[SkillEntry, ...]
    characters: int = 0
    """What the list of these skills takes of its prompt."""
    shadowed: tuple[Shadowed, ...] = ()
    disabled: tuple[DisabledSkill, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    budget: BudgetUse | None = None

    def why(self, skill: str) -> tuple[Unseen, ...]:
        """Why the agent does not see a skill; nothing when it does, or when there is no such skill here."""
        if any(entry.id.casefold() == skill.casefold() for entry in self.sees):
            return ()
        return tuple(item for item in self.unseen if item.skill.casefold() == skill.casefold())

    def as_dict(self) -> dict[str, Any]:
        budget = self.budget
        return {
            "id": self.id,
            "label": self.label,
            "roots": [_root(root) for root in self.roots],
            "skills": [entry._asdict() for entry in self.sees],
            "characters": self.characters,
            "shadowed": [{**item.entry._asdict(), "by": item.by.location} for item in self.shadowed],
            "disabled": [{**item.entry._asdict(), "by": item.by, "undo": item.undo} for item in self.disabled],
            "unseen": [item._asdict() for item in self.unseen],
            "budget": budget and {**budget._asdict(), "over": budget.over},
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    agents: tuple[AgentView, ...]
    roots: tuple[RootView, ...]
    issues: tuple[Issue, ...]
    """The serious ones first."""

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it; `docs/library.md` describes every field."""
        return {
            "agents": [view.as_dict() for view in self.agents],
            "roots": [view.as_dict() for view in self.roots],
            "issues": [issue.as_dict() for issue in self.issues],
            "summary": {
                "agents": len(self.agents),
                "skills": sum(view.skills for view in self.roots),
                "errors": self._count(Severity.ERROR),
                "warnings": self._count(Severity.WARNING),
                "notes": self._count(Severity.INFO),
            },
        }

    def _count(self, severity: Severity) -> int:
        return sum(issue.severity is severity for issue in self.issues)


def _root(root: Root) -> dict[str, Any]:
    return {
        "path": str(root.path),
        "label": root.label,
        "scope": root.scope.value,
        "agents": list(root.agents),
    }
