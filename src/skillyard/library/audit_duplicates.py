"""Skills of one id in several folders: the same content twice, or two that only share the id.

Which of them is needed cannot be seen from here: each folder is read by other agents, by other projects, or by
colleagues. So this is said, and nothing is removed.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.library.agents import Scope
from skillyard.library.audit_agent import Survey
from skillyard.library.audit_model import AgentView, Issue
from skillyard.library.regular import read_regular
from skillyard.skill.library import SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.models import Severity

_SETS_OF_THEIR_OWN: Final = frozenset({Scope.BUILTIN, Scope.ENVIRONMENT})
"""What an environment or this package holds is meant to be whole, whatever lies elsewhere."""
_COPIES: Final = (
    "Nothing is wrong, but an edit of one does not reach the others. Each may be the only one that some agent, "
    "or some other project, reads."
)
_OWN: Final = "Nothing to do: it is meant to win here, and your other projects use your personal one."
_HIDDEN: Final = "Rename one if both should be visible here; your other projects use the personal one."
_APART: Final = "Nothing to do while each agent reads its own."
_DIFFERENT: Final = "Decide which of the two each agent is to see: rename one, or make both equal."


class _Copy(NamedTuple):
    """A skill, and the real folder it is in."""

    entry: SkillEntry
    root: Path
    scope: Scope
    folder: str


class _Sight:
    """What an agent sees, to be asked about any two skills at once."""

    def __init__(self, view: AgentView, survey: Survey) -> None:
        self.id = view.id
        self.label = view.label
        self._seen = {survey.folder_of(entry) for entry in view.sees}
        self._pairs = {frozenset((survey.folder_of(item.entry), survey.folder_of(item.by))) for item in view.shadowed}

    def sees(self, copy: _Copy) -> bool:
        return copy.folder in self._seen

    def meets(self, first: _Copy, other: _Copy) -> bool:
        """Whether one of the two hides the other from the agent, or both are shown side by side."""
        if self.sees(first) and self.sees(other):
            return True
        return frozenset((first.folder, other.folder)) in self._pairs


def duplicate_issues(survey: Survey, views: list[AgentView]) -> Iterator[Issue]:
    """The copies of each skill, told once, and the different skills of one id that meet in an agent.

    A link to a skill is the same skill, not another one.
    """
    sights = [_Sight(view, survey) for view in views]
    for found in _by_id(survey):
        if len(found) > 1:
            groups: dict[str, list[_Copy]] = {}
            for copy in found:
                groups.setdefault(_content(survey, copy), []).append(copy)
            for same in groups.values():
                yield from _duplicates(same, sights)
            yield from _conflicts(list(groups.values()), sights)


def _by_id(survey: Survey) -> Iterator[list[_Copy]]:
    """The skills of each id, strongest first, each real folder once."""
    ways: dict[str, dict[str, list[tuple[SkillEntry, Path]]]] = {}
    for path, catalog in survey.catalogs.items():
        if survey.roots[path].scope not in _SETS_OF_THEIR_OWN:
            for entry in catalog.entries:
                ways.setdefault(entry.id, {}).setdefault(survey.folder_of(entry), []).append((entry, path))
    for folders in ways.values():
        copies: list[_Copy] = []
        for folder, found in folders.items():
            # The folder itself rather than a link to it.
            entry, root = min(found, key=lambda way: os.path.dirname(way[0].location) != folder)  # noqa: PTH120
            copies.append(_Copy(entry, root, survey.roots[root].scope, folder))
        yield copies


def _duplicates(same: list[_Copy], sights: list[_Sight]) -> Iterator[Issue]:
    """One note for all copies of a skill among the person's own, or in the project."""
    by_scope: dict[Scope, list[_Copy]] = {}
    for copy in same:
        by_scope.setdefault(copy.scope, []).append(copy)
    # A project often has a copy of a personal skill; that is not worth a note.
    for kept, *others in by_scope.values():
        if others:
            folders = " and ".join(copy.folder for copy in others)
            verb = "is a copy" if len(others) == 1 else "are copies"
            yield Issue(
                code="duplicate",
                severity=Severity.INFO,
                message=f"{folders} {verb} of {kept.folder}, file for file.",
                advice=_COPIES,
                skill=kept.entry.id,
                path=others[0].entry.location,
                agents=_ids(s for pair in combinations([kept, *others], 2) for s in sights if s.meets(*pair)),
            )


def _conflicts(groups: list[list[_Copy]], sights: list[_Sight]) -> Iterator[Issue]:
    """Every two different skills of one id that meet in an agent, and every further one that meets none."""
    met = {
        (one, other): _meeting(groups[one], groups[other], sights) for one, other in combinations(range(len(groups)), 2)
    }
    meeting_any = {at for pair, meeting in met.items() if meeting for at in pair}
    for (one, other), meeting in met.items():
        # One that meets no other is told once, beside the strongest.
        if meeting or (one == 0 and other not in meeting_any):
            yield _conflict(groups[one], groups[other], meeting)


def _meeting(some: list[_Copy], others: list[_Copy], sights: list[_Sight]) -> list[_Sight]:
    return [sight for sight in sights if any(sight.meets(one, other) for one in some for other in others)]


def _conflict(some: list[_Copy], others: list[_Copy], meeting: list[_Sight]) -> Issue:
    # Groups stand in the order of strength of Skillyard: the project's before the personal ones.
    first, other = some[0], others[0]
    is_project_and_personal = {copy.scope for copy in some} == {Scope.PROJECT} and other.scope is Scope.USER
    is_hidden = is_project_and_personal and any(not any(map(sight.sees, some)) for sight in meeting)
    is_meant = is_project_and_personal and not is_hidden
    who = ", ".join(_what_is_used(sight, some, others) for sight in meeting) or "no agent here reads both"
    return Issue(
        code="override" if is_meant else "conflict",
        severity=Severity.WARNING if meeting and not is_meant else Severity.INFO,
        message=f"This project's own {first.entry.id!r} wins over your personal one, {other.folder}; {who}."
        if is_meant
        else f"{first.folder} and {other.folder} are different skills with the same id; {who}.",
        see=fixes.compare(first.folder, other.folder),
        advice=_OWN if is_meant else _HIDDEN if is_hidden else _DIFFERENT if meeting else _APART,
        skill=other.entry.id,
        path=other.entry.location,
        agents=_ids(meeting),
    )


def _what_is_used(sight: _Sight, some: list[_Copy], others: list[_Copy]) -> str:
    used = [next((copy.folder for copy in copies if sight.sees(copy)), "") for copies in (some, others)]
    return f"{sight.label} shows both" if all(used) else f"{sight.label} uses {used[0] or used[1]}"


def _ids(sights: "Iterator[_Sight] | list[_Sight]") -> tuple[str, ...]:
    return tuple(dict.fromkeys(sight.id for sight in sights))


def _content(survey: Survey, copy: _Copy) -> str:
    try:
        return survey.libraries[copy.root].bundle(copy.entry).digest
    except SkillyardError:
        # A folder that cannot be taken whole is compared by its SKILL.md alone.
        try:
            return sha256(read_regular(os.path.realpath(copy.entry.location), MAX_SKILL_MD_BYTES)).hexdigest()
        except SkillyardError:
            return copy.entry.location
