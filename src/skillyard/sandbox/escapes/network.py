"""Attempts on the network, and on servers of the host."""

from __future__ import annotations

import contextlib
import socket

from skillyard.sandbox.escapes.ground import NEWNET, with_rights, world

_CONNECT_SECONDS = 3.0
"""Whoever greets shares a busy machine; where the way is closed, that is said at once."""
_VSOCK, _ALG = 40, 38


def raw_socket() -> str:
    with_rights(NEWNET)
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "opened"


def packet_socket() -> str:
    with_rights(NEWNET)
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "opened"


def odd_socket() -> str:
    """Of a family that network namespaces do not hold: between virtual machines, crypto."""
    for family, kind in ((_VSOCK, socket.SOCK_STREAM), (_ALG, socket.SOCK_SEQPACKET)):
        with contextlib.suppress(OSError):
            socket.socket(family, kind).close()
            return f"family {family}"
    return ""


def _greeting(family: int, address: tuple[str, int] | str) -> str:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(address)
        return connection.recv(200).decode()


def tcp() -> str:
    return _greeting(socket.AF_INET, ("127.0.0.1", world["tcp"]))


def metadata() -> str:
    host, port = world["metadata"]
    with socket.create_connection((host, port), timeout=_CONNECT_SECONDS):
        return "connected"


def listen_outside() -> str:
    """Listen where the host can connect to."""
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))  # noqa: S104 -- closed at once
        listening.listen()
        names = {name for _, name in socket.if_nameindex()}
    return " ".join(names - {"lo"})


def udp() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(_CONNECT_SECONDS)
        datagrams.sendto(b"?", ("127.0.0.1", world["udp"]))
        return datagrams.recv(200).decode()


def unix_socket() -> str:
    return _greeting(socket.AF_UNIX, world["unix"])


def abstract_socket() -> str:
    return _greeting(socket.AF_UNIX, "\0" + world["abstract"])


def pair_to_socket() -> str:
    """A pair can be turned to another address, if it is of datagrams."""
    ours, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.sendto(b"changed", world["datagram"])
    return "sent"
