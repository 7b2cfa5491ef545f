"""Skills of one id in several folders: the same content twice, or two that only share the id."""

import os
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from skillyard.errors import SkillyardError
from skillyard.library import audit_fixes as fixes
from skillyard.library.audit_agent import Survey
from skillyard.library.audit_model import AgentView, Issue
from skillyard.library.regular import read_regular
from skillyard.skill.library import SkillEntry
from skillyard.skill.limits import MAX_SKILL_MD_BYTES
from skillyard.skill.models import Severity


class _Copy(NamedTuple):
    """A skill and the root it was found in."""

    entry: SkillEntry
    root: Path

    @property
    def folder(self) -> str:
        return os.path.dirname(self.entry.location)  # noqa: PTH120 -- a location is a string


def duplicate_issues(survey: Survey, views: list[AgentView]) -> Iterator[Issue]:
    """Every two skills of one id that meet in an agent, and every further copy that meets none.

    A link to a skill is the same skill, not another one.
    """
    groups: dict[str, dict[str, _Copy]] = {}
    for root, catalog in survey.catalogs.items():
        for entry in catalog.entries:
            copy = _Copy(entry, root)
            groups.setdefault(entry.id, {}).setdefault(os.path.realpath(copy.folder), copy)
    for group in groups.values():
        copies = list(group.values())
        told: set[_Copy] = set()
        for first, other in combinations(copies, 2):
            meeting = [view for view in views if _meet(view, first, other)]
            if meeting or (first is copies[0] and other not in told and not _meets_any(views, other, copies)):
                told |= {first, other}
                same = _content(survey, first) == _content(survey, other)
                fix = _fix_same(first, other, views) if same else _fix_different(first, other, views)
                yield _issue(first, other, meeting, fix=fix, same=same)


def _issue(first: _Copy, other: _Copy, meeting: list[AgentView], *, fix: str, same: bool) -> Issue:
    if same:
        message = f"{other.folder} is a copy of {first.folder}, file for file."
    else:
        who = ", ".join(_what_is_used(view, first, other) for view in meeting) or "no agent here reads both"
        message = f"{first.folder} and {other.folder} are two different skills of one id; {who}."
    return Issue(
        code="duplicate" if same else "conflict",
        severity=Severity.WARNING if meeting and not same else Severity.INFO,
        message=message,
        fix=fix,
        skill=other.entry.id,
        path=other.entry.location,
        agents=tuple(view.id for view in meeting),
    )


def _fix_same(first: _Copy, other: _Copy, views: list[AgentView]) -> str:
    for copy, kept in ((other, first), (first, other)):
        seers = [view for view in views if copy.entry in view.sees]
        if seers and all(any(root.path == kept.root for root in view.roots) for view in seers):
            return fixes.remove(copy.entry.id, copy.root)
    # Each has an agent that reads no other: a link keeps both agents seeing it.
    return fixes.link_instead(other.folder, first.folder)


def _fix_different(first: _Copy, other: _Copy, views: list[AgentView]) -> str:
    for copy in (other, first):
        if not any(copy.entry in view.sees for view in views) and any(
            copy.entry == item.entry for view in views for item in view.shadowed
        ):
            return fixes.remove(copy.entry.id, copy.root)
    return fixes.compare(first.folder, other.folder)


def _meet(view: AgentView, first: _Copy, other: _Copy) -> bool:
    """Whether one of the two hides the other from the agent, or both are shown side by side."""
    pair = {first.entry.location, other.entry.location}
    return pair <= {item.location for item in view.sees} or any(
        {item.entry.location, item.by.location} == pair for item in view.shadowed
    )


def _meets_any(views: list[AgentView], one: _Copy, copies: list[_Copy]) -> bool:
    return any(_meet(view, one, other) for view in views for other in copies if other is not one)


def _what_is_used(view: AgentView, first: _Copy, other: _Copy) -> str:
    seen = {item.location for item in view.sees}
    used = [copy.folder for copy in (first, other) if copy.entry.location in seen]
    return f"{view.label} shows both" if len(used) > 1 else f"{view.label} uses {used[0]}"


def _content(survey: Survey, copy: _Copy) -> str:
    try:
        return survey.libraries[copy.root].bundle(copy.entry).digest
    except SkillyardError:
        # A folder that cannot be taken whole is compared by its SKILL.md alone.
        try:
            return sha256(read_regular(os.path.realpath(copy.entry.location), MAX_SKILL_MD_BYTES)).hexdigest()
        except SkillyardError:
            return copy.entry.location
