"""A server process with sandboxes, to be killed: each line it prints is about something that is done, or has begun.

`sandbox_worker.py HOME BACKEND MODE`: `run` starts something endless in a sandbox, `churn` makes, uses and deletes
sandboxes until it is killed.
"""

import asyncio
import json
import sys
from pathlib import Path

from skillyard.app.yard import open_yard
from skillyard.config.settings import Settings
from skillyard.sandbox.runs import Wish
from skillyard.sandbox.sandboxes import SandboxSpec

DIGITS = str.maketrans("abcdef", "123456")


def tell(**fact):
    print(json.dumps(fact), flush=True)  # noqa: T201 -- that is how it tells


async def endless(rooms, caller):
    made = await rooms.sandboxes.create(caller, SandboxSpec())
    await rooms.workspace.write(caller, made.id, "kept.txt", b"here")
    tell(made=made.id)

    def begun(_stream, _data):
        tell(begun=made.id)

    seconds = f"3{made.id[-4:].translate(DIGITS)}"  # by which the process is found among others
    await rooms.runs.shell(caller, made.id, f"echo begun; exec sleep {seconds}", Wish(seconds=600), on_output=begun)


async def churn(rooms, caller):
    while True:
        made = await rooms.sandboxes.create(caller, SandboxSpec())
        tell(made=made.id, cargo=made.cargo_id)
        done = await rooms.runs.shell(caller, made.id, "echo done > file; echo done")
        tell(ran=done.execution.id, sandbox=made.id)
        await rooms.sandboxes.delete(caller, made.id)
        tell(deleted=made.id)


async def main(home, backend, mode):
    async with open_yard(Settings(home=home, sandbox_backend=backend)) as yard:
        caller = await yard.access.operator("worker")
        await {"run": endless, "churn": churn}[mode](yard.sandboxes, caller)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:]))
