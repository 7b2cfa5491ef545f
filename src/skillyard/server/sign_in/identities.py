"""Who may come in with what an identity provider says of them, and as whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from skillyard.errors import NotAllowedError
from skillyard.server.sign_in.oidc_settings import OidcSettings

_NAMES: Final = ("preferred_username", "email", "name")


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A person as an identity provider knows them."""

    external_id: str
    name: str
    """What they would like to be called here."""
    admin: bool


def identity_of(claims: Mapping[str, Any], settings: OidcSettings) -> Identity:
    """The person whom checked claims are about, if they may sign in."""
    email = _verified_email(claims)
    if claims.get("email_verified") in (False, "false") or (settings.domains and email is None):
        raise NotAllowedError(
            "The identity provider has not verified your e-mail address.", hint="Verify it there, then sign in again."
        )
    if settings.domains and email is not None and email.rpartition("@")[2] not in settings.domains:
        raise NotAllowedError(
            "Your e-mail address is not of an organisation that may sign in here.",
            hint="Choose another account at the identity provider, or ask whoever runs this yard.",
        )
    subject: str = claims["sub"]
    # Some providers let people choose their subject: one that looks like an address proves nothing about it.
    addresses = {one.casefold() for one in settings.admins if "@" in one}
    subjects = {one for one in settings.admins if "@" not in one}
    return Identity(
        external_id=f"{settings.issuer}#{subject}",
        name=_name(claims),
        admin=subject in subjects or (email is not None and email in addresses),
    )


def _verified_email(claims: Mapping[str, Any]) -> str | None:
    email = claims.get("email")
    # Some providers write it as a text.
    verified = claims.get("email_verified") in (True, "true")
    return email.casefold() if verified and isinstance(email, str) and "@" in email else None


def _name(claims: Mapping[str, Any]) -> str:
    for key in _NAMES:
        value = claims.get(key)
        if isinstance(value, str) and value.strip():
            return value.partition("@")[0]
    return ""
