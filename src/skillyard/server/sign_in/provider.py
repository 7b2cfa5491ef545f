"""An OpenID Connect provider: where to send people, and who came back."""

import base64
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

from joserfc.jwk import KeySet

from skillyard.clock import Clock, utc_now
from skillyard.errors import UnauthenticatedError
from skillyard.server.sign_in.fetch import ask, unusable
from skillyard.server.sign_in.flow import Flow
from skillyard.server.sign_in.id_token import Expected, UnknownKeyError, WrongTokenError, read_id_token, read_keys
from skillyard.server.sign_in.oidc_settings import OidcSettings, is_safe_url

_KEPT: Final = timedelta(hours=1)
_SCOPE: Final = "openid email profile"
_ASKED_AGAIN: Final = ("email", "email_verified", "preferred_username", "name")
"""What many providers tell only when asked once more."""
_POST: Final = "client_secret_post"
_BASIC: Final = "client_secret_basic"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Endpoints:
    """What a provider says about itself."""

    authorization: str
    token: str
    keys: str
    user_info: str | None
    client_auth: str
    read_at: datetime


class Provider:
    """One provider. What it says about itself, and its keys, are kept for an hour; new keys are found at once."""

    def __init__(self, settings: OidcSettings, *, clock: Clock = utc_now) -> None:
        self.settings = settings
        self._clock = clock
        self._endpoints: _Endpoints | None = None
        self._keys: tuple[datetime, KeySet] | None = None

    async def authorization_url(self, flow: Flow) -> str:
        """Where a person proves who they are, and is sent back from."""
        endpoint = (await self._discovered()).authorization
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": flow.redirect_url,
            "scope": _SCOPE,
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def claims(self, code: str, flow: Flow) -> dict[str, Any]:
        """What the provider says of the person who came back with a code, checked in every way."""
        try:
            return await self._claims(code, flow)
        except WrongTokenError as error:
            _log.warning("A sign-in with %s was refused: %s", self.settings.issuer, error)
            raise UnauthenticatedError(
                "The identity provider's answer could not be verified.",
                hint="Start again; if that does not help, whoever runs this yard finds the reason in its log.",
            ) from error

    async def _claims(self, code: str, flow: Flow) -> dict[str, Any]:
        endpoints = await self._discovered()
        tokens = await self._redeem(endpoints, code, flow)
        access_token = tokens.get("access_token")
        expected = Expected(
            issuer=self.settings.issuer,
            client_id=self.settings.client_id,
            nonce=flow.nonce,
            access_token=access_token if isinstance(access_token, str) else None,
        )
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise WrongTokenError("there is no ID token")
        try:
            claims = read_id_token(id_token, await self._signing_keys(endpoints), expected, clock=self._clock)
        except UnknownKeyError:
            # The provider may have changed its keys since they were read.
            self._keys = None
            claims = read_id_token(id_token, await self._signing_keys(endpoints), expected, clock=self._clock)
        if "email" not in claims and endpoints.user_info and expected.access_token:
            claims |= await self._user_info(endpoints.user_info, expected.access_token, claims["sub"])
        return claims

    async def _redeem(self, endpoints: _Endpoints, code: str, flow: Flow) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": flow.redirect_url,
            "code_verifier": flow.verifier,
            "client_id": self.settings.client_id,
        }
        headers: dict[str, str] = {}
        secret = self.settings.client_secret
        if secret is not None and endpoints.client_auth == _POST:
            form["client_secret"] = secret
        elif secret is not None:
            pair = f"{quote_plus(self.settings.client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        reply = await ask(endpoints.token, form=form, headers=headers)
        if not reply.good:
            raise WrongTokenError(f"the code was refused: {reply.status} {str(reply.document.get('error'))[:80]!r}")
        return reply.document

    async def _user_info(self, url: str, access_token: str, subject: str) -> dict[str, Any]:
        reply = await ask(url, headers={"Authorization": f"Bearer {access_token}"})
        if not reply.good or reply.document.get("sub") != subject:
            raise WrongTokenError("the user info is about someone else, or was refused")
        return {key: reply.document[key] for key in _ASKED_AGAIN if key in reply.document}

    async def _discovered(self) -> _Endpoints:
        known = self._endpoints
        if known is None or self._clock() - known.read_at > _KEPT:
            address = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            reply = await ask(address)
            if not reply.good or reply.document.get("issuer") != self.settings.issuer:
                raise unusable(f"{address} does not describe {self.settings.issuer}")
            known = self._endpoints = self._read(reply.document)
        return known

    async def _signing_keys(self, endpoints: _Endpoints) -> KeySet:
        known = self._keys
        if known is None or self._clock() - known[0] > _KEPT:
            reply = await ask(endpoints.keys)
            if not reply.good:
                raise unusable(f"{endpoints.keys} answers with status {reply.status}")
            known = self._keys = (self._clock(), read_keys(reply.document))
        return known[1]

    def _read(self, document: Mapping[str, Any]) -> _Endpoints:
        methods = str(document.get("token_endpoint_auth_methods_supported", _BASIC))
        return _Endpoints(
            authorization=_endpoint(document, "authorization_endpoint"),
            token=_endpoint(document, "token_endpoint"),
            keys=_endpoint(document, "jwks_uri"),
            user_info=_endpoint(document, "userinfo_endpoint") if document.get("userinfo_endpoint") else None,
            client_auth=_POST if _BASIC not in methods and _POST in methods else _BASIC,
            read_at=self._clock(),
        )


def _endpoint(document: Mapping[str, Any], key: str) -> str:
    url = document.get(key)
    if not isinstance(url, str) or not is_safe_url(url):
        raise unusable(f"its {key} is no address with https")
    return url
