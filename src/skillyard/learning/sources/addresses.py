"""Feedback behind an address: JSON lists or JSON lines, asked for by the time and id of the last that was seen."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self, cast
from urllib.parse import urlsplit

import httpx

from skillyard.errors import InputError, UnavailableError
from skillyard.learning.feedback_items import load_json, time_of
from skillyard.learning.sources.place_fields import Fields
from skillyard.learning.sources.readers import Page, Position, renamed
from skillyard.learning.sources.secret_names import filled_in, require_named, require_no_secret, require_safe_headers

OVERLAP: Final = 3600
"""Seconds before the last that was seen from which it is read again."""
SECONDS: Final = 30.0
MAX_BYTES: Final = 20 * 1024 * 1024
MAX_PAGES: Final = 200
_OK: Final = 200
_HERE: Final = ("localhost", "127.0.0.1", "::1")
_IDS: Final = ("event_id", "id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """How an address is asked."""

    url: str
    headers: Mapping[str, str]
    fields: Mapping[str, str]
    """Our name for each part of feedback, and theirs."""
    since: str
    """The parameter for the time from which on feedback is wanted."""
    after: str
    """The parameter for the id of the last that was seen then."""
    overlap: timedelta

    @classmethod
    def read(cls, place: Mapping[str, Any]) -> Self:
        """The address that somebody gave, once it is looked over."""
        given = Fields(place, known=("url", "headers", "fields", "since", "after", "overlap_seconds"))
        headers = given.texts("headers")
        url = given.text("url")
        require_safe_headers(headers)
        require_named("place.url", url)
        _require_address(url)
        return cls(
            url=url,
            headers=headers,
            fields=given.mapping(),
            since=given.text("since", "since"),
            after=given.text("after", "after"),
            overlap=timedelta(seconds=given.number("overlap_seconds", OVERLAP)),
        )


class AddressReader:
    """Asks an address, oldest first: each page goes on where the one before it ended."""

    def __init__(self, address: Address) -> None:
        self._address = address

    async def pages(self, position: Position | None) -> AsyncIterator[Page]:
        newest = time_of(position["time"]) if position and position.get("time") else None
        asked: dict[str, str] = {}
        if newest is not None:
            asked[self._address.since] = (newest - self._address.overlap).isoformat()
        seen: set[bytes] = set()
        for _ in range(MAX_PAGES):
            items = await self._ask(asked)
            fresh = [item for item in items if (key := _digest(item)) not in seen and not seen.add(key)]
            if not fresh:
                return
            last = _last(fresh)
            newest = max(filter(None, (newest, last and last[0])), default=None)
            yield Page(items=fresh, position={"time": newest and newest.isoformat()})
            following = {} if last is None else self._following(*last)
            if not following or following == asked:
                return
            asked = following

    def _following(self, moment: datetime, key: str) -> dict[str, str]:
        asked = {self._address.since: moment.isoformat()}
        return asked | ({self._address.after: key} if key else {})

    async def _ask(self, asked: Mapping[str, str]) -> list[Any]:
        headers = {name: filled_in(value) for name, value in self._address.headers.items()}
        try:
            url = httpx.URL(filled_in(self._address.url)).copy_merge_params(dict(asked))
            # What is on this machine is asked directly, whatever proxy the environment names.
            async with (
                asyncio.timeout(SECONDS),
                httpx.AsyncClient(timeout=SECONDS, trust_env=url.host not in _HERE) as client,
                client.stream("GET", url, headers={"Accept": "application/json", **headers}) as response,
            ):
                body = await _body(response)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise _silent(str(error) or type(error).__name__) from error
        return [self._named(item) for item in _items(body)]

    def _named(self, item: object) -> Any:  # noqa: ANN401 -- whatever came
        if not isinstance(item, dict):
            return item
        given = cast("dict[str, Any]", item)
        named = next((given[name] for name in _IDS if given.get(name) is not None), None)
        plain = {**given, "event_id": named} if named is not None else given
        return {**plain, **renamed(given, self._address.fields)}


def _digest(item: object) -> bytes:
    return hashlib.sha256(repr(item).encode("utf-8", "surrogatepass")).digest()


def _items(body: str) -> list[Any]:
    if body.lstrip().startswith("["):
        try:
            return load_json(body)
        except ValueError as error:
            raise _silent(f"its answer is no JSON ({error})") from error
    items: list[Any] = []
    for line in body.split("\n"):
        if line.strip():
            try:
                items.append(load_json(line))
            except ValueError:
                items.append(line)
    return items


def _last(items: list[Any]) -> tuple[datetime, str] | None:
    """The newest of some, by time and id; what has no time that can be read counts for nothing."""
    found: list[tuple[datetime, str]] = []
    for item in items:
        given = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        try:
            moment = time_of(given.get("time"))
        except InputError:
            continue
        if moment is not None:
            found.append((moment, str(given.get("event_id") or "")))
    if not found:
        return None
    latest = max(moment for moment, _ in found)
    return next(each for each in reversed(found) if each[0] == latest)  # ids need not be in order


async def _body(response: httpx.Response) -> str:
    if response.status_code != _OK:
        raise _silent(f"it answered with the status {response.status_code}")
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            raise _silent(f"its answer has more than {MAX_BYTES:,} bytes")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _silent("its answer is no UTF-8") from error


def _silent(reason: str) -> UnavailableError:
    return UnavailableError(f"The address could not be read: {reason}.", hint="It is tried again later.")


def _require_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        parts, good = None, False
    if not good or parts is None:
        raise InputError(
            f"place.url: {url[:200]!r} is no address.",
            hint="Write https://example.org/feedback.",
            details={"field": "place.url", "value": url[:200]},
        )
    require_no_secret("place.url", parts.password)
