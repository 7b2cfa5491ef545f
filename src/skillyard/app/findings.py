"""Findings with the file they are about, which only the one who read it knows."""

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from skillyard.skill.library import Problem
from skillyard.skill.limits import SKILL_FILE_NAMES
from skillyard.skill.models import Finding


def about(file: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings; those that name no file are about this one."""
    return tuple(finding if finding.file else replace(finding, file=file) for finding in findings)


def findings_of(problem: Problem) -> tuple[Finding, ...]:
    """What is wrong with a skill that cannot be used."""
    name = os.path.basename(problem.location)  # noqa: PTH119 -- a location is a text
    return about(name if name in SKILL_FILE_NAMES else "", problem.findings)


def problem_as_dict(problem: Problem) -> dict[str, Any]:
    """A problem as JSON has it."""
    return {**problem._asdict(), "findings": [finding.as_dict() for finding in findings_of(problem)]}
