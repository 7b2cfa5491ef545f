"""Numbers about the server, in the form Prometheus reads."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Series:
    """The counters of one kind of request, looked up once."""

    __slots__ = ("count", "seconds")

    def __init__(self, count: Counter, seconds: Histogram) -> None:
        self.count = count
        self.seconds = seconds


class Metrics:
    """The metrics of one server, on a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.in_flight = Gauge("skillyard_requests_in_flight", "Requests being answered.", registry=self.registry)
        self.cache_hits = Counter("skillyard_cache_hits", "Requests answered from the cache.", registry=self.registry)
        self._requests = Counter(
            "skillyard_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "skillyard_request_seconds",
            "Time from a request to the end of its answer.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._number = Gauge("skillyard_change_number", "The number of the last change.", registry=self.registry)
        self._series: dict[tuple[str, str, int], _Series] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status // 100)
        series = self._series.get(key)
        if series is None:
            known = method if method in _METHODS else "other"
            series = _Series(
                self._requests.labels(known, route, f"{status // 100}xx"), self._seconds.labels(known, route)
            )
            if known == method:  # made-up methods must not fill the memory
                self._series[key] = series
        series.count.inc()
        series.seconds.observe(seconds)

    def watch_number(self, number: Callable[[], float]) -> None:
        """Ask this for the number of the last change whenever the metrics are read."""
        self._number.set_function(number)

    def render(self) -> bytes:
        return generate_latest(self.registry)
