"""Who gets a canary: a share of the sandboxes, the same ones every time."""

from hashlib import sha256
from typing import Final

_PARTS: Final = 2**64


def takes_canary(sandbox_id: str, release_id: str, percent: int) -> bool:
    """Whether a sandbox is among the given percent that get this release.

    It depends on the two ids alone, so that a sandbox keeps what it got; who gets one canary says nothing of the next;
    and whoever has it at some percent has it at more.
    """
    digest = sha256(f"{release_id}\0{sandbox_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") * 100 < percent * _PARTS
