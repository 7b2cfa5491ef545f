"""Reads the first message of a TLS connection, to see which host it is for."""

from dataclasses import dataclass
from typing import Final

MAX_HELLO: Final = 16 * 1024

_HANDSHAKE: Final = 0x16
_TLS: Final = 3
"""The first number of every version since SSL 3."""
_CLIENT_HELLO: Final = 1
_SERVER_NAME: Final = 0
_RECORD_HEAD: Final = 5
_MAX_RECORD: Final = 2**14
_HANDSHAKE_HEAD: Final = 4


class NotTlsError(ValueError):
    """These bytes do not begin a TLS connection."""


@dataclass(frozen=True, kw_only=True)
class ClientHello:
    """What a client says first."""

    server_name: str | None


def looks_like_tls(data: bytes) -> bool:
    """Whether a connection that begins so is meant to be TLS."""
    return data[:1] == bytes([_HANDSHAKE])


def read_client_hello(data: bytes) -> ClientHello | None:
    """The greeting at the start of these bytes, or None when more of them must come; raises `NotTlsError`."""
    message = b""
    at = 0
    while len(data) >= at + _RECORD_HEAD:
        start, length = at + _RECORD_HEAD, int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at] != _HANDSHAKE or data[at + 1] != _TLS or not 0 < length <= _MAX_RECORD:
            raise NotTlsError("a record is not one of a TLS handshake")
        message += data[start : start + length]
        if message and message[0] != _CLIENT_HELLO:
            raise NotTlsError("the first message is not a greeting")
        if len(message) >= _HANDSHAKE_HEAD:
            size = int.from_bytes(message[1:_HANDSHAKE_HEAD], "big")
            if size > MAX_HELLO:
                raise NotTlsError("the greeting is too long")
            if len(message) >= _HANDSHAKE_HEAD + size:
                return ClientHello(server_name=_server_name(message[_HANDSHAKE_HEAD : _HANDSHAKE_HEAD + size]))
        at = start + length
    return None


class _Fields:
    """Takes length-prefixed fields off a message, and never past its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __bool__(self) -> bool:
        return bool(self._data)

    def take(self, count: int) -> bytes:
        if len(self._data) < count:
            raise NotTlsError("the greeting ends too early")
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "big")

    def vector(self, width: int) -> bytes:
        return self.take(self.number(width))


def _server_name(body: bytes) -> str | None:
    hello = _Fields(body)
    hello.take(2 + 32)  # version and random
    hello.vector(1)  # session id
    hello.vector(2)  # ciphers
    hello.vector(1)  # compression
    if not hello:
        return None
    extensions = _Fields(hello.vector(2))
    names: list[str] = []
    while extensions:
        kind, data = extensions.number(2), extensions.vector(2)
        if kind == _SERVER_NAME:
            entries = _Fields(_Fields(data).vector(2))
            while entries:
                entries.take(1)  # the kind of name: there is only one
                names.append(entries.vector(2).decode("ascii", "replace"))
    if len(names) > 1:
        raise NotTlsError("the greeting names several hosts")
    return names[0] if names else None
