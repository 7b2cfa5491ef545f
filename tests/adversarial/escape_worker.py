"""A server with sandboxes, as a process of its own that can be run as another user, and killed.

`prove BACKEND FOLDER` makes every escape attempt and prints what came of them and what is claimed.
`hold BACKEND FOLDER` starts a sandbox in which things run, prints their process ids, and waits.
"""

import asyncio
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from skillyard.sandbox.backends import Backends, BackendSettings
from skillyard.sandbox.escapes.probe_table import PROBES
from skillyard.sandbox.escapes.probes import prove
from skillyard.sandbox.local.processes import descendants
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Command

DAEMON = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(1000)
    os.wait()
print("running", flush=True)
time.sleep(1000)
"""


def tell(**fact):
    print(json.dumps(fact), flush=True)  # noqa: T201 -- that is how it tells


async def hold(backend):
    session = await backend.start(Place(sandbox_id="held", cargo_id="held"))
    running = asyncio.Event()
    commands = [
        session.run(Command(argv=["python3", "-c", DAEMON], timeout=1000), on_output=lambda *_: running.set()),
        session.python("import time; time.sleep(1000)", seconds=1000),
    ]
    tasks = [asyncio.create_task(command) for command in commands]
    await running.wait()
    tell(pids=descendants(os.getpid()))
    await asyncio.gather(*tasks)


async def main(task, name, folder):
    backends = Backends(BackendSettings(folder=folder, backend=name))
    backend = backends.get(name)
    offered = await backend.capabilities()
    if not offered.available:
        tell(unavailable=f"{offered.reason} {offered.fix}")
    elif task == "prove":
        results = await prove(backend, PROBES)
        await backends.close()
        tell(enforced=sorted(offered.enforced), results=[asdict(result) for result in results])
    else:
        await hold(backend)


asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
