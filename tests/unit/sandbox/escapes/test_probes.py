"""The probes themselves: each must be able to fail, so they are tried where nothing is contained."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from skillyard.sandbox.capabilities import BOUNDARY, Barrier
from skillyard.sandbox.escapes.probe_table import PROBES, QUICK, Probe, Proof, Reach
from skillyard.sandbox.escapes.probe_world import planted
from skillyard.sandbox.escapes.probes import _judged, _outside, prove
from skillyard.sandbox.local.unsafe import UnsafeBackend

pytestmark = pytest.mark.anyio
SECRET = Probe(name="read_secret", barrier=Barrier.FILES, what="", proof=Proof.SECRET)
FELT = Probe(name="write_file", barrier=Barrier.FILES, what="", proof=Proof.FELT)


def test_every_barrier_is_tried():
    assert {probe.barrier for probe in QUICK} == set(Barrier)


def test_every_probe_has_its_attempt_and_a_name_of_its_own():
    from skillyard.sandbox.escapes.run import _attempt

    assert len({probe.name for probe in PROBES}) == len(PROBES)
    assert all(callable(_attempt(probe.name)) for probe in PROBES)


@pytest.fixture
async def beside_what_is_planted():
    """A folder on the same file system: from elsewhere, files could be neither linked nor moved."""
    async with planted() as world:
        place = world.folder.parent
    with tempfile.TemporaryDirectory(prefix="skillyard-test-", dir=place) as folder:
        yield Path(folder)


async def test_where_nothing_is_contained_every_attempt_of_everyone_succeeds_inside_and_outside(beside_what_is_planted):
    tried = [probe for probe in QUICK if probe.reach is Reach.ANYONE and probe.barrier in BOUNDARY]
    backend = UnsafeBackend(beside_what_is_planted, enabled=True)
    results = await prove(backend, tried)
    await backend.close()
    # These are for what a machine has only once: outside of a sandbox, something planted stands for it.
    only_root = {"read_shadow", "write_system", "core_pattern", "sysrq", "kernel_settings", "metadata"}
    assert {result.name for result in results if result.blocked} <= only_root
    assert {result.name for result in results if not result.twin_succeeded} == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="the twins of some need root")
async def test_as_root_every_twin_succeeds():
    tried = [probe for probe in PROBES if probe.reach is not Reach.SYSTEM]
    async with planted() as world:
        made = await _outside(world, tried)
    assert {probe.name for probe in tried if not made[probe.name].succeeded} == set()


async def test_what_an_attempt_says_is_not_believed():
    async with planted() as world:
        claims = [{"name": name, "found": "I did it", "kept": ""} for name in ("read_secret", "write_file")]
        judged = _judged(world, [SECRET, FELT], "\n".join(map(json.dumps, claims)).encode())
        assert not judged["read_secret"].succeeded
        assert not judged["write_file"].succeeded
        proof = f'{{"name": "read_secret", "found": "{world.secret}", "kept": ""}}'.encode()
        (world.folder / "write_file").write_bytes(b"changed")
        assert _judged(world, [SECRET], proof)["read_secret"].succeeded
        assert world.secret not in _judged(world, [SECRET], proof)["read_secret"].note
        assert _judged(world, [FELT], b'{"name": "write_file", "found": "", "kept": "no"}')["write_file"].succeeded


async def test_nonsense_and_answers_of_others_are_left_out():
    async with planted() as world:
        said = b'nonsense\n[1]\n{"name": "read_secret"}\n{"name": "tcp", "found": "x", "kept": ""}\n\xff\xfe'
        assert _judged(world, [SECRET], said) == {}


async def test_an_attempt_that_was_not_made_counts_as_open(tmp_path):
    class Silent(UnsafeBackend):
        async def start(self, place):
            session = await super().start(place)
            session.run = self._nothing
            return session

        async def _nothing(self, _):
            class Nothing:
                stdout = b""

            return Nothing()

    backend = Silent(tmp_path, enabled=True)
    (result,) = await prove(backend, [SECRET])
    await backend.close()
    assert not result.blocked
    assert result.note == "was not made"
