"""Trying a skill out before it is kept: its scripts, and the checks of its evals."""

from dataclasses import dataclass, field

from skillyard.errors import SkillyardError
from skillyard.identity.principals import Principal
from skillyard.learning.skills.computers import Computers
from skillyard.learning.skills.evals import evals_of, run_evals
from skillyard.learning.skills.trials import Verdict, scripts_of, try_scripts
from skillyard.skill.bundle import Bundle


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    verdict: Verdict = field(default_factory=Verdict)
    asks: tuple[str, ...] = ()
    """What could not be tried, so that a person has to agree."""


class Proving:
    """Tries skills out on computers. What cannot be tried is never taken for good."""

    def __init__(self, computers: Computers) -> None:
        self._computers = computers

    async def prove(self, principal: Principal, name: str, new: Bundle, old: Bundle | None) -> Proof:
        scripts, evals = scripts_of(new, old), evals_of(new, old)
        asks: list[str] = []
        if evals is not None and evals.ask:
            asks.append(evals.ask)
        if not scripts and not (evals and evals.checks):
            return Proof(asks=tuple(asks))
        verdict = Verdict()
        try:
            async with self._computers.session(principal) as computer:
                if scripts:
                    verdict = verdict.and_(await try_scripts(computer, new, f"tried/{name}", scripts))
                if evals and evals.checks and not verdict.problems:
                    verdict = verdict.and_(await run_evals(computer, evals, new, old, name))
        except SkillyardError as error:
            what = "its scripts" if scripts else "its evals"
            asks.append(f"Nobody could try {what}: {error.message} {error.hint}".strip())
        return Proof(verdict=verdict, asks=tuple(asks))
