"""Who looks at a page, and how they like it: language, theme, and the secret that proves a form to be ours."""

import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from fastapi import Request, Response

from skillyard.app.sample import has_sample
from skillyard.errors import NotAllowedError
from skillyard.identity.principals import Principal, Scope
from skillyard.server.asgi import header
from skillyard.server.auth import PRINCIPAL
from skillyard.server.web.choices import one_of
from skillyard.server.web.texts import LANGUAGES, Texts, language_for, texts_in

LANGUAGE_COOKIE: Final = "skillyard_language"
THEME_COOKIE: Final = "skillyard_theme"
FORM_FIELD: Final = "form_token"
DEEDS: Final = "deeds"
"""The note in `request.state` of what the reader may do with what the page is about."""
_FORM_COOKIES: Final = ("__Host-skillyard-form", "skillyard_form")
"""The name over https, which no neighbouring host can set, and the one over http."""
_SECRET_BYTES: Final = 24
_YEAR: Final = 365 * 24 * 3600


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, kw_only=True)
class Reader:
    """What is known of whoever asked for a page."""

    request: Request

    @cached_property
    def texts(self) -> Texts:
        chosen = self.request.cookies.get(LANGUAGE_COOKIE, "")
        accepted = (header(self.request.scope, b"accept-language") or b"").decode("latin-1")
        return texts_in(chosen if chosen in LANGUAGES else language_for(accepted))

    @property
    def theme(self) -> Theme:
        return one_of(Theme, self.request.cookies.get(THEME_COOKIE, "")) or Theme.SYSTEM

    @property
    def principal(self) -> Principal | None:
        return getattr(self.request.state, PRINCIPAL, None)

    @property
    def is_local(self) -> bool:
        """Whether this server serves the person at its machine, who need not sign in."""
        return self.request.app.state.desk is None

    @property
    def cache_control(self) -> str:
        """How long the browser keeps what is shown: where people sign out, the way back must not show it again."""
        return "private, no-cache" if self.is_local else "no-store"

    def may(self, deed: str) -> bool:
        """Whether the page should offer to do this with what it is about; who sends a form anyway is refused."""
        return deed in getattr(self.request.state, DEEDS, ())

    def has_scope(self, scope: str) -> bool:
        """Whether the reader may do what needs this scope: a page offers nothing else."""
        return self.principal is not None and self.principal.scope.covers(Scope(scope))

    @property
    def sees_sample(self) -> bool:
        """Whether a part of what is shown is the demonstration's."""
        home = self.request.app.state.home
        return home is not None and has_sample(home)

    @cached_property
    def _secret(self) -> tuple[bytes, bool]:
        """The secret of this browser's forms, and whether it is a new one."""
        given = self.request.cookies.get(self._cookie, "")
        try:
            known = urlsafe_b64decode(given)
        except ValueError:
            known = b""
        if len(known) == _SECRET_BYTES:
            return known, False
        return secrets.token_bytes(_SECRET_BYTES), True

    @cached_property
    def form_token(self) -> str:
        """The secret as it is written into forms: differently each time, for compression would give it away."""
        mask = secrets.token_bytes(_SECRET_BYTES)
        return urlsafe_b64encode(mask + _mixed(mask, self._secret[0])).decode()

    def require_own_form(self, token: str) -> None:
        """Refuses what was not sent by a form that this browser got from us."""
        secret, is_new = self._secret
        try:
            given = urlsafe_b64decode(token)
        except ValueError:
            given = b""
        mask, mixed = given[:_SECRET_BYTES], given[_SECRET_BYTES:]
        if is_new or len(mixed) != _SECRET_BYTES or not secrets.compare_digest(_mixed(mask, mixed), secret):
            raise NotAllowedError(
                "This form is not one that the page gave to this browser.",
                hint="Load the page again and send the form once more; cookies must be allowed for this server.",
                details={"field": FORM_FIELD},
            )

    def remember(self, answer: Response) -> None:
        """Have the browser keep the secret of its forms."""
        secret, is_new = self._secret
        if is_new:
            value = urlsafe_b64encode(secret).decode()
            answer.set_cookie(self._cookie, value, path="/", secure=self._is_secure, httponly=True, samesite="strict")

    @property
    def _is_secure(self) -> bool:
        return self.request.scope["scheme"] == "https"

    @property
    def _cookie(self) -> str:
        return _FORM_COOKIES[0] if self._is_secure else _FORM_COOKIES[1]


def keep_choice(answer: Response, cookie: str, value: str) -> None:
    """Have the browser keep how its reader likes the pages."""
    answer.set_cookie(cookie, value, max_age=_YEAR, path="/", httponly=True, samesite="lax")


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(one, other, strict=False))
