"""The way out: connections made to the proxy's port inside become channels to the host."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING

from frames import FIRST_CONNECTION, MAX_CONNECTIONS, MAX_DATA, OPEN, pack

if TYPE_CHECKING:
    from link import Link
    from loop import Loop

_BACKLOG = 1024


class Connection:
    """One connection: whatever it says goes to the host, and back."""

    def __init__(self, forwarder: Forwarder, link: Link, number: int, peer: socket.socket) -> None:
        self._forwarder = forwarder
        self._loop = forwarder.loop
        self._link = link
        self._peer = peer
        self._channel = link.open(number)
        self._waiting = b""
        self._host_ended = False
        self._peer_ended = False
        self._closed = False
        peer.setblocking(False)
        link.send(pack(OPEN, number))
        self._channel.on_data = self._from_host
        self._channel.on_end = self._end_of_host
        self._channel.on_cancel = self._end
        self._channel.on_credit = self._listen
        self._listen()

    def _listen(self) -> None:
        wants = not self._closed and not self._peer_ended and self._channel.credit > 0
        self._loop.on_readable(self._peer.fileno(), self._from_peer if wants else None)

    def _from_peer(self) -> None:
        try:
            data = self._peer.recv(min(MAX_DATA, self._channel.credit))
        except BlockingIOError:
            return
        except OSError:
            self._close()
            return
        if data:
            self._channel.send(data)
        else:
            self._peer_ended = True
            self._channel.end()
        self._listen()
        self._close_if_done()

    def _from_host(self, data: bytes) -> None:
        if not self._closed:
            self._waiting += data
            self._write()

    def _end_of_host(self) -> None:
        self._host_ended = True
        if not self._closed:
            self._write()

    def _write(self) -> None:
        try:
            sent = self._peer.send(self._waiting) if self._waiting else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close()
            return
        self._waiting = self._waiting[sent:]
        self._channel.consumed(sent)
        self._loop.on_writable(self._peer.fileno(), self._write if self._waiting else None)
        if self._host_ended and not self._waiting:
            with contextlib.suppress(OSError):
                self._peer.shutdown(socket.SHUT_WR)
            self._close_if_done()

    def _close_if_done(self) -> None:
        if self._host_ended and self._peer_ended and not self._waiting:
            self._close()

    def _end(self) -> None:
        """The host said its last word; whoever closes second is through with the channel."""
        self._close()
        self._link.forget(self._channel.number)
        self._forwarder.release()

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            fd = self._peer.detach()
            self._loop.close(fd)
            self._channel.close()


class Forwarder:
    def __init__(self, loop: Loop, link: Link, port: int) -> None:
        self.loop = loop
        self._link = link
        self._next = FIRST_CONNECTION
        self._open = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.listen(_BACKLOG)
        self._socket.setblocking(False)
        self.port = int(self._socket.getsockname()[1])
        loop.on_readable(self._socket.fileno(), self._accept)

    def release(self) -> None:
        self._open -= 1
        self.loop.on_readable(self._socket.fileno(), self._accept)

    def _accept(self) -> None:
        if self._open >= MAX_CONNECTIONS:
            self.loop.on_readable(self._socket.fileno(), None)  # others wait until one is through
            return
        try:
            peer, _ = self._socket.accept()
        except OSError:
            return
        self._open += 1
        Connection(self, self._link, self._next, peer)
        self._next = FIRST_CONNECTION + (self._next + 1 - FIRST_CONNECTION) % FIRST_CONNECTION
