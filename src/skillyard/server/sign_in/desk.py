"""Signing in and out: what the pages ask for, done."""

import hmac
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from skillyard.errors import NotFoundError, TooManyRequestsError, UnauthenticatedError, UsageError
from skillyard.history.entries import Why
from skillyard.identity.external import ExternalPeople
from skillyard.identity.principals import Principal
from skillyard.identity.sessions import NewSession, Sessions
from skillyard.server.asgi import Scope
from skillyard.server.rate import Buckets, Rate, caller_address
from skillyard.server.sign_in.flow import Flow
from skillyard.server.sign_in.identities import identity_of

if TYPE_CHECKING:
    from skillyard.server.sign_in.provider import Provider

ATTEMPTS: Final = Rate(per_second=1 / 3, burst=20)
"""How often one address may try to sign in."""
_MAX_CODE: Final = 4096


class Desk:
    """Where people sign in with a token, or with an identity provider if there is one."""

    def __init__(
        self,
        sessions: Sessions,
        people: ExternalPeople,
        provider: "Provider | None",
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sessions = sessions
        self._people = people
        self._provider = provider
        self._attempts = Buckets(ATTEMPTS, clock=clock)

    @property
    def issuer_name(self) -> str | None:
        return self._provider and self._provider.settings.issuer_name

    def count_attempt(self, scope: Scope) -> None:
        """Refuses an address that tries too often."""
        left = self._attempts.take(caller_address(scope))
        if left < 0:
            wait = self._attempts.seconds_for(-left)
            raise TooManyRequestsError(
                "Too many attempts to sign in.", hint=f"Try again in {wait} s.", details={"retry_after": wait}
            )

    async def by_token(self, token: str, *, why: Why) -> NewSession:
        try:
            return await self._sessions.begin_by_token(token.strip(), why=why)
        except UnauthenticatedError as error:
            raise UnauthenticatedError(
                "The token is not valid: it is unknown, expired or revoked.",
                hint="Check that you copied all of it, or ask an administrator for a new one.",
            ) from error

    async def leave_for_provider(self, flow: Flow) -> str:
        """The address at the identity provider that begins a flow."""
        return await self._the_provider().authorization_url(flow)

    async def by_provider(self, flow: Flow | None, answer: Mapping[str, str], *, why: Why) -> NewSession:
        """Sign in the person whom the identity provider sent back with an answer to this browser's own flow."""
        provider = self._the_provider()
        state = answer.get("state", "")
        if flow is None or not hmac.compare_digest(state.encode(), flow.state.encode()):
            raise UnauthenticatedError(
                "This sign-in was not begun in this browser, or is over.",
                hint="Start again, and finish within 10 minutes.",
            )
        claims = await provider.claims(_code(answer, issuer=provider.settings.issuer), flow)
        identity = identity_of(claims, provider.settings)
        person = await self._people.welcome(
            identity.external_id,
            name=identity.name,
            tenant=provider.settings.tenant,
            admin=identity.admin,
            why=why,
        )
        return await self._sessions.begin_for(person, why=why)

    async def signed_in(self, secret: str | None) -> Principal | None:
        """Who has that secret, if it is that of a session."""
        if secret is None:
            return None
        try:
            return (await self._sessions.admit(secret)).principal
        except UnauthenticatedError:
            return None

    async def leave(self, secret: str | None, *, why: Why) -> None:
        if secret is not None:
            await self._sessions.end(secret, why=why)

    def _the_provider(self) -> "Provider":
        if self._provider is None:
            raise NotFoundError("There is no identity provider here.", hint="Sign in with a token.")
        return self._provider


def _code(answer: Mapping[str, str], *, issuer: str) -> str:
    """The code in an answer of the provider that was asked."""
    if answer.get("iss", issuer) != issuer:
        raise UsageError("The answer comes from another identity provider.", hint="Start again.")
    code = answer.get("code", "")
    if "error" in answer or not 0 < len(code) <= _MAX_CODE:
        raise UnauthenticatedError("The identity provider did not sign you in.", hint="Start again, or use a token.")
    return code
