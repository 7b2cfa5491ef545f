"""What one request costs the processes that answer it, in CPU time, with all kinds measured in turn."""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from load import drive
from servers import Server, children_of


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind of request to one or more servers, which are asked in turn."""

    name: str
    servers: Sequence[Server]
    request: Callable[[], bytes]
    status: int = 200
    lanes: int = 1
    """Requests under way at once."""
    count: int
    """Requests in a round."""
    postgres: int | None = None
    """The process that the database's processes come from, where it has any."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """CPU microseconds per request in each round."""

    server: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.server)

    @property
    def median(self) -> float:
        return statistics.median(self.server)


def measure(subjects: Sequence[Subject], *, rounds: int) -> dict[str, Cost]:
    """Every subject once per round, so that what else the machine does meets all of them alike."""
    costs = {subject.name: Cost() for subject in subjects}
    for number in range(rounds + 1):
        for subject in subjects:
            server, database = _one_round(subject)
            if number:  # the first only warms up
                costs[subject.name].server.append(server)
                costs[subject.name].database.append(database)
    return costs


def _one_round(subject: Subject) -> tuple[float, float]:
    requests = [subject.request() for _ in range(subject.count)]
    ours = [server.pid for server in subject.servers]
    before, before_there = used(ours), _used_by_children(subject.postgres)
    drive([server.port for server in subject.servers], requests, lanes=subject.lanes, status=subject.status)
    after, after_there = used(ours), _used_by_children(subject.postgres)
    return _growth(before, after) / subject.count * 1e6, _growth(before_there, after_there) / subject.count * 1e6


def used(pids: Iterable[int]) -> dict[int, float]:
    """The CPU seconds that processes have used, all their threads, to the nanosecond."""
    used: dict[int, float] = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended
            used[pid] = time.clock_gettime((~pid << 3) | 2)  # the clock that clock_getcpuclockid(3) names
    return used


def _used_by_children(pid: int | None) -> dict[int, float]:
    return used(children_of(pid)) if pid is not None else {}


def _growth(before: dict[int, float], after: dict[int, float]) -> float:
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
