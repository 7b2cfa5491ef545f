"""The evals of a skill: checks that are run without it, with the old one and with the new one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skillyard.learning.skills.command_runs import Result, Step, put_bundle, run_all
from skillyard.learning.skills.computers import Computer
from skillyard.learning.skills.trials import Verdict
from skillyard.skill.archive import EVALS
from skillyard.skill.bundle import Bundle

FILE: Final = f"{EVALS}evals.json"
_MAX_CHECKS: Final = 10
_SECONDS: Final = 15.0


class Check(BaseModel):
    """A command that shows whether a skill does what it should; it is run in the skill's folder."""

    model_config = ConfigDict(extra="ignore")

    run: str = Field(min_length=1)
    exit_code: int = 0
    contains: str = ""
    """What its output must have in it."""

    def holds(self, result: Result) -> bool:
        return not result.timed_out and result.exit_code == self.exit_code and self.contains in result.output


class _Case(BaseModel):
    model_config = ConfigDict(extra="ignore")

    checks: list[Check] = Field(default_factory=list[Check])


class _Evals(BaseModel):
    model_config = ConfigDict(extra="ignore")

    evals: list[_Case]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evals:
    """What can be checked by itself, and how many cases cannot."""

    checks: tuple[Check, ...]
    unchecked: int
    """Cases that only say in words what must be true: somebody has to look."""


def evals_of(new: Bundle, old: Bundle | None) -> Evals | None:
    """The evals that a change is held to: those that the skill had before, so that no change eases its own test."""
    file = (old or new).get(FILE)
    if file is None:
        return None
    try:
        cases = _Evals.model_validate(_json(file.data)).evals
    except (ValidationError, ValueError):
        return Evals(checks=(), unchecked=1)
    checks = [check for case in cases for check in case.checks]
    return Evals(checks=tuple(checks[:_MAX_CHECKS]), unchecked=sum(not case.checks for case in cases))


async def run_evals(computer: Computer, evals: Evals, new: Bundle, old: Bundle | None, name: str) -> Verdict:
    """A check that held before and would not hold any more speaks against the change."""
    evidence = [file for file in (old or new) if file.path.startswith(EVALS)]
    sides = {"none": Bundle(evidence), "old": old, "new": _with(new, Bundle(evidence))}
    for side, bundle in sides.items():
        if bundle is not None:
            await put_bundle(computer, bundle, f"{side}/{name}")
    told = {
        side: await run_all(computer, [_step(check, f"{side}/{name}") for check in evals.checks])
        for side, bundle in sides.items()
        if bundle is not None
    }
    return compared(evals.checks, told["none"], told.get("old"), told["new"])


def compared(
    checks: Sequence[Check], none: Sequence[Result], old: Sequence[Result] | None, new: Sequence[Result]
) -> Verdict:
    problems: list[str] = []
    warnings: list[str] = []
    for at, check in enumerate(checks):
        before = "with the old skill" if old else "without the skill"
        held = check.holds((old or none)[at])
        if held and not check.holds(new[at]):
            problems.append(f"evals: {check.run[:100]!r} holds {before} and would not hold any more.")
        elif check.holds(none[at]):
            warnings.append(f"evals: {check.run[:100]!r} holds without the skill too, and shows nothing.")
        elif not check.holds(new[at]):
            warnings.append(f"evals: {check.run[:100]!r} does not hold.")
    return Verdict(problems=tuple(problems), warnings=tuple(warnings))


def _step(check: Check, folder: str) -> Step:
    return Step(argv=["sh", "-c", check.run], cwd=folder, seconds=_SECONDS)


def _with(bundle: Bundle, evidence: Bundle) -> Bundle:
    kept = [file for file in bundle if not file.path.startswith(EVALS)]
    return Bundle([*kept, *evidence])


def _json(data: bytes) -> Any:  # noqa: ANN401 -- any JSON
    return json.loads(data)
