"""The evals of a skill: checks that are run without it, with the old one and with the new one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from skillyard.learning.skills.command_runs import Result, Step, put_bundle, run_all
from skillyard.learning.skills.computers import Computer
from skillyard.learning.skills.trials import Verdict
from skillyard.skill.archive import EVALS
from skillyard.skill.bundle import Bundle

FILE: Final = f"{EVALS}evals.json"
_MAX_CHECKS: Final = 10
_SECONDS: Final = 15.0
_TOLD: Final = 5
"""Assertions that a person is told of; the file has the others."""
_SHOWN: Final = 160


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

    prompt: str = ""
    expected_output: str = ""
    assertions: list[str] = Field(
        default_factory=list[str], validation_alias=AliasChoices("assertions", "expectations")
    )
    checks: list[Check] = Field(default_factory=list[Check])

    @property
    def words(self) -> list[str]:
        """What must be true, as only somebody who looks can tell."""
        if self.assertions or self.checks:
            return self.assertions
        return [self.expected_output or self.prompt or "a case that says nothing"]


class _Evals(BaseModel):
    model_config = ConfigDict(extra="ignore")

    evals: list[_Case]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evals:
    """What can be checked by itself, and what cannot."""

    checks: tuple[Check, ...] = ()
    words: tuple[str, ...] = ()
    """What is only said in words: somebody has to look."""
    left_out: int = 0
    """Checks that are more than are run."""

    @property
    def ask(self) -> str:
        """What a person is asked to do, if anything is left for one."""
        if not self.words:
            return ""
        told = "; ".join(f"“{' '.join(each.split())[:_SHOWN]}”" for each in self.words[:_TOLD])
        more = f"; and {len(self.words) - _TOLD} more" if len(self.words) > _TOLD else ""
        return f"A person has to judge what its evals say in words, which nothing here can check: {told}{more}."


def evals_of(new: Bundle, old: Bundle | None) -> Evals | None:
    """The evals that a change is held to: those that the skill had before, so that no change eases its own test."""
    file = (old or new).get(FILE)
    if file is None:
        return None
    try:
        cases = _Evals.model_validate(_json(file.data)).evals
    except (ValidationError, ValueError):
        return Evals(words=(f"{FILE} cannot be read",))
    checks = [check for case in cases for check in case.checks]
    return Evals(
        checks=tuple(checks[:_MAX_CHECKS]),
        words=tuple(each for case in cases for each in case.words),
        left_out=max(0, len(checks) - _MAX_CHECKS),
    )


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
    verdict = compared(evals.checks, told["none"], told.get("old"), told["new"])
    if not evals.left_out:
        return verdict
    return verdict.and_(
        Verdict(warnings=(f"evals: {evals.left_out} checks beyond the first {_MAX_CHECKS} did not run.",))
    )


def compared(
    checks: Sequence[Check], none: Sequence[Result], old: Sequence[Result] | None, new: Sequence[Result]
) -> Verdict:
    """What three runs of each check say: of the change, and of the check."""
    problems: list[str] = []
    warnings: list[str] = []
    facts: list[str] = []
    for at, check in enumerate(checks):
        sides = {"without the skill": none, "with the old one": old, "with the new one": new}
        told = [f"{side} {'yes' if check.holds(ran[at]) else 'no'}" for side, ran in sides.items() if ran]
        facts.append(f"evals: {check.run[:100]!r} holds: {', '.join(told)}.")
        before = "with the old skill" if old else "without the skill"
        held = check.holds((old or none)[at])
        if held and not check.holds(new[at]):
            problems.append(f"evals: {check.run[:100]!r} holds {before} and would not hold any more.")
        elif check.holds(none[at]):
            warnings.append(f"evals: {check.run[:100]!r} holds without the skill too, and shows nothing.")
        elif not check.holds(new[at]) and old is None:
            problems.append(f"evals: {check.run[:100]!r} does not hold.")  # its author wrote both
        elif not check.holds(new[at]):
            warnings.append(f"evals: {check.run[:100]!r} does not hold.")
    return Verdict(problems=tuple(problems), warnings=tuple(warnings), facts=tuple(facts))


def _step(check: Check, folder: str) -> Step:
    return Step(argv=["sh", "-c", check.run], cwd=folder, seconds=_SECONDS)


def _with(bundle: Bundle, evidence: Bundle) -> Bundle:
    kept = [file for file in bundle if not file.path.startswith(EVALS)]
    return Bundle([*kept, *evidence])


def _json(data: bytes) -> Any:  # noqa: ANN401 -- any JSON
    return json.loads(data)
