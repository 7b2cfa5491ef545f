"""A process that works on a registry; each line it prints is about something that is done.

`registry_worker.py publish HOME DATABASE BLOBS` reads `start SEED`, which makes a child that publishes until it is
killed, and `reap PID`, which waits for its end; all of its children print to one stream. `race HOME DATABASE BLOBS SEED
RACERS MODE` takes part in a race in each round that it reads.
"""

import asyncio
import gc
import json
import os
import random
import sys
import tempfile
from pathlib import Path

import psycopg  # noqa: F401 -- slow to import: the children find it done

from skillyard.app.yard import Yard, open_yard
from skillyard.config.settings import Settings
from skillyard.errors import ConflictError
from skillyard.history.entries import Why
from skillyard.identity.principals import Principal
from skillyard.registry.drafts import draft_of
from skillyard.skill.bundle import Bundle, BundleFile

WHY = Why(reason="a test asked for it")
PUBLISHERS = 6
KILLS_ON_A_SHELF = 10
"""So many children publish the same skills: new ones are made again and again, and old ones get new versions."""
PERSON = "worker"


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
    """Several publishers, each on a skill of its own and on one that all of them publish, in other processes too."""
    shelf = seed // KILLS_ON_A_SHELF

    async def publisher(number: int) -> None:
        choose = random.Random(seed * 1000 + number)
        for turn in range(1_000_000):
            name = choose.choice([f"own-{shelf}-{number}", f"contested-{shelf}"])
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


async def work(task: str, settings: Settings, seed: str, *more: str) -> None:
    async with open_yard(settings) as yard:
        principal = await yard.access.operator(PERSON)
        if task == "publish":
            await publish_without_end(yard, principal, int(seed))
        else:
            await race(yard, principal, int(seed), int(more[0]), more[1])


async def warm_up() -> None:
    """Do once, on another store, what is slower the first time: the children have it behind them."""
    with tempfile.TemporaryDirectory() as home:
        async with open_yard(Settings(home=Path(home), database_url=None, blobs_url=None)) as yard:
            principal = await yard.access.operator(PERSON)
            draft = draft_of(bundle_of("warm", "up"))
            await yard.registry.publishing.publish_bundle(principal, draft, version="1.0.0", why=WHY)
    gc.freeze()  # collecting in a child would copy the memory that it shares


def breed(settings: Settings) -> None:
    """Make children and bury them; a line of output is short enough to be written whole or not at all."""
    asyncio.run(warm_up())
    for line in iter(sys.stdin.readline, ""):
        order, number = line.split()
        if order == "start":
            child = os.fork()
            if child == 0:
                try:
                    asyncio.run(work("publish", settings, number))
                finally:
                    say(died=os.getpid())  # of something else than a kill
            say(started=child)
        else:
            _, status = os.waitpid(int(number), 0)
            say(reaped=int(number), signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)


def main(task: str, home: str, database: str, blobs: str, *more: str) -> None:
    settings = Settings(home=Path(home), database_url=database, blobs_url=blobs)
    if task == "publish":
        breed(settings)
    else:
        asyncio.run(work(task, settings, *more))


if __name__ == "__main__":
    main(*sys.argv[1:])
