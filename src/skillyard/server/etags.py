"""Entity tags: naming a body, and answering whether a client has it already."""

import hashlib
import re
from typing import Final

_TAG: Final = re.compile(rb'(?:W/)?("[^"]*")')
_GZIP: Final = b'-gzip"'


def etag_of(body: bytes) -> bytes:
    return b'"%s"' % hashlib.sha256(body).hexdigest().encode()


def gzip_etag(etag: bytes) -> bytes:
    """The tag of the compressed form of a body: other bytes, so another name."""
    return etag[:-1] + _GZIP


def without_gzip(tags: bytes) -> bytes:
    """Tags as the application gave them, whichever form the client was sent."""
    return tags.replace(_GZIP, b'"')


def is_known(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match header names this tag; weak and strong count alike, as RFC 9110 says."""
    if if_none_match == etag or if_none_match.strip() == b"*":
        return True
    return etag.removeprefix(b"W/") in _TAG.findall(if_none_match)
