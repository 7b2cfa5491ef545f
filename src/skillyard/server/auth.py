"""Who is asking: found out once per request, before any route sees it."""

import math
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeAlias

from fastapi import Request

from skillyard.clock import Clock, utc_now
from skillyard.errors import NotAllowedError, SkillyardError, UnauthenticatedError
from skillyard.identity.access import Access, Admission
from skillyard.identity.sessions import Sessions
from skillyard.identity.standing import ACTING, Acting
from skillyard.server.asgi import PROBES, App, Receive, Scope, Send, header, refuse, state_of
from skillyard.server.cache import FRESH_UNTIL
from skillyard.server.routes import PERSON
from skillyard.server.sign_in.cookies import session_secret
from skillyard.server.sign_in.origins import page_to_sign_in, require_same_origin

PRINCIPAL: Final = "principal"
"""The note in `request.state` of who is asking; None where nobody needs to be known."""
ADMIT: Final = "admit"
"""The note of how to ask again, for answers that last longer than the rights they began with."""

Admit: TypeAlias = Callable[[], Awaitable[Admission]]

_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]{1,512}=*) *", re.IGNORECASE)
_RENEWED: Final = timedelta(minutes=1)
"""How long answers are kept for a token, at most: so that when it was last used stays about right."""


class Doorkeeper:
    """Decides who a request is from: by its bearer token, or on a local server by being made at this machine.

    With `sessions`, a browser that is signed in is known by its cookie. What begins with one of `open_paths` is for
    everyone; whoever sends a token there is known by it.
    """

    def __init__(
        self,
        access: Access,
        *,
        person: str | None = None,
        sessions: Sessions | None = None,
        open_paths: tuple[str, ...] = (),
        clock: Clock = utc_now,
    ) -> None:
        self._access = access
        self._sessions = sessions
        self._open_paths = open_paths
        self._person = person
        """Who is taken to be asking without a token; None: nobody."""
        self._clock = clock

    async def principal(self, scope: Scope) -> str:
        """A name for who is asking under which their requests can be told apart."""
        await self.enter(scope)
        principal = state_of(scope)[PRINCIPAL]
        if principal is None:
            raise UnauthenticatedError
        return principal.token_id or principal.person_id

    async def enter(self, scope: Scope) -> None:
        """Note in the request's state who is asking, and until when; or refuse."""
        state = state_of(scope)
        if PRINCIPAL in state:
            return
        if scope["path"] in PROBES:
            state[PRINCIPAL] = None
            state[FRESH_UNTIL] = math.inf
            return
        number = await self._access.number()
        try:
            entered = await self._entered(scope)
        except UnauthenticatedError:
            # A browser sends its cookie everywhere, also when the session is over; a token is sent on purpose.
            if not scope["path"].startswith(self._open_paths) or header(scope, b"authorization") is not None:
                raise
            entered = None
        if entered is None:
            state[PRINCIPAL] = None
            state[FRESH_UNTIL] = math.inf
            return
        admit, admission = entered
        state[PRINCIPAL] = admission.principal
        ACTING.set(Acting(principal=admission.principal, number=number))
        state[ADMIT] = admit
        state[PERSON] = admission.principal.name
        state[FRESH_UNTIL] = self._fresh_until(admission)

    async def _entered(self, scope: Scope) -> tuple[Admit, Admission]:
        given = header(scope, b"authorization")
        sessions = self._sessions
        secret = session_secret(scope) if given is None and sessions is not None else None
        if sessions is not None and secret is not None:
            require_same_origin(scope)
            return (lambda: sessions.admit(secret)), await sessions.use(secret)
        admit = self._admit(given)
        return admit, await admit()

    def _admit(self, given: bytes | None) -> Admit:
        if given is not None:
            secret = bearer_token(given)
            return lambda: self._access.by_token(secret)
        person = self._person
        if person is None:
            raise UnauthenticatedError

        async def at_this_machine() -> Admission:
            return Admission(principal=await self._access.operator(person))

        return at_this_machine

    def _fresh_until(self, admission: Admission) -> float:
        if admission.principal.token_id is None and admission.until is None:
            return math.inf
        renewed = self._clock() + _RENEWED
        return (renewed if admission.until is None else min(renewed, admission.until)).timestamp()


class Authentication:
    """Before a body is read and a route is reached: these find who is asking in `request.state`."""

    def __init__(self, app: App, *, doorkeeper: Doorkeeper) -> None:
        self.app = app
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            try:
                await self._doorkeeper.enter(scope)
            except SkillyardError as error:
                page = page_to_sign_in(scope) if isinstance(error, UnauthenticatedError) else None
                await (refuse(scope, send, error) if page is None else _redirect(send, page))
                return
        await self.app(scope, receive, send)


async def _redirect(send: Send, path: str) -> None:
    headers = [(b"location", path.encode()), (b"cache-control", b"no-store"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def bearer_token(authorization: bytes) -> str:
    """The token in an Authorization header; any other kind of credentials is refused, not overlooked."""
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise UnauthenticatedError("The Authorization header holds no bearer token.")
    return match[1].decode()


async def not_kept(request: Request) -> None:
    """For routes whose answers change without a change number: they are made anew each time."""
    setattr(request.state, FRESH_UNTIL, 0.0)


async def operator_only(request: Request) -> None:
    """For what belongs to whoever runs the server."""
    principal = getattr(request.state, PRINCIPAL)
    if principal is None or not principal.operator:
        raise NotAllowedError(
            "Only the operator of this yard may read the folders of its machine.",
            hint="Ask for the skills of the registry: /api/v1/skills",
        )


async def administrators_only(request: Request) -> None:
    """For what is told of the whole server. It is only read, so whatever a token's scope is will do."""
    principal = getattr(request.state, PRINCIPAL)
    if principal is None or not principal.admin:
        raise NotAllowedError(
            "Only an administrator of a tenant may read what the server counts.",
            hint="Use a token of one; the scope 'read' is enough.",
        )
