"""What the guest and the host say to each other: frames on one stream, many channels."""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

VERSION = 1

HEADER = struct.Struct("!IBBI")
"""Length of the payload, kind, stream, channel."""
MAX_DATA = 64 * 1024
"""The most in one piece of a stream."""
MAX_DOCUMENT = 64 * 1024
"""The most in a document that the guest sends; larger things are streams."""
MAX_REQUEST = 16 * 1024 * 1024
WINDOW = 256 * 1024
"""So much may be on its way in each direction of a channel; what was taken is given back by `CREDIT`."""
CREDIT_SIZE = struct.Struct("!I")

HELLO = 1
"""The guest's first word."""
REQUEST = 2
"""From the host: opens a channel."""
DATA = 3
END = 4
"""No more data in this direction."""
RESULT = 5
"""From the guest: the answer to a request, and its last frame on that channel."""
CANCEL = 6
"""From the host: the answer is not wanted any more; one comes all the same."""
CREDIT = 7
OPEN = 8
"""From the guest: something inside connected to the proxy. Such channels have the highest bit set."""
CLOSE = 9
"""The last frame of a side on such a channel."""

FIRST_CONNECTION = 1 << 31
MAX_CONNECTIONS = 128
"""At once."""

OUT = 1
ERR = 2
EXTRA = 3


class FrameError(Exception):
    """What came is no frame."""


class Frame(NamedTuple):
    kind: int
    stream: int
    channel: int
    payload: bytes

    def document(self) -> dict[str, Any]:
        """The payload of a frame that carries a JSON object."""
        try:
            value = json.loads(self.payload)
        except (ValueError, RecursionError):
            raise FrameError("a document is not JSON") from None
        if not isinstance(value, dict):
            raise FrameError("a document is not an object")
        return value  # pyright: ignore[reportUnknownVariableType] - its values are checked where they are used


def pack(kind: int, channel: int, payload: bytes = b"", stream: int = 0) -> bytes:
    return HEADER.pack(len(payload), kind, stream, channel) + payload


def pack_document(kind: int, channel: int, document: dict[str, Any]) -> bytes:
    return pack(kind, channel, json.dumps(document, separators=(",", ":")).encode())


def pack_credit(channel: int, size: int) -> bytes:
    return pack(CREDIT, channel, CREDIT_SIZE.pack(size))


def unpack_credit(payload: bytes) -> int:
    if len(payload) != CREDIT_SIZE.size:
        raise FrameError("a credit has the wrong size")
    return int(CREDIT_SIZE.unpack(payload)[0])


class Parser:
    """Finds the frames in what comes in, and keeps no more than one that is not whole yet."""

    def __init__(self, max_payload: int) -> None:
        self._max_payload = max_payload
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        buffer = self._buffer
        buffer += data
        frames: list[Frame] = []
        at = 0
        while len(buffer) - at >= HEADER.size:
            length, kind, stream, channel = HEADER.unpack_from(buffer, at)
            if length > self._max_payload:
                raise FrameError(f"a frame of {length} bytes is too long")
            end = at + HEADER.size + length
            if end > len(buffer):
                break
            frames.append(Frame(kind, stream, channel, bytes(buffer[at + HEADER.size : end])))
            at = end
        del buffer[:at]
        return frames
