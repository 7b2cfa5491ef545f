"""Which user of this machine a connection comes from."""

import os
import socket
import struct
from collections.abc import Collection, Iterator
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from skillyard.server.guard import is_loopback

Address: TypeAlias = tuple[str, int]

_TABLES: Final = ("tcp", "tcp6")
_PROC: Final = Path("/proc/net")
_MAPPED: Final = b"\0" * 10 + b"\xff\xff"
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9


class Peer(Enum):
    OWN = "own"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"
    """The system cannot tell: it has no such table, or the connection comes from elsewhere."""


def own_uids() -> frozenset[int]:
    """Who counts as the person at this machine.

    The superuser does: it can read our files and memory anyway, and refusing it would only break `sudo`.
    """
    if not hasattr(os, "geteuid"):
        return frozenset()
    return frozenset({os.geteuid(), 0})


def whose(client: Address, server: Address, *, uids: Collection[int], proc: Path = _PROC) -> Peer:
    """Whose connection from `client` to `server` is, by the kernel's table of sockets."""
    if not is_loopback(client[0]):
        return Peer.UNKNOWN
    here, there = _spellings(client), _spellings(server)
    told = False
    for local, remote, uid, inode in _sockets(proc):
        if local in here and remote in there:
            # A socket that its process has closed belongs to nobody, which the table writes as user 0.
            return Peer.OWN if inode and uid in uids else Peer.FOREIGN
        told = told or (local in there and remote in here)
    # Our own end is in a table that tells the truth; the other end is missing only when it is gone.
    return Peer.FOREIGN if told else Peer.UNKNOWN


def _sockets(proc: Path) -> Iterator[tuple[str, str, int, int]]:
    for table in _TABLES:
        try:
            lines = (proc / table).read_text("ascii").splitlines()[1:]
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > _INODE:
                yield fields[_LOCAL], fields[_REMOTE], int(fields[_UID]), int(fields[_INODE])


def _spellings(address: Address) -> frozenset[str]:
    """An address as the tables write it; an IPv4 one may be in either."""
    host, port = address
    if ":" in host:
        packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
        forms = [packed, packed[12:]] if packed.startswith(_MAPPED) else [packed]
    else:
        packed = socket.inet_pton(socket.AF_INET, host)
        forms = [packed, _MAPPED + packed]
    return frozenset(f"{_hex(form)}:{port:04X}" for form in forms)


def _hex(packed: bytes) -> str:
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words)
