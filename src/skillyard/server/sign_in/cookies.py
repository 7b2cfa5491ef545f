"""The cookies of a browser that is signed in, or about to be."""

from collections.abc import Iterator
from typing import Final

from fastapi import Response

from skillyard.identity.sessions import LONGEST
from skillyard.server.asgi import Scope

_SESSION: Final = ("__Host-skillyard", "skillyard_session")
_FLOW: Final = ("__Host-skillyard-flow", "skillyard_flow")
"""The name over https, which no neighbouring host can set, and the one over http."""
_FLOW_SECONDS: Final = 600
_MAX_VALUE: Final = 2048


def session_secret(scope: Scope) -> str | None:
    """What the session's cookie holds."""
    return _value(scope, _SESSION)


def flow_text(scope: Scope) -> str | None:
    """What the cookie of a sign-in under way holds."""
    return _value(scope, _FLOW)


def set_session(answer: Response, secret: str, *, secure: bool) -> None:
    _set(answer, _SESSION, secret, secure=secure, seconds=int(LONGEST.total_seconds()))


def set_flow(answer: Response, text: str, *, secure: bool) -> None:
    _set(answer, _FLOW, text, secure=secure, seconds=_FLOW_SECONDS)


def forget_session(answer: Response) -> None:
    _forget(answer, _SESSION)


def forget_flow(answer: Response) -> None:
    _forget(answer, _FLOW)


def _value(scope: Scope, names: tuple[str, str]) -> str | None:
    protected, plain = names
    given = list(_cookies(scope))
    values = {value for name, value in given if name == protected}
    if not values and scope["scheme"] != "https":
        values = {value for name, value in given if name == plain}
    # Two are one of ours and one that a neighbouring host has set, and nobody can tell which is which.
    value = values.pop() if len(values) == 1 else ""
    return value if 0 < len(value) <= _MAX_VALUE else None


def _cookies(scope: Scope) -> Iterator[tuple[str, str]]:
    for name, line in scope["headers"]:
        if name == b"cookie":
            for part in line.decode("latin-1").split(";"):
                key, _, value = part.strip().partition("=")
                yield key, value


def _set(answer: Response, names: tuple[str, str], value: str, *, secure: bool, seconds: int) -> None:
    name = names[0] if secure else names[1]
    # Lax, not strict: an identity provider leads back here, and so may a link in a message.
    answer.set_cookie(name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")


def _forget(answer: Response, names: tuple[str, str]) -> None:
    for name, secure in zip(names, (True, False), strict=True):
        answer.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="lax")
