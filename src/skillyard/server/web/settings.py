"""Your account, and the tokens that programs come in with."""

from datetime import timedelta
from typing import Final

from fastapi import Response

from skillyard.app.yard import Yard
from skillyard.errors import InputError, SkillyardError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal, Scope
from skillyard.server.api.caller import Caller, TheYard
from skillyard.server.api.people import me
from skillyard.server.api.people_schemas import NewTokenSchema, TokenSchema
from skillyard.server.web.choices import one_of
from skillyard.server.web.forms import Form, Posted
from skillyard.server.web.page import Page, PageRouter, go_to

_LONGEST_LABEL: Final = 200

router = PageRouter()


@router.page("/settings")
async def account(yard: TheYard, caller: Caller) -> Page:
    return await _account_page(yard, caller)


@router.post("/settings/tokens", response_model=None)
async def create_token(form: Posted, yard: TheYard, caller: Caller) -> Response:
    """Make a token. The page that answers is the only place where it is ever shown."""
    try:
        made = await yard.tokens.create(
            caller,
            label=form.required("label")[:_LONGEST_LABEL],
            scope=one_of(Scope, form.text("scope")) or Scope.READ,
            expires_in=_life(form),
            person=form.text("person").strip() or None,
            why=Why(),
        )
    except SkillyardError as error:
        return await _account_page(yard, caller, problem=error)
    return await _account_page(yard, caller, made=NewTokenSchema.shown_once(made.token, made.secret))


@router.post("/settings/tokens/{token_id}/revoke", response_model=None)
async def revoke_token(token_id: str, form: Posted, yard: TheYard, caller: Caller) -> Response:
    await yard.tokens.revoke(caller, token_id, why=Why(reason=form.text("reason")))
    return go_to("/settings", done="revoked")


async def _account_page(
    yard: Yard, principal: Principal, *, made: NewTokenSchema | None = None, problem: SkillyardError | None = None
) -> Page:
    tokens = await yard.tokens.listing(principal, everyone=principal.admin)
    return Page(
        "settings/account.html",
        {"me": (await me(yard, principal)).data, "tokens": [TokenSchema.of(token) for token in tokens]},
        extra={
            "made": made,
            "scopes": list(Scope),
            "problem": problem.as_public_dict() if problem else None,
        },
        status=problem.http_status if problem else 200,
        once=made is not None,
        address="/settings",
    )


def _life(form: Form) -> timedelta | None:
    days = form.text("days").strip()
    if not days:
        return None
    if not days.isascii() or not days.isdigit():
        raise InputError(f"{days[:20]!r} is no number of days.", hint="Use digits.", details={"field": "days"})
    return timedelta(days=int(days[:6]))
