"""The few pages around signing in: without scripts, and with nothing from elsewhere."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from skillyard.errors import SkillyardError
from skillyard.server.asgi import error_headers
from skillyard.server.sign_in.origins import SIGN_IN
from skillyard.server.web.reader import Reader
from skillyard.server.web.rendering import render

OIDC_START: Final = f"{SIGN_IN}/oidc"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    # With no-referrer, browsers would hide the origin of our own forms from us.
    "Referrer-Policy": "same-origin",
}


def sign_in_page(
    request: Request, *, then: str, issuer_name: str | None, problem: SkillyardError | None = None
) -> HTMLResponse:
    """The forms to sign in with; after an attempt that failed, with what to do about it."""
    data = {"then": then, "issuer_name": issuer_name, "problem": problem.as_public_dict() if problem else None}
    status = problem.http_status if problem else 200
    return _page(request, "sign_in.html", data, status=status, headers=error_headers(problem) if problem else {})


def signed_in_page(request: Request, *, name: str, then: str) -> HTMLResponse:
    """For who is signed in already."""
    return _page(request, "signed_in.html", {"name": name, "then": then})


def onward_page(request: Request, url: str, *, issuer_name: str) -> HTMLResponse:
    """Leads to the identity provider. A redirect would be held to what our own form may lead to, at every step."""
    return _page(request, "onward.html", {"url": url, "issuer_name": issuer_name})


def _page(
    request: Request,
    template: str,
    data: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    reader = Reader(request=request)
    address = f"{SIGN_IN}?{urlencode({'next': data['then']})}" if "then" in data else SIGN_IN
    html = render(f"sign_in/{template}", reader, data, address=address)
    answer = HTMLResponse(html.encode("utf-8", "replace"), status_code=status, headers={**_HEADERS, **(headers or {})})
    if request.method == "GET":
        reader.remember(answer)  # whoever sends a form from here has it
    return answer
