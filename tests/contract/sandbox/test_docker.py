"""What only the Docker backend has: containers that die with their server, volumes, and what a daemon can lack."""

import asyncio
import subprocess
import sys
import textwrap
import time

import pytest

from skillyard.errors import CapabilityError, UnavailableError
from skillyard.sandbox.capabilities import BOUNDARY, Ability, Barrier
from skillyard.sandbox.docker.backend import DockerBackend, DockerSettings
from skillyard.sandbox.escapes.probes import prove
from skillyard.sandbox.place import Limits, Mount, Place
from skillyard.sandbox.session import Command, Ending

pytestmark = pytest.mark.anyio

LIMITS = ["--net", "none", "--ulimit", "nofile=64:64", "--ulimit", "nproc=64:64"]


@pytest.fixture(autouse=True)
def _possible():
    """Once each, not once for every kind of sandbox: these tests make their own."""


def _backend(podman, yard):
    return DockerBackend(DockerSettings(host=podman.url, image=podman.image), yard=yard, proxy=lambda _: None)


@pytest.fixture
async def docker(podman, tmp_path):
    backend = _backend(podman, tmp_path.name)
    yield backend
    await backend.close()


@pytest.fixture
def by_hand(podman):
    """Runs podman on the same storage."""

    def run(*words):
        return subprocess.run([*podman.line, *words], check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def containers(by_hand, tmp_path):
    """The ids of the containers of this test's yard."""

    def listed():
        return by_hand("ps", "-aq", "--filter", f"label=skillyard.yard={tmp_path.name}").split()

    return listed


async def _gone(containers):
    async with asyncio.timeout(60):
        while await asyncio.to_thread(containers):
            pass


async def test_what_is_enforced_is_what_the_daemon_says_it_can_bound(docker):
    offered = await docker.capabilities()
    assert offered.trusted
    assert offered.enforced >= BOUNDARY | {Barrier.MEMORY, Barrier.PROCESS_COUNT, Barrier.FILE_SIZE}
    assert Barrier.DISK not in offered.enforced
    assert Ability.BROWSER not in offered.abilities


async def test_every_quick_escape_is_blocked_and_succeeds_outside(docker):
    results = await prove(docker)
    enforced = (await docker.capabilities()).enforced
    assert [result for result in results if result.barrier in enforced and not result.blocked] == []
    assert any(result.twin_succeeded for result in results)


async def test_a_killed_server_leaves_no_container(podman, tmp_path, containers):
    program = f"""
        import asyncio
        from skillyard.sandbox.docker.backend import DockerBackend, DockerSettings
        from skillyard.sandbox.place import Place
        from skillyard.sandbox.session import Command

        async def main():
            settings = DockerSettings(host={podman.url!r}, image={podman.image!r})
            backend = DockerBackend(settings, yard={tmp_path.name!r}, proxy=lambda _: None)
            session = await backend.start(Place(sandbox_id="s", cargo_id="c"))
            await session.write_file("kept", b"x")
            print("runs", flush=True)
            await session.run(Command(argv=["sleep", "1000"], timeout=1000))

        asyncio.run(main())
    """
    line = [sys.executable, "-c", textwrap.dedent(program)]
    server = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    assert await server.stdout.readline() == b"runs\n"
    assert len(containers()) == 1
    server.kill()
    await server.wait()
    await _gone(containers)
    backend = _backend(podman, tmp_path.name)
    session = await backend.start(Place(sandbox_id="s", cargo_id="c"))
    assert await session.read_file("kept") == b"x"
    await backend.close()
    await backend.remove_cargo("c")


async def test_a_container_that_was_never_started_gives_way_or_is_swept(docker, podman, tmp_path, containers, by_hand):
    for name in ("again", "forgotten"):
        labels = ["--label", f"skillyard.yard={tmp_path.name}", "--label", f"skillyard.sandbox={name}"]
        by_hand("create", *LIMITS, *labels, "--name", f"skillyard-{tmp_path.name}-{name}", podman.image, "true")
    session = await docker.start(Place(sandbox_id="again", cargo_id="again"))
    assert (await session.run(Command(argv=["true"]))).success
    assert len(containers()) == 2
    assert await docker.sweep(["again"]) == 1
    assert session.alive
    assert len(containers()) == 1
    await session.close()
    await docker.remove_cargo("again")
    assert containers() == []


async def test_a_start_that_is_given_up_leaves_no_container(docker, containers):
    starting = asyncio.create_task(docker.start(Place(sandbox_id="s", cargo_id="c")))
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await docker.close()
    await _gone(containers)
    await docker.remove_cargo("c")


async def test_a_volume_that_belongs_to_root_is_taken_over(docker, podman, tmp_path, by_hand):
    volume = f"skillyard-{tmp_path.name}-roots"
    by_hand("run", "--rm", *LIMITS, "-v", f"{volume}:/workspace", podman.image, "chown", "0:0", "/workspace")
    session = await docker.start(Place(sandbox_id="s", cargo_id="roots"))
    await session.write_file("mine", b"x")
    await session.close()
    await docker.remove_cargo("roots")


async def test_inside_nobody_is_root_and_nothing_but_the_workspace_and_tmp_can_be_written(docker):
    session = await docker.start(Place(sandbox_id="s", cargo_id="c"))
    seen = await session.run(Command(argv=["sh", "-c", "id -u; id -G; cat /proc/self/status; ls /sys/class/net"]))
    lines = seen.stdout.decode().splitlines()
    assert int(lines[0]) >= 10_000
    assert lines[1] == lines[0]
    assert "CapBnd:\t0000000000000000" in lines
    assert "NoNewPrivs:\t1" in lines
    assert "Seccomp:\t2" in lines
    assert lines[-1] == "lo"
    writes = "for d in / /usr /etc /run /var /workspace /tmp; do touch $d/x 2>/dev/null && echo $d; done"
    written = (await session.run(Command(argv=["sh", "-c", writes]))).stdout.decode().split()
    assert set(written) - {"/run"} == {"/workspace", "/tmp"}  # podman has a /run in memory, Docker has none
    await session.close()
    await docker.remove_cargo("c")


async def test_memory_and_processes_are_bounded_for_all_together(docker):
    limits = Limits(memory_bytes=96 << 20, processes=20)
    session = await docker.start(Place(sandbox_id="s", cargo_id="c", limits=limits))
    bomb = "import os\ndata = []\nwhile True:\n    data.append(b'x' * (1 << 20))"
    outcome = await session.run(Command(argv=["python3", "-c", bomb]))
    assert outcome.ending is not Ending.TIMEOUT
    assert not outcome.success
    forks = "i=0; while [ $i -lt 60 ]; do sleep 30 & i=$((i+1)); done 2>&1; echo $(ls -d /proc/[0-9]* | wc -l)"
    outcome = await session.run(Command(argv=["sh", "-c", forks], timeout=10))
    assert b"60" not in outcome.stdout.split()[-1:]
    assert (await session.run(Command(argv=["true"]))).success
    await session.close()
    await docker.remove_cargo("c")


async def test_folders_are_mounted_from_this_machine_and_refused_for_another(docker, tmp_path, podman):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "file").write_text("seen")
    tmp_path.chmod(0o755)
    place = Place(sandbox_id="s", cargo_id="c", mounts=(Mount(source=tmp_path / "data", target="/mnt/data"),))
    session = await docker.start(place)
    look = await session.run(Command(argv=["sh", "-c", "cat /mnt/data/file; touch /mnt/data/new"]))
    assert look.stdout == b"seen"
    assert not look.success
    await session.close()
    await docker.remove_cargo("c")
    remote = DockerBackend(DockerSettings(host="tcp://127.0.0.1:1"), yard="y", proxy=lambda _: None)
    with pytest.raises(CapabilityError, match="cannot be mounted"):
        await remote.start(place)


async def test_a_missing_image_and_a_missing_daemon_say_what_to_do(podman):
    backend = DockerBackend(DockerSettings(host=podman.url, image="localhost/none"), yard="y", proxy=lambda _: None)
    offered = await backend.capabilities()
    assert not offered.available
    assert offered.fix == "docker pull localhost/none"
    with pytest.raises(UnavailableError, match="has no image 'localhost/none'"):
        await backend.start(Place(sandbox_id="s", cargo_id="c"))
    await backend.remove_cargo("c")
    await backend.close()
    nowhere = DockerBackend(DockerSettings(host="unix:///nowhere.sock"), yard="y", proxy=lambda _: None)
    offered = await nowhere.capabilities()
    assert not offered.available
    assert "DOCKER_HOST" in offered.fix


async def test_a_container_that_is_killed_ends_its_sandbox(docker, containers, by_hand):
    session = await docker.start(Place(sandbox_id="s", cargo_id="c"))
    began = time.monotonic()
    running = asyncio.create_task(session.run(Command(argv=["sleep", "1000"], timeout=1000)))
    await session.stats()
    by_hand("kill", *containers())
    with pytest.raises(UnavailableError):
        await running
    assert not session.alive
    assert time.monotonic() - began < 20
    await _gone(containers)
    await docker.remove_cargo("c")
