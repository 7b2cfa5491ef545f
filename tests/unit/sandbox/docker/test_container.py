from dataclasses import replace
from pathlib import Path

import pytest

from skillyard.sandbox.docker.container import (
    ContainerSpec,
    copy_config,
    sandbox_config,
    take_over_config,
    uid_of,
)
from skillyard.sandbox.place import Limits, Mount

SPEC = ContainerSpec(
    image="python:3",
    volume="cargo",
    uid=12345,
    labels={"skillyard.sandbox": "s1"},
    limits=Limits(memory_bytes=100, processes=5, open_files=2000, file_bytes=3 << 24, tmp_bytes=40),
    cpus=0.5,
    environment={"A": "1"},
    mounts=[Mount(source=Path("/data"), target="/mnt"), Mount(source=Path("/w"), target="/w", writable=True)],
)
CONFIGS = {
    "sandbox": sandbox_config(SPEC, ["python3", "guest"]),
    "take over": take_over_config(SPEC),
    "copy": copy_config(SPEC, "other", max_bytes=1000),
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_every_container_is_kept_in(config):
    host = config["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"]
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["Memory"] == host["MemorySwap"] == 100
    assert host["PidsLimit"] == 13
    assert host["NanoCpus"] == 500_000_000
    assert host["LogConfig"] == {"Type": "none"}
    limits = {limit["Name"]: (limit["Soft"], limit["Hard"]) for limit in host["Ulimits"]}
    assert limits == {"nofile": (2000, 2000), "nproc": (13, 13), "fsize": (3 << 24, 3 << 24), "core": (0, 0)}


def test_bounds_that_are_too_tight_for_the_guest_itself_are_left_to_it():
    spec = replace(SPEC, limits=Limits(open_files=3, file_bytes=10))
    limits = {limit["Name"]: limit["Hard"] for limit in sandbox_config(spec, [])["HostConfig"]["Ulimits"]}
    assert limits["nofile"] == 256
    assert limits["fsize"] == 1 << 24


def test_only_the_one_that_gives_a_volume_away_is_root_and_can_do_nothing_else():
    users = {name: config["User"] for name, config in CONFIGS.items()}
    assert users == {"sandbox": "12345:12345", "take over": "0:0", "copy": "12345:12345"}
    rights = {name: config["HostConfig"].get("CapAdd") for name, config in CONFIGS.items()}
    assert rights == {"sandbox": None, "take over": ["CHOWN"], "copy": None}
    assert [mount["Source"] for mount in CONFIGS["take over"]["HostConfig"]["Mounts"]] == ["cargo"]


def test_a_sandbox_ends_with_its_stream_and_leaves_no_container():
    config = CONFIGS["sandbox"]
    assert config["OpenStdin"]
    assert config["StdinOnce"]
    assert config["HostConfig"]["AutoRemove"]


def test_mounts_are_read_only_unless_said_otherwise():
    mounts = {mount["Target"]: mount.get("ReadOnly") for mount in CONFIGS["sandbox"]["HostConfig"]["Mounts"]}
    assert mounts == {"/workspace": None, "/mnt": True, "/w": False}
    copied = {mount["Target"]: mount.get("ReadOnly") for mount in CONFIGS["copy"]["HostConfig"]["Mounts"]}
    assert copied == {"/workspace": None, "/source": True}


def test_each_cargo_has_an_unprivileged_user_of_its_own_that_every_daemon_has():
    uids = [uid_of(f"cargo-{number}") for number in range(500)]
    assert min(uids) >= 10_000
    assert max(uids) < 60_000
    assert len(set(uids)) > 490
    assert uids == [uid_of(f"cargo-{number}") for number in range(500)]
