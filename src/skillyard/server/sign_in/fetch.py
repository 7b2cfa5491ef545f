"""Asking an identity provider: bounded in time and size, and never led elsewhere."""

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx

from skillyard.errors import UnavailableError
from skillyard.server.guard import is_loopback

MAX_BYTES: Final = 512 * 1024
SECONDS: Final = 10.0
"""For one question, from connecting to the last byte."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    status: int
    document: dict[str, Any]

    @property
    def good(self) -> bool:
        return self.status == 200  # noqa: PLR2004 -- OK


async def ask(url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None) -> Reply:
    """The JSON object at an address, or the answer to a form sent there."""
    # What is on this machine is asked directly, whatever proxy the environment names.
    direct = is_loopback(urlsplit(url).hostname or "")
    given = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "skillyard", **(headers or {})}
    try:
        async with (
            asyncio.timeout(SECONDS),
            httpx.AsyncClient(timeout=SECONDS, trust_env=not direct, verify=_trusted()) as client,
            client.stream("GET" if form is None else "POST", url, data=form, headers=given) as response,
        ):
            body = await _body(response)
            return Reply(status=response.status_code, document=_document(body))
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError) as error:
        raise unusable(f"{url}: {type(error).__name__} {error}") from error


def unusable(reason: str) -> UnavailableError:
    """What people are told when a provider fails; the reason is for the log."""
    _log.warning("The identity provider cannot be used: %s", reason)
    return UnavailableError(
        "The identity provider does not answer as it should.", hint="Try again in a minute, or sign in with a token."
    )


async def _body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
    return bytes(body)


def _document(body: bytes) -> dict[str, Any]:
    try:
        document: object = json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 -- it is the content that is wrong
    return cast("dict[str, Any]", document)


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()
