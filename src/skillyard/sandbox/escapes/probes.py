"""Proving what a backend contains: escape attempts in a sandbox, and the same ones outside, where they succeed."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from skillyard.errors import SandboxDiedError
from skillyard.sandbox.backend import Backend
from skillyard.sandbox.capabilities import Barrier
from skillyard.sandbox.escapes.probe_table import QUICK, Probe, Proof
from skillyard.sandbox.escapes.probe_world import LIMITS, World, planted
from skillyard.sandbox.escapes.program import program
from skillyard.sandbox.place import Place
from skillyard.sandbox.session import Command, Session

_SECONDS: Final = 60.0
_PATIENCE: Final = 40.0
"""For how long whoever fills a disk that is watched waits to be ended: at once, but where the machine is busy."""
_NOTE: Final = 200
_PYTHON: Final = ("python3", "-I", "-S", "-")


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """What came of one attempt."""

    name: str
    barrier: Barrier
    blocked: bool
    twin_succeeded: bool
    """Whether the same attempt succeeds without a sandbox: only then does being blocked say something."""
    note: str


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """How one attempt ended."""

    succeeded: bool
    note: str


_NOT_MADE: Final = _Attempt(succeeded=True, note="was not made")
"""What is not known is taken as the worse."""


async def prove(backend: Backend, probes: Sequence[Probe] = QUICK) -> tuple[ProbeResult, ...]:
    """Make the attempts in a sandbox of this backend, and beside it."""
    async with planted() as world, planted() as twin_world:
        inside, outside = await asyncio.gather(_inside(backend, world, probes), _outside(twin_world, probes))
    results: list[ProbeResult] = []
    for probe in probes:
        attempt, twin = inside.get(probe.name, _NOT_MADE), outside.get(probe.name)
        results.append(
            ProbeResult(
                name=probe.name,
                barrier=probe.barrier,
                blocked=not attempt.succeeded,
                twin_succeeded=twin is not None and twin.succeeded,
                note=attempt.note,
            )
        )
    return tuple(results)


async def _inside(backend: Backend, world: World, probes: Sequence[Probe]) -> dict[str, _Attempt]:
    """All in one sandbox, but for those that need one of their own."""
    made: dict[str, _Attempt] = {}
    is_watched = Barrier.DISK in (await backend.capabilities()).enforced
    patience = _PATIENCE if is_watched else 0.0
    together = [probe for probe in probes if not probe.alone]
    for batch in (together, *([probe] for probe in probes if probe.alone)):
        if batch:
            async with _sandbox(backend) as session:
                try:
                    made |= _judged(world, batch, await _run(session, world, batch, patience))
                except SandboxDiedError:
                    if len(batch) == 1:
                        made[batch[0].name] = _Attempt(succeeded=False, note="the sandbox was ended")
    return made


@contextlib.asynccontextmanager
async def _sandbox(backend: Backend) -> AsyncGenerator[Session]:
    name = f"probe-{uuid4().hex}"
    session = await backend.start(Place(sandbox_id=name, cargo_id=name, limits=LIMITS))
    try:
        yield session
    finally:
        await session.close()
        await backend.remove_cargo(name)


async def _run(session: Session, world: World, probes: Sequence[Probe], patience: float) -> bytes:
    attempts = _program(world, probes, sandboxed=True, patience=patience)
    command = Command(argv=_PYTHON, stdin=attempts, timeout=_SECONDS)
    outcome = await session.run(command)
    return outcome.stdout


async def _outside(world: World, probes: Sequence[Probe]) -> dict[str, _Attempt]:
    with tempfile.TemporaryDirectory(prefix="twin-", dir=world.folder) as folder:
        process = await asyncio.create_subprocess_exec(
            *_PYTHON,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "TMPDIR": folder},
        )
        try:
            async with asyncio.timeout(_SECONDS):
                output, _ = await process.communicate(_program(world, probes, sandboxed=False, patience=0.0))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return _judged(world, probes, output)


def _program(world: World, probes: Sequence[Probe], *, sandboxed: bool, patience: float) -> bytes:
    return program(json.dumps(world.told([probe.name for probe in probes], sandboxed=sandboxed, patience=patience)))


def _judged(world: World, probes: Sequence[Probe], output: bytes) -> dict[str, _Attempt]:
    """What attempts say of themselves, against what is known outside; they are not to be believed."""
    by_name = {probe.name: probe for probe in probes}
    judged: dict[str, _Attempt] = {}
    for line in output.splitlines():
        try:
            answer = json.loads(line)
            name, found, kept = str(answer["name"]), str(answer["found"]), str(answer["kept"])
        except (ValueError, KeyError, TypeError):
            continue
        if name in by_name:
            judged[name] = _judge(world, by_name[name], found, kept)
    return judged


def _judge(world: World, probe: Probe, found: str, kept: str) -> _Attempt:
    if probe.proof is Proof.SECRET:
        succeeded = world.secret in found
    elif probe.proof is Proof.FELT:
        succeeded = world.felt(probe.name)
    else:
        succeeded = bool(found)
    return _Attempt(succeeded=succeeded, note=(kept or found).replace(world.secret, "the secret")[:_NOTE])


def held(results: Collection[ProbeResult]) -> dict[Barrier, bool]:
    """For each barrier that was tried, whether every attempt on it was blocked."""
    barriers = {result.barrier for result in results}
    return {barrier: all(result.blocked for result in results if result.barrier is barrier) for barrier in barriers}
