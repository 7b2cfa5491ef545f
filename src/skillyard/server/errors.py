"""Every failure of a request in the one shape that clients read."""

from collections.abc import Mapping
from itertools import islice
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from skillyard.errors import InputError, NotFoundError, SkillyardError, UsageError
from skillyard.server.asgi import REQUEST_ID, SAFE_HEADERS, encoded, error_body, error_headers
from skillyard.server.sign_in.origins import wants_page
from skillyard.server.yard.errors import speaks_yard, yard_body, yard_status

_MAX_PROBLEMS: Final = 100
"""So many are told; a body can have as many as it has values."""
_MAX_FIELD: Final = 200


def install_error_handlers(app: FastAPI) -> None:
    """Make every error of the app, expected or not, an answer of the same shape."""
    app.add_exception_handler(SkillyardError, _typed)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def _typed(request: Request, error: Exception) -> Response:
    assert isinstance(error, SkillyardError)  # noqa: S101 -- registered for nothing else
    return _answer(request, error, headers=error_headers(error))


def _wrong_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for nothing else
    problems = [
        {"field": ".".join(str(part) for part in item["loc"])[:_MAX_FIELD], "message": item["msg"]}
        for item in islice(error.errors(), _MAX_PROBLEMS)
    ]
    first = problems[0] if problems else {"field": "", "message": "wrong request"}
    typed = InputError(
        f"The request is wrong: {first['field']}: {first['message']}",
        hint="Something in the address of this page is not as we write it: go back, or begin at the first page, /."
        if wants_page(request.scope)
        else "/openapi.json says what each parameter may be.",
        details={"problems": problems},
    )
    return _answer(request, typed, status=typed.http_status)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 -- registered for nothing else
    path = request.url.path
    if error.status_code == NotFoundError.http_status:
        typed = NotFoundError(
            f"There is nothing at {path}.",
            hint="Look for it from the first page, /; /openapi.json lists every path of the API.",
        )
    else:
        message = f"{request.method} {path}: {error.detail}"
        typed = UsageError(message, hint="/openapi.json lists every path and method.")
    return _answer(request, typed, status=error.status_code, headers=error.headers)


def _unexpected(request: Request, _error: Exception) -> Response:
    typed = SkillyardError("The server failed to answer.", hint="Its log says why; this is our mistake.")
    return _answer(request, typed, code="internal", headers=SAFE_HEADERS)


def _answer(
    request: Request,
    error: SkillyardError,
    *,
    status: int | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    if wants_page(request.scope):
        from skillyard.server.web.errors import error_page  # noqa: PLC0415 -- programs need no templates

        return error_page(request, error, status=status or error.http_status)
    if speaks_yard(request.url.path):
        status = status or yard_status(error)
        body = encoded(yard_body(error, getattr(request.state, REQUEST_ID, "")))
    else:
        status = status or error.http_status
        public = error.as_public_dict()
        body = error_body({**public, "code": code} if code else public)
    return Response(body, status_code=status, headers=headers, media_type="application/json")
