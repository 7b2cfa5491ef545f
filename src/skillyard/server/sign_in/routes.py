"""The pages and forms of signing in and out, on a server for people with tokens."""

from typing import Annotated, Final
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from skillyard.errors import LimitError, NotFoundError, SkillyardError
from skillyard.history.entries import Why
from skillyard.identity.sessions import NewSession
from skillyard.server.asgi import REQUEST_ID
from skillyard.server.routes import PERSON
from skillyard.server.sign_in.cookies import (
    flow_text,
    forget_flow,
    forget_session,
    session_secret,
    set_flow,
    set_session,
)
from skillyard.server.sign_in.desk import Desk
from skillyard.server.sign_in.flow import CALLBACK, Flow
from skillyard.server.sign_in.origins import SIGN_IN, SIGN_OUT, base_url, require_same_origin, safe_next
from skillyard.server.sign_in.pages import OIDC_START, onward_page, sign_in_page, signed_in_page

_MAX_FORM: Final = 16 * 1024
_MAX_FIELDS: Final = 16
_NO_STORE: Final = {"Cache-Control": "no-store"}

router = APIRouter(include_in_schema=False)


async def _desk(request: Request) -> Desk:
    desk = request.app.state.desk
    if desk is None:
        raise NotFoundError(
            "There is no need to sign in: this server knows you by the machine you are at.",
            hint="Go on: /",
        )
    return desk


TheDesk = Annotated[Desk, Depends(_desk)]


@router.get(SIGN_IN)
async def show(request: Request, desk: TheDesk, next: str = "") -> HTMLResponse:  # noqa: A002 -- the name in the URL
    principal = await desk.signed_in(session_secret(request.scope))
    if principal is not None:
        return signed_in_page(request, name=principal.name, then=safe_next(next))
    return sign_in_page(request, then=safe_next(next), issuer_name=desk.issuer_name)


@router.post(SIGN_IN)
async def sign_in(request: Request, desk: TheDesk) -> Response:
    form: dict[str, str] = {}
    try:
        require_same_origin(request.scope)
        desk.count_attempt(request.scope)
        form = await _form(request)
        begun = await desk.by_token(form.get("token", ""), why=_why(request))
    except SkillyardError as error:
        return sign_in_page(request, then=safe_next(form.get("next", "")), issuer_name=desk.issuer_name, problem=error)
    secure = base_url(request.scope).startswith("https://")
    return await _enter(request, desk, begun, then=form.get("next", ""), secure=secure)


@router.post(OIDC_START)
async def leave_for_provider(request: Request, desk: TheDesk) -> Response:
    form: dict[str, str] = {}
    try:
        require_same_origin(request.scope)
        desk.count_attempt(request.scope)
        form = await _form(request)
        flow = Flow.begin(base_url=base_url(request.scope), then=safe_next(form.get("next", "")))
        page = onward_page(request, await desk.leave_for_provider(flow), issuer_name=desk.issuer_name or "")
    except SkillyardError as error:
        return sign_in_page(request, then=safe_next(form.get("next", "")), issuer_name=desk.issuer_name, problem=error)
    set_flow(page, flow.write(), secure=flow.secure)
    return page


@router.get(CALLBACK)
async def come_back(request: Request, desk: TheDesk) -> Response:
    text = flow_text(request.scope)
    flow = Flow.read(text) if text else None
    then = flow.then if flow else ""
    try:
        desk.count_attempt(request.scope)
        begun = await desk.by_provider(flow, dict(request.query_params), why=_why(request))
        answer = await _enter(request, desk, begun, then=then, secure=flow is not None and flow.secure)
    except SkillyardError as error:
        answer = sign_in_page(request, then=safe_next(then), issuer_name=desk.issuer_name, problem=error)
    # Whatever came of it, the flow is over.
    forget_flow(answer)
    return answer


@router.post(SIGN_OUT)
async def sign_out(request: Request, desk: TheDesk) -> Response:
    require_same_origin(request.scope)
    await desk.leave(session_secret(request.scope), why=_why(request))
    answer = RedirectResponse(SIGN_IN, status_code=303, headers=_NO_STORE)
    forget_session(answer)
    return answer


async def _enter(request: Request, desk: Desk, begun: NewSession, *, then: str, secure: bool) -> Response:
    # A session that the browser had before is over: nobody who knows its secret gets what comes now.
    await desk.leave(session_secret(request.scope), why=_why(request))
    setattr(request.state, PERSON, begun.principal.name)
    answer = RedirectResponse(safe_next(then), status_code=303, headers=_NO_STORE)
    set_session(answer, begun.secret, secure=secure)
    return answer


async def _form(request: Request) -> dict[str, str]:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_FORM:
            raise LimitError(f"The form has more than {_MAX_FORM} bytes.", hint="Give the token alone.")
    try:
        return dict(parse_qsl(body.decode("latin-1"), max_num_fields=_MAX_FIELDS))
    except ValueError as error:
        raise LimitError(f"The form has more than {_MAX_FIELDS} fields.", hint="Give the token alone.") from error


def _why(request: Request) -> Why:
    return Why(request_id=getattr(request.state, REQUEST_ID, ""))
