"""Bytes under the name of their SHA-256, in a folder or a bucket."""

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from skillyard.blobs.disk import DiskBlobs
from skillyard.errors import UsageError


class Blobs(Protocol):
    """A store whose content never changes: there is only more of it, or less.

    Putting bytes before a row names them is half of what keeps them: see `claims` for the other.
    """

    async def require_writable(self) -> None:
        """Raises `UnavailableError` if nothing can be stored now, as far as that can be checked."""
        ...

    async def put(self, data: bytes) -> str:
        """Keep bytes, durably when this returns; their SHA-256 is their name from then on."""
        ...

    async def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Keep several at once; their names in the same order."""
        ...

    async def get(self, sha256: str) -> bytes:
        """The bytes of that name, verified; `BlobMissingError` or `BlobCorruptError` if they cannot be had."""
        ...

    async def get_all(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """All of them by name, or the error of one that cannot be had."""
        ...

    async def has(self, sha256: str) -> bool: ...

    async def delete(self, sha256: str) -> None:
        """Remove a blob; one that is not there is removed already. Only `Orphans` knows when this is safe."""
        ...

    async def tidy(self, older_than: datetime) -> None:
        """Remove what writers that were killed before that moment left half done."""
        ...

    def list(self, older_than: datetime) -> AsyncIterator[str]:
        """The names of those put before that moment, in no order."""
        ...


def open_blobs(url: str) -> Blobs:
    """The store at `file:///path`, at a plain path, or at `s3://bucket/prefix`; nothing is touched yet.

    A bucket is reached as the usual `AWS_*` variables say.
    """
    if "://" not in url and url:
        return DiskBlobs(Path(url).expanduser())
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme == "file" and parts.netloc in {"", "localhost"} and parts.path.strip("/"):
        return DiskBlobs(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        from skillyard.blobs.s3 import S3Blobs  # noqa: PLC0415 -- obstore takes 50 ms that a folder needs not wait for

        return S3Blobs(parts.netloc, parts.path.strip("/"))
    raise UsageError(
        f"{url!r} names no store of blobs.",
        hint="Set SKILLYARD_BLOBS_URL to a folder, file:///path/to/folder or s3://bucket/prefix.",
        details={"field": "blobs_url", "value": url},
    )
