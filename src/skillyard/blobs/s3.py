"""Blobs in a bucket."""

import asyncio
import ipaddress
import os
from collections.abc import AsyncIterator, Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from skillyard.blobs.address import BlobMissingError, blob_key, digest, key_sha256, verified
from skillyard.blobs.bounded import bounded
from skillyard.errors import StoreUnavailableError, UsageError

_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_PATIENCE: Final = timedelta(seconds=20)
"""How long a request is tried again: someone is waiting for the answer."""
_PAGE: Final = 1000


class S3Blobs:
    def __init__(self, bucket: str, prefix: str) -> None:
        self.place = f"s3://{bucket}/{prefix}".rstrip("/")
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            # Not every server that speaks S3 knows how to delete many at once, and one at a time is what we do.
            config={"disable_bulk_delete": True},
            client_options={"allow_http": _allow_http()},
            retry_config={"max_retries": 5, "retry_timeout": _PATIENCE},
        )

    async def put(self, data: bytes) -> str:
        sha256 = await asyncio.to_thread(digest, data)
        key = blob_key(sha256)
        with self._reaching():
            if await self._size(key) != len(data):
                # In one request: nothing half done can be left behind, and writing the same twice does no harm.
                await obstore.put_async(self._store, key, data, use_multipart=False)
        return sha256

    async def put_all(self, contents: Iterable[bytes]) -> list[str]:
        return await bounded(self.put, contents)

    async def get(self, sha256: str) -> bytes:
        with self._reaching():
            try:
                answer = await obstore.get_async(self._store, blob_key(sha256))
            except FileNotFoundError:
                raise BlobMissingError(sha256, self.place) from None
            data = bytes(await answer.bytes_async())
        return await asyncio.to_thread(verified, data, sha256, self.place)

    async def get_all(self, hashes: Sequence[str]) -> dict[str, bytes]:
        names = list(dict.fromkeys(hashes))
        return dict(zip(names, await bounded(self.get, names), strict=True))

    async def has(self, sha256: str) -> bool:
        with self._reaching():
            return await self._size(blob_key(sha256)) is not None

    async def delete(self, sha256: str) -> None:
        with self._reaching():
            await obstore.delete_async(self._store, blob_key(sha256))

    async def require_writable(self) -> None:
        """Ask for a blob that is not there: a bucket says nothing of its space."""
        await self.has("0" * 64)

    async def tidy(self, older_than: datetime) -> None:
        """Nothing to do: an upload is one request, and it is there whole or not at all."""

    async def list(self, older_than: datetime) -> AsyncIterator[str]:
        with self._reaching():
            async for page in self._store.list(chunk_size=_PAGE):  # pyright: ignore[reportUnknownMemberType] -- Arrow's
                for found in page:
                    sha256 = key_sha256(found["path"])
                    if sha256 is not None and found["last_modified"] < older_than:
                        yield sha256

    async def _size(self, key: str) -> int | None:
        try:
            return (await obstore.head_async(self._store, key))["size"]
        except FileNotFoundError:
            return None

    @contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except (BaseError, OSError) as error:
            raise StoreUnavailableError(
                f"The store of blobs {self.place} did not answer: {str(error).partition(chr(10))[0]}",
                hint="Check SKILLYARD_BLOBS_URL, that its bucket exists, AWS_ENDPOINT_URL, AWS_REGION and the keys.",
                details={"store": self.place},
            ) from error


def _allow_http() -> bool:
    """Whether the endpoint may be spoken to in the clear: on this machine, or where someone said so."""
    name = next((name for name in _ENDPOINTS if os.environ.get(name)), "")
    endpoint = urlsplit(os.environ.get(name, ""))
    if endpoint.scheme != "http":
        return False
    if os.environ.get("AWS_ALLOW_HTTP", "").lower() in {"1", "true"} or _is_here(endpoint.hostname or ""):
        return True
    raise UsageError(
        f"{name} is {endpoint.geturl()}: what is kept there would travel unencrypted.",
        hint=f"Set {name} to an https:// address, or AWS_ALLOW_HTTP=true if the network is yours alone.",
        details={"field": name, "value": endpoint.geturl()},
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
