"""How people sign in with an identity provider, as the settings say."""

from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from skillyard.config.settings import Settings
from skillyard.errors import InputError
from skillyard.server.guard import is_loopback


@dataclass(frozen=True, kw_only=True, slots=True)
class OidcSettings:
    """One provider, what we are to it, and whom it may let in."""

    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    tenant: str
    admins: frozenset[str] = frozenset()
    """Verified e-mail addresses and subjects."""
    domains: frozenset[str] = frozenset()

    @classmethod
    def read(cls, settings: Settings) -> Self | None:
        """The provider that is set up, or None."""
        if settings.oidc_issuer is None:
            return None
        if settings.oidc_client_id is None:
            raise InputError(
                "The setting 'oidc_issuer' needs 'oidc_client_id'.",
                hint="Set SKILLYARD_OIDC_CLIENT_ID to the id that this server has at the provider.",
                details={"field": "oidc_client_id"},
            )
        _require_issuer(settings.oidc_issuer)
        secret = settings.oidc_client_secret
        return cls(
            issuer=settings.oidc_issuer,
            client_id=settings.oidc_client_id,
            client_secret=secret.get_secret_value() if secret else None,
            tenant=settings.oidc_tenant,
            admins=frozenset(settings.oidc_admins),
            domains=frozenset(domain.casefold().removeprefix("@") for domain in settings.oidc_domains),
        )

    @property
    def issuer_name(self) -> str:
        """What people know the provider by."""
        return urlsplit(self.issuer).netloc


def is_safe_url(url: str) -> bool:
    """Whether what is sent there stays between us and them: https, or this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host or "")))


def _require_issuer(issuer: str) -> None:
    if not is_safe_url(issuer) or any(mark in issuer for mark in "?#@ "):
        raise InputError(
            f"The setting 'oidc_issuer' takes an address with https, not {issuer!r}.",
            hint="Use what the provider calls its issuer, such as https://login.example.org",
            details={"field": "oidc_issuer", "value": issuer},
        )
