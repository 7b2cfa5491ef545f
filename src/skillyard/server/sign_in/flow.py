"""One attempt to sign in at an identity provider, kept by the browser that makes it."""

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from typing import Final, Self

from skillyard.server.sign_in.origins import SIGN_IN

CALLBACK: Final = f"{SIGN_IN}/callback"
"""Where the identity provider sends people back to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flow:
    """Everything that must match in the end follows from one secret, which only the browser that began it has.

    So any server process can finish it, and whoever learns of the answer elsewhere can do nothing with it.
    """

    secret: str = field(repr=False)
    base_url: str
    """The address of this server as that browser knows it."""
    then: str
    """Where to go in the end."""

    @classmethod
    def begin(cls, *, base_url: str, then: str) -> Self:
        return cls(secret=secrets.token_urlsafe(32), base_url=base_url, then=then)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The flow in a cookie, or None if there is none in it."""
        try:
            values: object = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (ValueError, RecursionError):
            return None
        match values:
            case [str(secret), str(base_url), str(then)] if secret.isascii() and base_url.isascii():
                return cls(secret=secret, base_url=base_url, then=then)
            case _:
                return None

    def write(self) -> str:
        text = json.dumps([self.secret, self.base_url, self.then])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @property
    def redirect_url(self) -> str:
        return self.base_url + CALLBACK

    @property
    def secure(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def state(self) -> str:
        return self._derived("state")

    @property
    def nonce(self) -> str:
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        return url_base64(hashlib.sha256(self.verifier.encode()).digest())

    def _derived(self, purpose: str) -> str:
        return url_base64(hmac.new(self.secret.encode(), purpose.encode(), hashlib.sha256).digest())


def url_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
