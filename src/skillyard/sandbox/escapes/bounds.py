"""Attempts to have more than is allowed."""

# ruff: noqa: PTH102, PTH108, PTH110, PTH118, PTH123 (plain calls, one for each thing that is tried)
from __future__ import annotations

import contextlib
import mmap
import os
import signal
import time

from skillyard.sandbox.escapes.ground import SECONDS, world


def processes() -> str:
    """More processes than allowed, each of which ends by itself."""
    children: list[int] = []
    try:
        for _ in range(world["processes"] + 1):
            child = os.fork()
            if not child:
                time.sleep(SECONDS)
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    return f"{len(children)} processes"


def memory() -> str:
    return f"{len(b'x' * (world['memory'] + world['memory'] // 2))} bytes"


def memory_together() -> str:
    """Memory that each process could have, in four of them; shared, so that no limit of one process counts it."""
    shared = mmap.mmap(-1, 4)
    children: list[int] = []
    for number in range(4):
        child = os.fork()
        if not child:
            held = b"x" * (world["memory"] // 2)
            shared[number] = len(held) > 0
            time.sleep(SECONDS)
            os._exit(0)
        children.append(child)
    try:
        while all(os.waitpid(child, os.WNOHANG) == (0, 0) for child in children):
            if all(shared[:4]):
                return "held"
            time.sleep(0.01)
    finally:
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
    return ""


def file_size() -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with open("large", "wb") as file:
            file.seek(world["file_bytes"])
            file.write(b"x")
    finally:
        os.unlink("large")
    return "written"


def _fill(folder: str, size: int) -> str:
    paths = [os.path.join(folder, f"fill-{number}") for number in range(8)]
    try:
        for path in paths:
            with open(path, "wb") as file:
                file.write(bytes(size // 4))
        time.sleep(world["patience"])
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
    return "filled"


def disk() -> str:
    return _fill(".", world["disk"])


def disk_in_removed_files() -> str:
    for number in range(8):
        held = os.open(f"removed-{number}", os.O_CREAT | os.O_WRONLY, 0o600)
        os.unlink(f"removed-{number}")
        os.write(held, bytes(world["disk"] // 4))
    time.sleep(world["patience"])
    return "filled"


def disk_in_closed_folder() -> str:
    os.mkdir("closed")
    held = [os.open(f"closed/{number}", os.O_CREAT | os.O_WRONLY, 0o600) for number in range(8)]
    folder = os.open("closed", os.O_RDONLY)
    os.fchmod(folder, 0)
    for file in held:
        os.write(file, bytes(world["disk"] // 4))
    time.sleep(world["patience"])
    return "filled"


def temporary() -> str:
    return _fill(os.environ.get("TMPDIR", "/tmp"), world["temporary"])  # noqa: S108
