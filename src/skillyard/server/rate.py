"""How often one caller may ask."""

import hashlib
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from skillyard.errors import TooManyRequestsError
from skillyard.server.asgi import PROBES, App, Header, Message, Receive, Scope, Send, header, refuse, state_of
from skillyard.server.routes import PERSON

MAX_CALLERS: Final = 10_000


@dataclass(frozen=True, kw_only=True)
class Rate:
    """So many requests per second for long, and so many at once."""

    per_second: float = 50.0
    burst: int = 200


class Buckets:
    """A bucket of permits per caller, refilled at a steady rate; the longest unused are forgotten."""

    def __init__(self, rate: Rate, *, clock: Callable[[], float], max_callers: int = MAX_CALLERS) -> None:
        self.burst = rate.burst
        self._per_second = rate.per_second
        self._clock = clock
        self._max_callers = max_callers
        self._levels: OrderedDict[str | bytes, tuple[float, float]] = OrderedDict()

    def take(self, caller: str | bytes) -> float:
        """Take one permit. The answer is how many are left, or if negative, what is missing to one."""
        now = self._clock()
        level, since = self._levels.pop(caller, (float(self.burst), now))
        level = min(float(self.burst), level + (now - since) * self._per_second)
        left = level - 1
        self._levels[caller] = (left if left >= 0 else level, now)
        if len(self._levels) > self._max_callers:
            self._levels.popitem(last=False)
        return left

    def seconds_for(self, permits: float) -> int:
        """How long it takes until there are so many more permits, rounded up."""
        return max(1, math.ceil(permits / self._per_second))


def _key_of(authorization: bytes) -> bytes:
    """The same for every way of writing one token."""
    token = authorization.strip().rpartition(b" ")[2]
    return hashlib.blake2b(token, digest_size=16).digest()


class RateLimit:
    """Refuses callers who ask too often: counted by token, or by address for those whose token is not yet known.

    Only a token that the application has accepted (it notes the person) has a bucket of its own, so made-up tokens
    give nobody more.
    """

    def __init__(self, app: App, *, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self.app = app
        self._buckets = Buckets(rate, clock=clock)
        self._accepted: OrderedDict[bytes, None] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in PROBES:
            await self.app(scope, receive, send)
            return
        authorization = header(scope, b"authorization")
        token = _key_of(authorization) if authorization else None
        known = token is not None and token in self._accepted
        left = self._buckets.take(token if token is not None and known else caller_address(scope))
        headers = self._headers(left)
        if left < 0:
            await refuse(scope, send, self._refusal(-left), extra=headers)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        await self.app(scope, receive, send_with_headers)
        if token is not None and state_of(scope).get(PERSON) is not None:
            self._accept(token)

    def _accept(self, token: bytes) -> None:
        self._accepted[token] = None
        self._accepted.move_to_end(token)
        if len(self._accepted) > MAX_CALLERS:
            self._accepted.popitem(last=False)

    def _headers(self, left: float) -> tuple[Header, ...]:
        burst = self._buckets.burst
        remaining = max(0, int(left))
        return (
            (b"ratelimit-limit", b"%d" % burst),
            (b"ratelimit-remaining", b"%d" % remaining),
            (b"ratelimit-reset", b"%d" % self._buckets.seconds_for(burst - left)),
        )

    def _refusal(self, missing: float) -> TooManyRequestsError:
        wait = self._buckets.seconds_for(missing)
        return TooManyRequestsError(
            f"Too many requests: at most {self._buckets.burst} at once.",
            hint=f"Ask again in {wait} s.",
            details={"limit": self._buckets.burst, "retry_after": wait},
        )


def caller_address(scope: Scope) -> str:
    """Where a request comes from: one address, or the network that one subscriber has in IPv6."""
    client = scope.get("client")
    host = client[0] if client else ""
    if ":" not in host:
        return host
    try:
        return str(ipaddress.IPv6Network((host.partition("%")[0], 64), strict=False))
    except ValueError:
        return host
