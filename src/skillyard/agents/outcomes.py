"""How a task went for which skills were loaded, and who is told."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from skillyard.agents.source import Found, SkillSource
from skillyard.agents.yard_source import YardSource
from skillyard.errors import SkillyardError
from skillyard.remote.client import YardClient
from skillyard.usage.events import UsageKind

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether a task went well, and what there is to say about it."""

    succeeded: bool
    detail: str = ""


Judge: TypeAlias = Callable[[Mapping[str, Any]], "Verdict | bool | None"]
"""Says of the state of an agent that has finished how its task went; None where nobody can tell yet."""
Report: TypeAlias = Callable[[Found, Verdict, str], None]
"""Tells of one skill how a task went, and in which session."""


def verdict_of(judged: Verdict | bool | None) -> Verdict | None:
    return Verdict(succeeded=judged) if isinstance(judged, bool) else judged


def recorded_by(source: SkillSource, *, agent: str = "") -> Report:
    """Count the outcome as a use of the skill."""

    def report(skill: Found, verdict: Verdict, session: str) -> None:
        kind = UsageKind.SUCCEEDED if verdict.succeeded else UsageKind.FAILED
        source.record(kind, skill, session=session, agent=agent, detail=verdict.detail)

    return report


def reported_to(
    yard: YardClient, source: YardSource, *, agent: str = "", executions: Callable[[], Sequence[str]] = tuple
) -> Report:
    """Tell a yard, for which the outcome is also a run of the release that was loaded.

    `executions` gives the ids of what was run for the task: evidence that goes with it.
    """

    def report(skill: Found, verdict: Verdict, session: str) -> None:
        source.close()  # that it was loaded must be known before how it went
        try:
            yard.report_outcome(
                skill.key,
                succeeded=verdict.succeeded,
                session=session,
                agent=agent,
                detail=verdict.detail,
                execution_ids=list(executions()),
            )
        except SkillyardError as error:
            # To be counted is worth less than to be answered.
            _log.warning("How a task with %s went could not be told: %s", skill.id, error.message)

    return report
