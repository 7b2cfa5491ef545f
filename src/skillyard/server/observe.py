"""Follows every request: gives it an id, counts it, times it, and writes one line about it."""

import os
import re
import time
from collections.abc import Callable
from typing import Any, Final

from skillyard.server.asgi import REQUEST_ID, App, Message, Receive, Scope, Send, header, state_of
from skillyard.server.cache import HIT
from skillyard.server.logs import AccessLog, current_request
from skillyard.server.metrics import Metrics
from skillyard.server.routes import PERSON, ROUTE, route_template

_SANE_ID: Final = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_NO_ANSWER: Final = 499
"""What is told of a request whose client went away before there was an answer."""


class Observe:
    """The outermost part: sees every request and every answer, also those that others refuse.

    With `trust_ids`, a request may bring an id of its own (a proxy's); otherwise each gets one here.
    """

    def __init__(
        self,
        app: App,
        *,
        metrics: Metrics,
        trust_ids: bool = False,
        access_log: AccessLog | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.app = app
        self._metrics = metrics
        self._trust_ids = trust_ids
        self._log = access_log
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = self._clock()
        request_id = self._request_id(scope)
        state = state_of(scope)
        state[REQUEST_ID] = request_id
        current_request.set(request_id)
        status = sent = 0
        raw_id = request_id.encode()

        async def watch(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", raw_id)]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        self._metrics.in_flight.inc()
        failed = True
        try:
            await self.app(scope, receive, watch)
            failed = False
        finally:
            self._metrics.in_flight.dec()
            self._tell(scope, state, status or (500 if failed else _NO_ANSWER), sent, self._clock() - began)

    def _tell(self, scope: Scope, state: dict[str, Any], status: int, sent: int, seconds: float) -> None:
        route = state.get(ROUTE) or route_template(scope)
        method = scope["method"]
        self._metrics.answered(method, route, status, seconds)
        hit = HIT in state
        if hit:
            self._metrics.cache_hits.inc()
        if self._log is not None:
            self._log(
                {
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000, 3),
                    "bytes": sent,
                    "person": state.get(PERSON),
                    "cached": hit,
                    "request_id": state[REQUEST_ID],
                }
            )

    def _request_id(self, scope: Scope) -> str:
        if self._trust_ids:
            given = header(scope, b"x-request-id")
            if given is not None and _SANE_ID.fullmatch(given):
                return given.decode()
        return os.urandom(16).hex()
