"""What the benchmarks of sandboxes share: the backends of this machine, bare lines of bubblewrap, a Docker API."""

import os
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from skillyard.sandbox.backend import Backend
from skillyard.sandbox.docker.backend import DockerBackend, DockerSettings
from skillyard.sandbox.local.bwrap import BwrapBackend
from skillyard.sandbox.local.bwrap_options import Contents, bwrap_options
from skillyard.sandbox.local.cgroups import Cgroups
from skillyard.sandbox.local.inside import environment
from skillyard.sandbox.local.landlock import LandlockBackend
from skillyard.sandbox.local.launch import Descriptors
from skillyard.sandbox.local.seccomp import NAMESPACED, assemble
from skillyard.sandbox.local.syscalls import this_architecture
from skillyard.sandbox.local.uids import DEFAULT_UIDS, Users
from skillyard.sandbox.place import Limits, Place

YARD = "bench"
_MEMORY = "/dev/shm"
_ENOUGH = 2 * 1024**3
_TESTS = Path(__file__).parents[1] / "tests"


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where all of it is measured."""

    folder: Path
    """In memory, where there is such a place."""
    disk: Path
    backends: dict[str, Backend]
    podman: Any = None
    """The service of `tests/podman.py`, where podman can be used."""
    cli: Sequence[str] = ()
    """The beginning of a line of podman; the one of `docker` does not understand its streams."""
    absent: dict[str, str] = field(default_factory=dict)
    """Backends that cannot be had here, and why."""


def place(name: str, **more: Any) -> Place:  # noqa: ANN401 -- fields of a place
    return Place(sandbox_id=f"sandbox-{name}", cargo_id=f"cargo-{name}", **more)


def memory() -> str | None:
    """A file system in memory where programs can be run; none: what temporary files are usually on."""
    state = os.statvfs(_MEMORY) if os.access(_MEMORY, os.W_OK) else None
    fit = state and not state.f_flag & os.ST_NOEXEC and state.f_bavail * state.f_frsize > _ENOUGH
    return _MEMORY if fit else None


@contextmanager
def podman_service() -> Generator[tuple[Any, str]]:
    """A Docker API with an image of this machine's files, as the tests have it; else why there is none."""
    spec = spec_from_file_location("podman", _TESTS / "podman.py")
    if spec is None or spec.loader is None:
        yield None, "tests/podman.py is not there"
        return
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if reason := module.missing():
        yield None, reason
        return
    usual, tempfile.tempdir = tempfile.tempdir, memory()
    try:
        with module.podman_service() as service:
            tempfile.tempdir = usual
            yield service, ""
    finally:
        tempfile.tempdir = usual


@asynccontextmanager
async def open_ground(folder: Path, disk: Path) -> AsyncGenerator[Ground]:
    users, absent = Users.of(DEFAULT_UIDS), dict[str, str]()
    with podman_service() as (podman, reason):
        made: list[Backend] = [
            BwrapBackend(folder / "bwrap", users=users, cgroups=Cgroups.here(), proxy=lambda _: None),
            LandlockBackend(folder / "landlock", users=users, cgroups=Cgroups.here()),
        ]
        cli: Sequence[str] = ()
        if podman is None:
            absent["docker"] = reason
        else:
            settings = DockerSettings(host=podman.url, image=podman.image)
            made.append(DockerBackend(settings, yard=YARD, proxy=lambda _: None))
            cli = podman.line
        backends: dict[str, Backend] = {}
        for backend in made:
            offered = await backend.capabilities()
            if offered.available:
                backends[backend.name] = backend
            else:
                absent[backend.name] = offered.reason
        try:
            yield Ground(folder=folder, disk=disk, backends=backends, podman=podman, cli=cli, absent=absent)
        finally:
            for backend in made:
                await backend.close()


class BareLines:
    """Programs started by hand: as they are, by a short line of bubblewrap, and by one that holds as ours does."""

    def __init__(self, folder: Path) -> None:
        self._workspace = folder / "bare"
        self._workspace.mkdir(mode=0o777, parents=True)
        self._workspace.chmod(0o777)
        for above in (folder, folder.parent):
            above.chmod(0o711)  # the user of the hardened line has to get there
        self._descriptors = Descriptors()
        self._seccomp = self._descriptors.add(assemble(NAMESPACED, this_architecture()))

    def process(self, *argv: str) -> None:
        subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, capture_output=True)

    def short(self, *argv: str) -> None:
        """The least that has namespaces of its own and sees the system's programs."""
        links = [(os.readlink(path), path) for path in ("/bin", "/lib", "/lib64") if os.path.islink(path)]  # noqa: PTH114, PTH115
        line = [
            *("bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"),
            *(part for target, path in links for part in ("--symlink", target, path)),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *("--bind", str(self._workspace), "/workspace", "--chdir", "/workspace", "--"),
        ]
        self.process(*line, *argv)

    def hardened(self, *argv: str) -> None:
        """The same isolation as a sandbox has: a user of its own, limits, no rights, a filter of system calls."""
        contents = Contents(
            workspace=str(self._workspace),
            files={},
            environment=environment("/workspace", "/tmp", {}),
            limits=Limits(),
            seccomp=self._seccomp,
        )
        uid = str(DEFAULT_UIDS.stop - 1)
        become = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs"]
        bounds = ["prlimit", "--core=0", "--nofile=1024", "--fsize=536870912", "--cpu=600"]
        os.lseek(self._seccomp, 0, os.SEEK_SET)
        line = [*(become if os.geteuid() == 0 else ()), *bounds, "bwrap", *bwrap_options(contents), "--"]
        subprocess.run(
            [*line, *argv], check=True, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=[self._seccomp]
        )

    def close(self) -> None:
        self._descriptors.__exit__()
