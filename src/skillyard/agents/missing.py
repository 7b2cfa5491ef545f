"""What an agent is told about a skill that it cannot have, so that it can ask for another."""

from collections.abc import Sequence
from typing import Final

from skillyard.errors import InputError, NotFoundError
from skillyard.skill.library import Problem
from skillyard.skill.paths import printable
from skillyard.skill.prompt import listed_name

_SHOWN_REASONS: Final = 3


class NoSkillError(NotFoundError):
    """There is no skill of that name. `nearest` are the ids of those most like it, `total` is how many there are."""

    def __init__(self, name: str, nearest: Sequence[str], total: int, *, where: str) -> None:
        super().__init__(
            f"There is no skill {printable(name)!r}.",
            hint=_what_there_is(nearest, total, where),
            details={"field": "skill", "value": name[:200], "nearest": list(nearest)},
        )
        self.nearest = tuple(nearest)
        self.total = total


def broken(problem: Problem) -> InputError:
    """There is a folder of that name, but no skill in it."""
    findings = problem.findings[:_SHOWN_REASONS]
    reasons = " ".join(finding.message for finding in findings)
    fixes = " ".join(dict.fromkeys(finding.fix for finding in findings if finding.fix))
    return InputError(
        f"{problem.id!r} cannot be used as a skill: {reasons}",
        hint=fixes,
        details={"path": problem.location, "findings": [finding.as_dict() for finding in problem.findings]},
    )


def _what_there_is(nearest: Sequence[str], total: int, where: str) -> str:
    if not total:
        return f"There are no skills in {where}."
    names = ", ".join(map(listed_name, nearest))
    if total == len(nearest):
        return f"There are: {names}."
    return f"Near to it: {names}. There are {total:,} in all; search_skills finds them by what they do."
