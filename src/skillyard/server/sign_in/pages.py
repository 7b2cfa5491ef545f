"""The few pages around signing in: plain HTML without scripts, and nothing from elsewhere."""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Final

from fastapi.responses import HTMLResponse

from skillyard.errors import SkillyardError
from skillyard.server.asgi import error_headers
from skillyard.server.sign_in.origins import SIGN_IN, SIGN_OUT

OIDC_START: Final = f"{SIGN_IN}/oidc"
_STYLE: Final = """
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{max-width:26rem;margin:10vh auto;padding:0 1rem}
h1{font-size:1.5rem}
label{display:block;font-weight:600}
input{box-sizing:border-box;width:100%;font:inherit;padding:.5rem;margin:.25rem 0 1rem}
button{font:inherit;padding:.5rem 1rem;cursor:pointer}
form{margin:1rem 0}
.problem{border-left:.25rem solid #c00;padding:.25rem .75rem}
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    # With no-referrer, browsers would hide the origin of our own forms from us.
    "Referrer-Policy": "same-origin",
}
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{refresh}<title>{title} · Skillyard</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{content}</main>
</body>
</html>
"""


def sign_in_page(*, then: str, issuer_name: str | None, problem: SkillyardError | None = None) -> HTMLResponse:
    """The forms to sign in with; after an attempt that failed, with what to do about it."""
    hidden = f'<input type="hidden" name="next" value="{escape(then)}">'
    marks = ' aria-invalid="true" aria-describedby="problem"' if problem else ""
    content = _problem(problem) if problem else ""
    if issuer_name is not None:
        content += (
            f'<form method="post" action="{OIDC_START}">{hidden}\n'
            f'<button type="submit">Sign in with {escape(issuer_name)}</button>\n</form>\n'
        )
    content += (
        f'<form method="post" action="{SIGN_IN}">{hidden}\n'
        '<label for="token">Your token</label>\n'
        '<input id="token" name="token" type="password" required autocomplete="current-password" '
        f'spellcheck="false" autocapitalize="none"{marks}>\n'
        '<button type="submit">Sign in</button>\n</form>\n'
        "<p>An administrator makes one: <code>skillyard registry tokens create LABEL --person NAME</code></p>\n"
    )
    status = problem.http_status if problem else 200
    return _page("Sign in", content, status=status, headers=error_headers(problem) if problem else {})


def signed_in_page(*, name: str, then: str) -> HTMLResponse:
    """For who is signed in already."""
    content = (
        f'<p>You are signed in as <strong>{escape(name)}</strong>.</p>\n<p><a href="{escape(then)}">Go on</a></p>\n'
        f'<form method="post" action="{SIGN_OUT}"><button type="submit">Sign out</button></form>\n'
    )
    return _page("Signed in", content)


def onward_page(url: str, *, issuer_name: str) -> HTMLResponse:
    """Leads to the identity provider. A redirect would be held to what our own form may lead to, at every step."""
    content = f'<p><a href="{escape(url)}">Go on to {escape(issuer_name)}</a></p>\n'
    return _page("One moment", content, refresh=url)


def _problem(error: SkillyardError) -> str:
    hint = f"<br>{escape(error.hint)}" if error.hint else ""
    return f'<p class="problem" id="problem" role="alert">{escape(error.message)}{hint}</p>\n'


def _page(
    title: str, content: str, *, status: int = 200, refresh: str = "", headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    tag = f'<meta http-equiv="refresh" content="0;url={escape(refresh)}">\n' if refresh else ""
    html = _PAGE.format(title=escape(title), style=_STYLE, content=content, refresh=tag)
    return HTMLResponse(html, status_code=status, headers={**_HEADERS, **(headers or {})})
