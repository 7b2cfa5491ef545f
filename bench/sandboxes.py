"""What sandboxes cost beside bare processes, bare bubblewrap and bare Docker: starts, runs, Python, skills and files.

`python bench/sandboxes.py` runs everything on this machine; what cannot be had here is left out and said.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import deliveries
import pythons
import starts
import transfers
from boxes import Ground, memory, open_ground
from results import write_part

Part: TypeAlias = Callable[[Ground], Awaitable[str]]

REPORT = """## Sandboxes

By the clock, in one process, one after another; all subjects of a table take turns in every round, and the first round
is not counted. Ratios are of medians. {absent}Docker is podman's API on this machine, with an image of its own files.
Workspaces and containers are on {where}, since the plain loop that writes 450
files took anything from 20 to 650 ms on ext4 beside other work; the database is on a disk.

{load}

### Starting

On a cargo that is there, until the guest answers; "start, `true`, end" is all that a bare line does. The hardened line
has what a sandbox has: a user of its own, limits, no rights, the same view and the same filter of system calls.

{starting}

### Running a program

In a sandbox that runs; the aim is at most 1.5 times the bare line, which makes a new sandbox each time.

{running}

### Calling Python

Code that adds one to what it remembers and answers with it; the aim is at most 1 ms in process. The bare worker reads
lines of JSON from a pipe, runs them and answers by such a line. With a record, the run is in SQLite, synced, before the
answer.

{pythons}

### Delivering skills

{skills} generated skills of {files} files each, to a sandbox that runs; verified by digest. The aim for unchanged ones
is 10 ms. "By hand" is a loop of this process over a folder of its own, without isolation.

{delivering}

On Docker, the aim is ten times faster than file by file. The two last ways are measured with some of the files, and
multiplied. `write_file` goes over the stream of the session, which is our own: no container is asked anew for a file.

{containers}

### Files and output

A file of 1 MB of noise; a million numbered lines, all of them kept. Python in a sandbox flushes every line, so that
each is seen at once.

{transfers}
"""


def load_of(before: tuple[float, ...]) -> str:
    after = os.getloadavg()
    cores = os.cpu_count() or 1
    busy = before[0] > cores / 2
    said = f"The load was {before[0]:.1f} before the run and {after[0]:.1f} at its end, on {cores} cores"
    return f"{said}: other work was under way, which adds to every figure." if busy else f"{said}."


async def run(options: argparse.Namespace, scratch: Path, disk: Path) -> dict[str, str]:
    rounds = 2 if options.quick else 5
    parts: dict[str, Part] = {
        "starting": lambda ground: starts.starting(ground, rounds=rounds),
        "running": lambda ground: starts.running(ground, rounds=rounds),
        "pythons": lambda ground: pythons.compare(ground, rounds=rounds),
        "delivering": lambda ground: deliveries.delivering(ground, rounds=rounds),
        "containers": lambda ground: deliveries.into_containers(ground, rounds=rounds),
        "transfers": lambda ground: transfers.compare(ground, rounds=rounds),
    }
    done: dict[str, str] = {}
    async with open_ground(scratch, disk) as ground:
        for name, part in parts.items():
            if options.only in {None, name}:
                done[name] = await part(ground)
                print(done[name], end="\n\n", flush=True)
        done["absent"] = "".join(f"Not here: {name} ({reason}). " for name, reason in ground.absent.items())
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--only", choices=("starting", "running", "pythons", "delivering", "containers", "transfers"))
    options = parser.parse_args()
    before = os.getloadavg()
    prefix = "skillyard-bench-"
    with (
        tempfile.TemporaryDirectory(prefix=prefix) as disk,
        tempfile.TemporaryDirectory(prefix=prefix, dir=memory()) as scratch,
    ):
        done = asyncio.run(run(options, Path(scratch), Path(disk)))
    load = load_of(before)
    print(load)
    if options.write:
        if options.only or options.quick:
            sys.exit("Only a whole run is written down.")
        amounts = {"skills": str(deliveries.SKILLS), "files": str(deliveries.FILES)}
        write_part(
            options.write,
            "sandboxes",
            REPORT.format(**done, **amounts, load=load, where="a file system in memory" if memory() else "a disk"),
        )


if __name__ == "__main__":
    main()
