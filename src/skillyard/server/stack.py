"""What every request passes through before the application, in its one right order."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from skillyard.db.idempotency import IdempotencyStore
from skillyard.server.asgi import App, Scope
from skillyard.server.cache import AnswerCache
from skillyard.server.guard import LoopbackGuard, SafeHeaders
from skillyard.server.idempotency import Idempotency
from skillyard.server.json_text import StorableJson
from skillyard.server.limits import MAX_BODY, Patience, RequestLimits
from skillyard.server.logs import AccessLog
from skillyard.server.metrics import Metrics
from skillyard.server.observe import Observe
from skillyard.server.rate import Rate, RateLimit


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the parts around the application need to know."""

    local: bool
    """Whether the person at this machine is the user, so that nobody else may get through."""
    number: Callable[[], Awaitable[int]]
    keys: IdempotencyStore
    principal: Callable[[Scope], Awaitable[str]]
    entrance: Callable[[App], App] | None = None
    """What finds out who is asking; it stands before everything that reads a body."""
    metrics: Metrics = field(default_factory=Metrics)
    max_body: int = MAX_BODY
    patience: Patience = field(default_factory=Patience)
    """How long is waited for a body."""
    rate: Rate | None = None
    """How often one caller may ask; None where there is only one."""
    access_log: AccessLog | None = None


def within(app: App, around: Surroundings) -> App:
    """The application with what knows who asks around it; what runs in this process itself may come in here."""
    inner: App = Idempotency(app, store=around.keys, principal=around.principal)
    inner = StorableJson(inner)
    if around.entrance is not None:
        inner = around.entrance(inner)
    inner = SafeHeaders(inner)
    return AnswerCache(inner, number=around.number)


def enclose(inner: App, around: Surroundings) -> App:
    """What stands between an application and everyone outside of this process; refusals come before work."""
    inner = RequestLimits(inner, max_body=around.max_body, patience=around.patience)
    if around.rate is not None:
        inner = RateLimit(inner, rate=around.rate)
    if around.local:
        inner = LoopbackGuard(inner)
    return Observe(inner, metrics=around.metrics, trust_ids=not around.local, access_log=around.access_log)
