"""The program on a computer-use server that keeps the guest and passes its stream on, as files in and answers out.

Sent there and run by its path: standard library only, for Python 3.8 and later, and nothing of Skillyard is there.
`serve` holds the guest. What it is to hear comes as numbered files, for any server can write a file; what it says is
asked for on a socket, from an offset on, so that an answer that got lost is asked for again.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, NamedTuple

KEPT = 1024 * 1024
"""So much of what the guest said is kept until it was fetched; then the guest must wait."""
ANSWER = 192 * 1024
"""The most in one answer: what a server makes of it, base64 in JSON, stays below what clients take."""
BUSY_TICK, IDLE_TICK, BUSY = 0.004, 0.05, 5.0
LEASE = 120.0
"""Nobody asked for so long: the server that started this is gone, and so must everything here be."""


class Asker(NamedTuple):
    """Somebody who waits for what the guest says next."""

    client: socket.socket
    until: float


class Relay:
    """Holds the guest and its stream."""

    def __init__(self, folder: Path) -> None:
        start: dict[str, Any] = json.loads((folder / "guest.json").read_text(encoding="utf-8"))
        hear, guest_says = os.pipe()
        guest_hears, say = os.pipe()
        self._guest = subprocess.Popen(
            start["argv"], stdin=guest_hears, stdout=guest_says, env=start["environment"], cwd=start["workspace"]
        )
        os.close(guest_hears)
        os.close(guest_says)
        os.set_blocking(say, False)
        self._say = say
        self._hear = hear
        self._inbox = folder / "in"
        self._number = 0
        self._sending = b""
        self._said = b""
        self._offset = 0
        self._ended = False
        self._askers: list[Asker] = []
        self._listening = socket.socket(socket.AF_UNIX)
        os.chdir(str(folder))
        self._listening.bind("socket")  # the whole path may be longer than such names can be
        self._listening.listen(16)
        self._asked = self._active = time.monotonic()

    def run(self) -> None:
        """Pass on until nobody asks any more."""
        selector = selectors.DefaultSelector()
        selector.register(self._listening, selectors.EVENT_READ, self._accept)
        while time.monotonic() - self._asked < LEASE:
            if not self._ended and len(self._said) < KEPT:
                selector.register(self._hear, selectors.EVENT_READ, self._listen)
            busy = time.monotonic() - self._active < BUSY
            for key, _ in selector.select(BUSY_TICK if busy else IDLE_TICK):
                key.data()
            with contextlib.suppress(KeyError):
                selector.unregister(self._hear)
            self._tell()
            self._answer()
        self._guest.kill()

    def _listen(self) -> None:
        data = os.read(self._hear, 65536)
        self._said += data
        self._ended = not data
        self._active = time.monotonic()

    def _tell(self) -> None:
        if not self._sending:
            self._sending = self._take()
        if not self._sending:
            return
        self._active = time.monotonic()
        try:
            self._sending = self._sending[os.write(self._say, self._sending) :]
        except BlockingIOError:
            pass
        except OSError:
            self._sending = b""  # the guest has ended, which is told

    def _take(self) -> bytes:
        """What comes next for the guest, once its file is whole: it ends with a dot."""
        file = self._inbox / str(self._number)
        try:
            text = file.read_bytes().strip()
        except OSError:
            return b""
        if not text.endswith(b"."):
            return b""
        file.unlink()
        self._number += 1
        return base64.urlsafe_b64decode(text[:-1])

    def _accept(self) -> None:
        client, _ = self._listening.accept()
        client.settimeout(2)
        try:
            offset, seconds = client.recv(100).split()
            fetched = min(max(int(offset) - self._offset, 0), len(self._said))
            wait = float(seconds)
        except (OSError, ValueError):
            client.close()
            return
        self._asked = self._active = time.monotonic()
        self._said = self._said[fetched:]
        self._offset += fetched
        self._askers.append(Asker(client, self._asked + wait))

    def _answer(self) -> None:
        askers, self._askers = self._askers, []
        for asker in askers:
            if not self._said and not self._ended and time.monotonic() < asker.until:
                self._askers.append(asker)
                continue
            data = self._said[:ANSWER]
            ended = self._ended and len(data) == len(self._said)
            with contextlib.suppress(OSError):
                asker.client.sendall(b"%d:%d:%s" % (self._offset, ended, base64.urlsafe_b64encode(data)))
            asker.client.close()


def serve(folder: Path) -> None:
    """Leave a process behind that holds the guest, and return when it can be asked."""
    (folder / "guest.zip").write_bytes(base64.urlsafe_b64decode((folder / "guest.b64").read_bytes().strip()))
    ready, tell = os.pipe()
    if os.fork():
        os.close(tell)
        started = os.read(ready, 1)
        sys.stdout.write("SKILLYARD:R:END\n" if started else (folder / "log").read_text(errors="replace"))
        return
    os.close(ready)
    os.setsid()
    log = os.open(str(folder / "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, log, log)):
        os.dup2(source, target)
    relay = Relay(folder)
    os.write(tell, b"R")
    os.close(tell)
    relay.run()


def pack(folder: Path, workspace: str) -> None:
    """Make one file of the workspace; says how large it is."""
    file = folder / "cargo"
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        archive.add(workspace, ".")
    sys.stdout.write(f"SKILLYARD:{file.stat().st_size}:END\n")


def fetch(folder: Path, offset: str) -> None:
    """A piece of that file."""
    with (folder / "cargo").open("rb") as file:
        file.seek(int(offset))
        sys.stdout.write(f"SKILLYARD:{base64.urlsafe_b64encode(file.read(ANSWER)).decode()}:END\n")


def unpack(folder: Path, workspace: str, pieces: str) -> None:
    """Fill the workspace with a file that was made by `pack` and came in pieces."""
    with (folder / "cargo").open("w+b") as file:
        for number in range(int(pieces)):
            piece = folder / f"cargo.{number}"
            file.write(base64.urlsafe_b64decode(piece.read_bytes().strip()))
            piece.unlink()
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            archive.extractall(workspace)  # noqa: S202 -- it came from such a workspace, and what is here is no more
    sys.stdout.write("SKILLYARD:R:END\n")


if __name__ == "__main__":
    os.umask(0o077)
    commands = {"serve": serve, "pack": pack, "fetch": fetch, "unpack": unpack}
    commands[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
