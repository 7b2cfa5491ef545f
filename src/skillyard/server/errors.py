"""Every failure of a request in the one shape that clients read."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from skillyard.errors import InputError, NotFoundError, SkillyardError, UsageError
from skillyard.server.asgi import SAFE_HEADERS, error_body, error_headers

_MAX_PROBLEMS: Final = 100
"""So many are told; a body can have as many as it has values."""
_MAX_FIELD: Final = 200


def install_error_handlers(app: FastAPI) -> None:
    """Make every error of the app, expected or not, an answer of the same shape."""
    app.add_exception_handler(SkillyardError, _typed)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def _typed(_request: Request, error: Exception) -> Response:
    assert isinstance(error, SkillyardError)  # noqa: S101 -- registered for nothing else
    return _answer(error.http_status, error.as_public_dict(), error_headers(error))


def _wrong_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for nothing else
    problems = [
        {"field": ".".join(str(part) for part in item["loc"])[:_MAX_FIELD], "message": item["msg"]}
        for item in islice(error.errors(), _MAX_PROBLEMS)
    ]
    first = problems[0] if problems else {"field": "", "message": "wrong request"}
    typed = InputError(
        f"The request is wrong: {first['field']}: {first['message']}",
        hint="/openapi.json says what each parameter may be.",
        details={"problems": problems},
    )
    return _answer(typed.http_status, typed.as_dict())


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 -- registered for nothing else
    path = request.url.path
    if error.status_code == NotFoundError.http_status:
        body = NotFoundError(f"There is nothing at {path}.", hint="/openapi.json lists every path.").as_dict()
    else:
        message = f"{request.method} {path}: {error.detail}"
        body = UsageError(message, hint="/openapi.json lists every path and method.").as_dict()
    return _answer(error.status_code, body, error.headers)


def _unexpected(_request: Request, _error: Exception) -> Response:
    body = SkillyardError("The server failed to answer.", hint="Its log says why; this is our mistake.").as_dict()
    return _answer(SkillyardError.http_status, {**body, "code": "internal"}, SAFE_HEADERS)


def _answer(status: int, error: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    return Response(error_body(error), status_code=status, headers=headers, media_type="application/json")
