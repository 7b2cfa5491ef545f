"""Makes the attempts that are asked for, each in a process of its own, and tells in lines of JSON how they ended."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

from skillyard.sandbox.escapes import bounds, files, kernel, network, processes
from skillyard.sandbox.escapes.ground import SECONDS, world

if TYPE_CHECKING:
    from collections.abc import Callable

_MODULES = (files, processes, kernel, network, bounds)
_LONGEST = 4000


def _attempt(name: str) -> Callable[[], str]:
    return next(getattr(module, name) for module in _MODULES if hasattr(module, name))


def _made(name: str) -> dict[str, str]:
    """One attempt: what it found, or what kept it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            answer = {"found": _attempt(name)(), "kept": ""}
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it kept the attempt
            answer = {"found": "", "kept": f"{type(error).__name__}: {error}"}
        os.write(writing, json.dumps({key: value[:_LONGEST] for key, value in answer.items()}).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    if said:
        return json.loads(said)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    # Killed by a limit it was kept; not having come to an end says nothing, which is taken as the worse.
    return {"found": "did not end" if number == signal.SIGALRM else "", "kept": f"signal {number}"}


def main(told: str) -> None:
    world.update(json.loads(told))
    for name in world["attempts"]:
        sys.stdout.write(json.dumps({"name": name, **_made(name)}) + "\n")
        sys.stdout.flush()
