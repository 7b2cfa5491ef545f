"""How bytes are named, and what is wrong when a name does not lead to its bytes."""

import hashlib
import re
from typing import ClassVar, Final

from skillyard.errors import InputError, SkillyardError, instead_of

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_TELL: Final = "Tell the person who runs the server: `skillyard doctor --deep` lists all that is damaged."
_KEY: Final = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})")


class BlobError(SkillyardError):
    """The bytes that a row refers to cannot be read. Their location goes to the log, not to callers."""

    def _public(self, what: str) -> SkillyardError:
        sha256 = self.details["sha256"]
        return SkillyardError(f"The blob {sha256} {what}.", hint=_TELL, details={"sha256": sha256})


class BlobMissingError(BlobError):
    """Bytes that a row names are not in the store."""

    code: ClassVar[str] = "blob_missing"

    def __init__(self, sha256: str, place: str) -> None:
        super().__init__(
            f"The blob {sha256} is not in {place}.",
            hint="Check SKILLYARD_BLOBS_URL, or bring the blob back from a backup of that store.",
            details={"sha256": sha256, "store": place},
        )

    def as_public_dict(self) -> dict[str, object]:
        return instead_of(self, self._public("is not in the store"))


class BlobCorruptError(BlobError):
    """Bytes in the store are no longer those that were put there."""

    code: ClassVar[str] = "blob_corrupt"

    def __init__(self, sha256: str, place: str, found: str) -> None:
        super().__init__(
            f"The blob {sha256} in {place} has changed: its bytes are now {found}.",
            hint="Check the disk, then bring the blob back from a backup, or remove it and store its content again.",
            details={"sha256": sha256, "store": place, "found": found},
        )

    def as_public_dict(self) -> dict[str, object]:
        return instead_of(self, self._public("is damaged"))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def blob_key(sha256: str) -> str:
    """Where a blob is kept below its store: `ab/cdef…`, so that no folder grows large."""
    if not _SHA256.fullmatch(sha256):
        raise InputError(
            f"{sha256!r} is no SHA-256.",
            hint="Give 64 lower-case hexadecimal digits.",
            details={"field": "sha256", "value": sha256},
        )
    return f"{sha256[:2]}/{sha256[2:]}"


def key_sha256(key: str) -> str | None:
    """The blob that is kept there; nothing when it is something else's place."""
    found = _KEY.fullmatch(key)
    return found[1] + found[2] if found else None


def verified(data: bytes, sha256: str, place: str) -> bytes:
    """The same bytes, once they are known to be those of that name."""
    found = digest(data)
    if found != sha256:
        raise BlobCorruptError(sha256, place, found)
    return data
