"""Gaps: what was tried again and again without success, and what was done again and again but cannot be replayed."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from skillyard.releases.mining.findings import Gap, GapKind
from skillyard.releases.mining.reading import Failure
from skillyard.releases.mining.tasks import Task

_LEAST: Final = 2
_MOST_SAID: Final = 200
_MOST_IDS: Final = 100


def failing_gaps(failures: Sequence[Failure], succeeded: Collection[str]) -> Iterator[Gap]:
    """What failed more than once and never went well; the most frequent first."""
    by_what: dict[str, list[str]] = defaultdict(list)
    for failure in failures:
        if failure.what not in succeeded:
            by_what[failure.what].append(failure.execution_id)
    for what, ids in sorted(by_what.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        if len(ids) >= _LEAST:
            yield Gap(
                kind=GapKind.FAILING,
                description=f"Failed {len(ids)} times: {what[:_MOST_SAID]}",
                count=len(ids),
                execution_ids=tuple(dict.fromkeys(ids))[:_MOST_IDS],
            )


def manual_gap(task: Task, reason: str) -> Gap | None:
    """A task that is done again and again by hand, and why it stays so."""
    if len(task.occurrences) < _LEAST:
        return None
    ids = [each for one in task.occurrences for each in one.execution_ids]
    forms = [act.form(()) for act in task.occurrences[0].acts]
    return Gap(
        kind=GapKind.MANUAL,
        description=f"{'; '.join(forms)[:_MOST_SAID]}: {reason}",
        count=len(task.occurrences),
        execution_ids=tuple(dict.fromkeys(ids))[:_MOST_IDS],
    )
