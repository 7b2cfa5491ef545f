"""API tokens."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from skillyard.server.api.caller import Caller, Reason, TheYard
from skillyard.server.api.people_schemas import NewTokenSchema, TokenCreate, TokenSchema
from skillyard.server.api.shapes import BEARER, Listed, errors
from skillyard.server.auth import not_kept
from skillyard.server.models import Success

router = APIRouter(prefix="/api/v1/tokens", tags=["tokens"], responses=errors(), dependencies=[BEARER])


@router.get("", dependencies=[Depends(not_kept)])
async def list_tokens(
    yard: TheYard,
    caller: Caller,
    everyone: Annotated[bool, Query(description="Those of the whole tenant; for its administrators.")] = False,
) -> Listed[TokenSchema]:
    """The caller's tokens, also those that have ended."""
    tokens = [TokenSchema.of(token) for token in await yard.tokens.listing(caller, everyone=everyone)]
    return Listed(data=tokens)


@router.post("", status_code=201)
async def create_token(
    body: TokenCreate, yard: TheYard, caller: Caller, why: Reason, response: Response
) -> Success[NewTokenSchema]:
    """Make a token. The answer is the only place where it is ever shown."""
    life = None if body.expires_in_days is None else timedelta(days=body.expires_in_days)
    made = await yard.tokens.create(
        caller,
        label=body.label,
        scope=body.scope,
        expires_in=life,
        person=body.person,
        tenant=body.tenant,
        why=why,
    )
    response.headers["Cache-Control"] = "no-store"
    return Success(data=NewTokenSchema.shown_once(made.token, made.secret))


@router.delete("/{token_id}")
async def revoke_token(
    token_id: str,
    yard: TheYard,
    caller: Caller,
    why: Reason,
    keep_made: Annotated[bool, Query(description="Leave the tokens that were made with it.")] = False,
) -> Success[TokenSchema]:
    """End a token and all that were made with it, at once and for good."""
    return Success(data=TokenSchema.of(await yard.tokens.revoke(caller, token_id, keep_made=keep_made, why=why)))
