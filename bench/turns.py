"""Things measured in turn, by the clock: every subject in every round, so that other work meets all of them alike."""

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from results import table

Act: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, kw_only=True)
class Subject:
    name: str
    run: Act
    before: Act | None = None
    """What is done before each time, and not measured."""
    after: Act | None = None
    count: int = 1
    """Times in a round."""
    parts: int = 1
    """The whole is so many times what is run."""


@dataclass(frozen=True, kw_only=True)
class Times:
    """Milliseconds, the shortest first."""

    all: Sequence[float]

    @property
    def best(self) -> float:
        return self.all[0]

    @property
    def median(self) -> float:
        return statistics.median(self.all)

    @property
    def p95(self) -> float:
        return self.all[min(len(self.all) - 1, int(len(self.all) * 0.95))]


def plainly(function: Callable[[], object]) -> Act:
    """Something that blocks, as what is measured here; nothing else is to be done meanwhile."""

    async def act() -> object:
        return function()

    return act


async def take_turns(subjects: Sequence[Subject], *, rounds: int) -> dict[str, Times]:
    times: dict[str, list[float]] = {subject.name: [] for subject in subjects}
    for number in range(rounds + 1):
        for subject in subjects:
            for _ in range(subject.count):
                taken = await _once(subject)
                if number:  # the first round only warms up
                    times[subject.name].append(taken * subject.parts)
    return {name: Times(all=sorted(all_times)) for name, all_times in times.items()}


async def _once(subject: Subject) -> float:
    if subject.before:
        await subject.before()
    began = time.perf_counter()
    await subject.run()
    taken = (time.perf_counter() - began) * 1000
    if subject.after:
        await subject.after()
    return taken


def compared(title: str, times: Mapping[str, Times], floors: Mapping[str, str | Mapping[str, str]]) -> str:
    """A table with the ratio of medians to each floor.

    `floors` are names of columns, each with the subject that is its floor, or with one for every subject.
    """

    def ratio(name: str, floor: str | Mapping[str, str]) -> str:
        return f"{times[name].median / times[floor if isinstance(floor, str) else floor[name]].median:.2f}"

    rows = [
        [
            name,
            *(f"{figure:,.2f}" for figure in (each.best, each.median, each.p95)),
            *(ratio(name, floor) for floor in floors.values()),
        ]
        for name, each in times.items()
    ]
    return table([title, "best ms", "p50 ms", "p95 ms", *floors], rows)
