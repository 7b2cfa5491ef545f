"""A Docker API for tests: podman's, with an image made of this machine's own files, so that nothing is downloaded."""

import contextlib
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

IMAGE = "localhost/skillyard-test"
NEEDED = ("podman", "runc", "ldd", "python3")
PROGRAMS = (
    *("sh", "bash", "env", "id", "cat", "ls", "cp", "mv", "rm", "rmdir", "ln", "mkdir", "mkfifo", "mknod"),
    *("mktemp", "chmod", "chown", "touch", "truncate", "tee", "readlink", "realpath", "basename", "dirname"),
    *("echo", "printf", "expr", "true", "false", "test", "head", "tail", "wc", "sort", "uniq", "split", "seq"),
    *("yes", "tr", "cut", "od", "xargs", "find", "grep", "sed", "awk", "cmp", "diff", "dd", "df", "du", "stat"),
    *("sync", "sleep", "timeout", "kill", "nice", "nohup", "setsid", "nproc", "uname", "hostname", "whoami"),
    *("date", "tar", "gzip", "base64", "sha256sum", "md5sum", "ps", "mount", "umount", "unshare", "setpriv"),
)
NO_STDLIB = {"test", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip", "pydoc_data", "dist-packages"}
START_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Podman:
    """A running service: where it listens, and which image it has."""

    socket: Path
    image: str
    line: Sequence[str]
    """The beginning of a podman command on the same storage."""

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"


def missing() -> str:
    """Why podman cannot be used here; empty when it can."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (apt install podman runc)"
    return "" if os.geteuid() == 0 else "podman with runc needs root here"


@contextlib.contextmanager
def podman_service() -> Iterator[Podman]:
    """Starts the service in a folder of its own, and leaves nothing behind."""
    home = Path(tempfile.mkdtemp(prefix="skillyard-podman-"))
    line = [
        *("podman", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "none"),
        *("--root", str(home / "root"), "--runroot", str(home / "run"), "--tmpdir", str(home / "tmp")),
    ]
    listening = home / "podman.sock"
    try:
        _write_image(home / "image.tar")
        change = ["--change", "WORKDIR /"]
        subprocess.run([*line, "import", "-q", *change, home / "image.tar", IMAGE], check=True, capture_output=True)
        (home / "image.tar").unlink()
        with (home / "log").open("wb") as log:
            # There, because the monitor of a container that runs out of memory leaves a file where it was started.
            service = subprocess.Popen(
                [*line, "system", "service", "--time", "0", f"unix://{listening}"], stdout=log, stderr=log, cwd=home
            )
        try:
            _await(listening, service, home / "log")
            yield Podman(socket=listening, image=IMAGE, line=line)
        finally:
            subprocess.run([*line, "rm", "-af", "-t", "0"], check=False, capture_output=True)
            service.terminate()
            service.wait()
    finally:
        _remove(home)


def _await(listening: Path, service: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and service.poll() is None:
        with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
            client.connect(str(listening))
            return
        time.sleep(0.02)
    raise RuntimeError(f"podman does not start: {log.read_text()}")


def _remove(home: Path) -> None:
    """Remove it all; what podman left running to clean up after containers may still come in between."""
    deadline = time.monotonic() + START_SECONDS
    while home.exists() and time.monotonic() < deadline:
        _unmount_below(home)
        shutil.rmtree(home, ignore_errors=True)


def _unmount_below(folder: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for mount in sorted((mount for mount in mounts if mount.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], check=False)


def _write_image(archive: Path) -> None:
    python = Path(shutil.which("python3", path="/usr/bin:/usr/local/bin") or "python3").resolve()
    asked = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    stdlib = Path(subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True).stdout.strip())
    programs = [path for name in PROGRAMS if (path := shutil.which(name))]
    libraries = _libraries([str(python), *programs, *map(str, (stdlib / "lib-dynload").glob("*.so"))])
    with tarfile.open(archive, "w") as tar:
        for path in sorted({str(python), *programs, *libraries}):
            tar.add(os.path.realpath(path), arcname=path.lstrip("/"))
        tar.add(stdlib, filter=_wanted)
        for name, target in {"usr/bin/python3": str(python), "bin/sh": shutil.which("sh") or ""}.items():
            if f"/{name}" not in {str(python), target}:
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, target
                tar.addfile(link)


def _libraries(files: Sequence[str]) -> set[str]:
    listed = subprocess.run(["ldd", *files], check=False, capture_output=True, text=True).stdout
    return {word for line in listed.splitlines() for word in line.split() if word[0] == "/" and word[-1] != ":"}


def _wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    parts = set(Path(entry.name).parts)
    return None if parts & NO_STDLIB or any(part.startswith("config-") for part in parts) else entry
