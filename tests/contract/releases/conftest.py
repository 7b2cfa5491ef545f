"""Learned skills on each engine, with sandboxes that are plain processes and a clock that is moved by hand."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from skillyard.app.releases import release_rooms
from skillyard.app.sandboxes import sandbox_rooms
from skillyard.config.settings import Settings
from skillyard.jobs.service import Jobs
from skillyard.releases.candidate_spec import CandidateSpec
from skillyard.releases.policy import ReleasePolicy
from skillyard.releases.promotion import Promotion
from skillyard.releases.values import Stage
from skillyard.sandbox.executions import ExecType, Run
from skillyard.sandbox.local.unsafe import UnsafeBackend
from skillyard.sandbox.sandboxes import SandboxSpec

NOON = datetime(2026, 5, 20, 12, tzinfo=UTC)
GREETING = {
    "kind": "code",
    "variables": {"name": {"type": "string"}, "pin": {"type": "string", "secret": True}},
    "steps": [
        {"type": "shell", "cmd": "printf '%s' {{pin}} > pin; printf 'Hello, %s' {{name}} > greeting"},
        {"type": "shell", "cmd": "cat greeting", "postcondition": {"kind": "output_contains", "value": "{{name}}"}},
    ],
}


class Time:
    def __init__(self):
        self.now = NOON

    def __call__(self):
        self.now += timedelta(seconds=1)  # no two things happen at once
        return self.now


class Choice:
    def __init__(self, backend):
        self._backend = backend

    async def choose(self, requested, required):
        return self._backend


class Learning:
    """A person who learns: their executions, candidates and releases."""

    def __init__(self, world, folder, clock, policy):
        self.world = world
        self.yard = world.yard
        self.caller = world.editor
        self.clock = clock
        self.sandboxes = sandbox_rooms(
            self.yard.database,
            self.yard.blobs,
            Settings(home=folder),
            choosing=Choice(UnsafeBackend(folder, enabled=True)),
            clock=clock,
        )
        self.jobs = Jobs(self.yard.database)
        self.rooms = release_rooms(
            self.yard.database,
            self.yard.blobs,
            self.yard.history,
            self.yard.registry,
            self.sandboxes,
            self.jobs,
            policy=policy,
            clock=clock,
        )
        for name in ("payloads", "candidates", "mined", "evaluations", "releases", "active", "runs", "log"):
            setattr(self, name, getattr(self.rooms, name))
        self._sandbox = None

    async def sandbox(self):
        if self._sandbox is None:
            self._sandbox = await self.sandboxes.sandboxes.create(self.caller, SandboxSpec())
        return self._sandbox

    async def execution(self, code="print(1)", caller=None):
        """One that was written down; nothing is started for it."""
        run = Run(
            exec_type=ExecType.PYTHON,
            code=code,
            success=True,
            ending="exited",
            exit_code=None,
            seconds=0.1,
            output="1\n",
            error=None,
        )
        return (await self.sandboxes.log.add(await self.sandbox(), None, run)).id

    async def payload(self, document=None, kind="code"):
        return (await self.payloads.put(self.caller, document or GREETING, kind)).ref

    async def candidate(self, key="greet", *, document=None, **more):
        if "payload_ref" not in more:
            more["payload_ref"] = await self.payload(document)
        spec = CandidateSpec(skill_key=key, source_execution_ids=[await self.execution()], **more)
        return await self.candidates.create(self.caller, spec)

    async def passed(self, key="greet", **more):
        made = await self.candidate(key, **more)
        await self.evaluations.evaluate(self.caller, made.id, passed=True)
        return made

    async def released(self, key="greet", stage=Stage.STABLE, **more):
        made = await self.passed(key, **more)
        return await self.releases.promote(self.caller, made.id, Promotion(stage=stage))

    async def greeting(self, words):
        """A payload that greets otherwise, so that its digest is another."""
        steps = [{**step, "cmd": step["cmd"].replace("Hello", words)} for step in GREETING["steps"]]
        return {**GREETING, "steps": steps}

    async def skill(self, name):
        return await self.yard.registry.shelf.named(self.caller, name, self.caller.name)

    async def tags(self, name):
        versions = await self.yard.registry.versions.all(self.caller, (await self.skill(name)).id)
        return {tag: version.digest for version in versions for tag in version.tags}

    async def rows(self, kind):
        async with self.yard.database.read() as session:
            return [row for row in await session.scalars(select(kind)) if row.owner_id == self.caller.person_id]

    async def close(self):
        await self.jobs.close()
        await self.sandboxes.close()


@pytest.fixture
async def learning(world, tmp_path):
    """One who may do everything that the person may."""
    one = Learning(world, tmp_path, Time(), ReleasePolicy())
    yield one
    await one.close()


@pytest.fixture
async def strict(world, tmp_path):
    """The same, who may have two skills in use."""
    one = Learning(world, tmp_path, Time(), replace(ReleasePolicy(), active_cap=2))
    yield one
    await one.close()
