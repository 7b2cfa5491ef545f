"""A process that works on a registry; each line it prints is about something that is done.

`registry_worker.py publish HOME DATABASE` makes a child for each seed that it reads, which publishes until killed;
only the first one takes the time to start. `race HOME DATABASE SEED RACERS MODE` takes part in a race in each round
that it reads.
"""

import asyncio
import json
import os
import random
import sys
from pathlib import Path

from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.registry.drafts import draft_of
from skillyard.skill.bundle import Bundle, BundleFile

WHY = Why(reason="a test asked for it")
PUBLISHERS = 6
PERSON = "worker"


def settings_for(home: str, database: str) -> Settings:
    return Settings(home=Path(home), database_url=database)


def bundle_of(name: str, words: str, *, shared: int = 0) -> Bundle:
    """A bundle whose digest follows from the words; one of its files may be in other bundles too."""
    text = f"---\nname: {name}\ndescription: Made to be published\n---\n\n{words}\n"
    return Bundle(
        [
            BundleFile("SKILL.md", text.encode()),
            BundleFile("data/own.bin", words.encode() * 50 + bytes(range(256))),
            BundleFile("data/shared.bin", b"shared %d" % shared),
            BundleFile("scripts/run.sh", b"#!/bin/sh\n", executable=True),
        ]
    )


def say(**line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def publish_without_end(yard: Yard, principal: Principal, seed: int) -> None:
    """Several publishers, each on skills of its own and on one that all of them publish."""

    async def publisher(number: int) -> None:
        choose = random.Random(seed * 1000 + number)
        for turn in range(1_000_000):
            name = choose.choice([f"own-{number}", "contested"])
            bundle = bundle_of(name, f"{seed} {number} {turn}", shared=choose.randrange(4))
            try:
                done = await yard.registry.publishing.publish_bundle(
                    principal, draft_of(bundle), version=f"{seed}.{number}.{turn}", why=WHY
                )
            except ConflictError as conflict:
                say(refused=bundle.digest, message=conflict.message)
            else:
                say(skill=done.skill.id, version=done.version.version, digest=bundle.digest)

    await asyncio.gather(*(publisher(number) for number in range(PUBLISHERS)))


async def race(yard: Yard, principal: Principal, seed: int, racers: int, mode: str) -> None:
    """Race for one version in each round that a line of input starts."""
    loop = asyncio.get_running_loop()
    say(ready=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        round_ = int(line)

        async def racer(number: int, round_: int = round_) -> None:
            words = f"round {round_}" if mode == "same" else f"round {round_} of {seed} by {number}"
            bundle = bundle_of(f"raced-{round_}", words)
            try:
                done = await yard.registry.publishing.publish_bundle(
                    principal, draft_of(bundle), version="1.0.0", why=WHY
                )
            except ConflictError:
                say(refused=bundle.digest)
            else:
                say(created=done.created, digest=bundle.digest, skill=done.skill.id)

        await asyncio.gather(*(racer(number) for number in range(racers)))
        say(done=round_)


async def work(task: str, home: str, database: str, seed: str, *more: str) -> None:
    async with open_yard(settings_for(home, database)) as yard:
        principal = await yard.access.at_this_machine(PERSON)
        if task == "publish":
            await publish_without_end(yard, principal, int(seed))
        else:
            await race(yard, principal, int(seed), int(more[0]), more[1])


def breed(home: str, database: str) -> None:
    """A child for each line; a line of output is short enough to be written whole or not at all."""
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            asyncio.run(work("publish", home, database, line.strip()))
        say(pid=child)
        _, status = os.waitpid(child, 0)
        say(killed=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


if __name__ == "__main__":
    if sys.argv[1] == "publish":
        breed(*sys.argv[2:])
    else:
        asyncio.run(work(*sys.argv[1:]))
