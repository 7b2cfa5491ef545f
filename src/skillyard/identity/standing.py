"""Whoever changes something must still be allowed to when the change is made, not only when they asked."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from skillyard.clock import Clock, utc_now
from skillyard.db.database import Database
from skillyard.db.transaction import Transaction
from skillyard.errors import NotAllowedError, UnauthenticatedError
from skillyard.identity.models import PersonRow, TokenRow
from skillyard.identity.principals import Principal
from skillyard.identity.store import roles_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Acting:
    """Who a request is from, and the number of the last change when that was found out."""

    principal: Principal
    number: int


ACTING: Final[ContextVar[Acting | None]] = ContextVar("ACTING", default=None)


class Standing:
    """Looks again at the rights of whoever writes, if anything changed since they were admitted.

    A request may take its time: its body may come slowly, and others may write first. Rights are part of the change
    numbers, so that a write which begins at the number of the admission needs no second look.
    """

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._clock = clock
        database.after_begin.append(self.check)

    async def check(self, transaction: Transaction) -> None:
        acting = ACTING.get()
        if acting is None or acting.number == transaction.number:
            return
        principal = acting.principal
        person = await transaction.session.get(PersonRow, principal.person_id)
        if person is None or person.disabled_at is not None or await self._is_ended(transaction, principal):
            raise UnauthenticatedError("The rights of this request have ended.")
        roles = await roles_of(transaction.session, person.id)
        if roles != dict(principal.roles) or (person.admin != principal.admin and not principal.operator):
            raise NotAllowedError(
                "Your rights changed while this was being done, so nothing was done.", hint="Ask again."
            )

    async def _is_ended(self, transaction: Transaction, principal: Principal) -> bool:
        if principal.token_id is None:
            return False
        token = await transaction.session.get(TokenRow, principal.token_id)
        if token is None or token.revoked_at is not None:
            return True
        return token.expires_at is not None and token.expires_at <= self._clock()
