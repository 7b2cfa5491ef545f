"""Checking what an identity provider says about a person, and who it is that says so."""

import hashlib
import hmac
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, cast

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError, SecurityWarning
from joserfc.jwk import JWKRegistry, Key, KeySet, RSAKey
from joserfc.jws import JWSRegistry

from skillyard.clock import Clock
from skillyard.server.sign_in.flow import url_base64

LEEWAY: Final = 60
"""Seconds by which the clocks of two servers may differ."""
_HASHES: Final = {
    "RS256": hashlib.sha256,
    "RS384": hashlib.sha384,
    "RS512": hashlib.sha512,
    "PS256": hashlib.sha256,
    "PS384": hashlib.sha384,
    "PS512": hashlib.sha512,
    "ES256": hashlib.sha256,
    "ES384": hashlib.sha384,
    "ES512": hashlib.sha512,
    "EdDSA": hashlib.sha512,
    "Ed25519": hashlib.sha512,
}
"""The signatures that are taken, all with a key that only the provider has; and the hash that goes with each."""
_KEY_TYPES: Final = frozenset({"RSA", "EC", "OKP"})
_LEAST_RSA_BITS: Final = 2048
_MAX_SUBJECT: Final = 255
_SIGNATURES: Final = JWSRegistry(algorithms=list(_HASHES), strict_check_header=False)


class WrongTokenError(Exception):
    """The token proves nothing; the message says why, for the log only."""


class UnknownKeyError(WrongTokenError):
    """The token is signed with a key that is not among those known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What an ID token must say to be an answer to our question."""

    issuer: str
    client_id: str
    nonce: str
    access_token: str | None


def read_keys(document: Mapping[str, Any]) -> KeySet:
    """The keys with which a provider signs; those of other kinds, and weak ones, are left out."""
    given: Any = document.get("keys")
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    return KeySet([key for item in listed if (key := _key(item)) is not None])


def read_id_token(token: str, keys: KeySet, expected: Expected, *, clock: Clock) -> dict[str, Any]:
    """The claims of an ID token whose signature and claims are right."""
    try:
        with _without_remarks():
            decoded = jwt.decode(token, keys, registry=_SIGNATURES)
        registry = jwt.JWTClaimsRegistry(
            now=int(clock().timestamp()),
            leeway=LEEWAY,
            iss={"essential": True, "value": expected.issuer},
            aud={"essential": True, "value": expected.client_id},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        registry.validate(decoded.claims)
    except InvalidKeyIdError as error:
        raise UnknownKeyError(str(error)) from error
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise WrongTokenError(f"{type(error).__name__}: {error}") from error
    claims = decoded.claims
    _check_nonce(claims, expected)
    _check_authorized_party(claims, expected)
    _check_access_token(claims, expected, str(decoded.header["alg"]))
    if len(claims["sub"]) > _MAX_SUBJECT:
        raise WrongTokenError("sub is too long")
    return claims


def _check_nonce(claims: Mapping[str, Any], expected: Expected) -> None:
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise WrongTokenError("nonce is not ours")


def _check_authorized_party(claims: Mapping[str, Any], expected: Expected) -> None:
    audience = claims["aud"]
    several = isinstance(audience, list) and audience != [expected.client_id]
    party = claims.get("azp")
    if (several or party is not None) and party != expected.client_id:
        raise WrongTokenError("azp is not ours")


def _check_access_token(claims: Mapping[str, Any], expected: Expected, algorithm: str) -> None:
    given = claims.get("at_hash")
    if given is None:
        return
    digest = _HASHES[algorithm]((expected.access_token or "").encode()).digest()
    if expected.access_token is None or given != url_base64(digest[: len(digest) // 2]):
        raise WrongTokenError("at_hash does not fit the access token")


def _key(item: Any) -> Key | None:  # noqa: ANN401 -- whatever a provider lists
    if not isinstance(item, dict):
        return None
    values = cast("dict[str, Any]", item)
    if values.get("kty") not in _KEY_TYPES or values.get("use", "sig") != "sig":
        return None
    try:
        with _without_remarks():
            key = JWKRegistry.import_key(values)
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    weak = isinstance(key, RSAKey) and key.public_key.key_size < _LEAST_RSA_BITS
    return None if weak else key


def _without_remarks() -> AbstractContextManager[object]:
    """Short RSA keys are left out here, and the old name of Ed25519 is what most providers use."""
    return warnings.catch_warnings(action="ignore", category=SecurityWarning)
