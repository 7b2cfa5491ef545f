import os
from pathlib import Path

import pytest

from skillyard.errors import CapabilityError
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Barrier
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.inside import Python
from skillyard.sandbox.local.landlock import LandlockBackend
from skillyard.sandbox.local.landlock_rules import Landlock, landlock_here
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.network import Endpoint, NetworkPolicy
from skillyard.sandbox.place import Mount, Place

pytestmark = pytest.mark.anyio
ROOT = os.geteuid() == 0
needs_landlock = pytest.mark.skipif(not landlock_here().version, reason="this kernel has no Landlock")


@pytest.fixture
def make(tmp_path):
    def make(version=None, users=None):
        landlock = landlock_here() if version is None else Landlock(version=version)
        return LandlockBackend(tmp_path, users=users or Users.of(DEFAULT_UIDS), cgroups=Cgroups(()), landlock=landlock)

    return make


@needs_landlock
async def test_a_new_kernel_contains_all_that_makes_a_boundary(make):
    if landlock_here().version < 6:
        pytest.skip("this kernel is older")
    offered = await make().capabilities()
    assert offered.enforced >= BOUNDARY
    assert offered.trusted
    assert Ability.NETWORK not in offered.abilities
    assert Ability.BROWSER not in offered.abilities


@needs_landlock
@pytest.mark.parametrize(("version", "missing"), [(1, Barrier.FILES), (2, Barrier.FILES)])
async def test_what_an_old_kernel_lets_through_is_said_and_it_is_not_chosen(make, version, missing):
    offered = await make(version).capabilities()
    assert offered.available
    assert missing not in offered.enforced
    assert f"Landlock {version}" in offered.reason
    assert not offered.trusted


@needs_landlock
@pytest.mark.skipif(ROOT, reason="each sandbox of root is a user of its own")
@pytest.mark.parametrize("version", [3, 4, 5])
async def test_signals_to_ones_own_processes_need_a_newer_kernel(make, version):
    offered = await make(version).capabilities()
    assert Barrier.PROCESSES not in offered.enforced
    assert not offered.trusted


async def test_without_landlock_it_cannot_be_used(make):
    offered = await make(0).capabilities()
    assert not offered.available
    assert "lsm=" in offered.fix


async def test_without_a_python_for_everyone_it_cannot_be_used(make, monkeypatch):
    monkeypatch.setattr(Python, "of_system", lambda: None)
    offered = await make(7).capabilities()
    assert not offered.available
    assert "python3" in offered.fix


@needs_landlock
@pytest.mark.parametrize(
    "fields",
    [
        {"network": NetworkPolicy(allow=(Endpoint(scheme="http", host="a", port=80),))},
        {"mounts": (Mount(source=Path("/usr"), target="/data"),)},
    ],
)
async def test_what_it_cannot_do_is_refused_before_anything_starts(make, fields, tmp_path):
    with pytest.raises(CapabilityError):
        await make().start(Place(sandbox_id="s", cargo_id="c", **fields))
    assert not list((tmp_path / "runtime").iterdir())
