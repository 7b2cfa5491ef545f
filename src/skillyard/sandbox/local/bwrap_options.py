"""The options of bubblewrap for one sandbox: what it sees, and nothing else."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skillyard.sandbox.local.inside import CONFIGURATION, INNER_UID, MERGED, SYSTEM
from skillyard.sandbox.place import WORKSPACE, Limits

GUEST: Final = "/opt/skillyard/guest.zip"

_NAMESPACES: Final = (
    "--unshare-user",
    "--unshare-pid",
    "--as-pid-1",  # or a process of bubblewrap stays inside, which has the stream, and whose memory can be written to
    "--unshare-ipc",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",
)
_MASKED_FILES: Final = ("/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/kallsyms")
_MASKED_FILES_TOO: Final = ("/proc/sched_debug", "/proc/timer_list", "/proc/latency_stats", "/proc/sysrq-trigger")
_MASKED_FOLDERS: Final = ("/proc/acpi", "/proc/asound", "/proc/bus", "/proc/driver", "/proc/fs", "/proc/irq")
_MASKED_FOLDERS_TOO: Final = ("/proc/scsi", "/proc/tty")


@dataclass(frozen=True, kw_only=True)
class Bind:
    """Something of the host that is seen inside; the source is a path that the sandbox's user can reach."""

    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What one sandbox has inside beside the system."""

    workspace: str
    """Where it is on the host, for the sandbox's user."""
    binds: Sequence[Bind] = ()
    files: Mapping[str, int]
    """Paths of small files inside, and the descriptors with their contents."""
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    """Paths inside, and where each leads."""
    environment: Mapping[str, str]
    limits: Limits
    seccomp: int
    """The descriptor of the filter."""


def bwrap_options(contents: Contents) -> tuple[str, ...]:
    """Every option, so that a program starts in the workspace."""
    return (
        *_NAMESPACES,
        *("--uid", str(INNER_UID), "--gid", str(INNER_UID), "--hostname", "sandbox"),
        *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"),
        *_environment(contents.environment),
        *_system(),
        *_kernel(contents.limits),
        *_files(contents),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", WORKSPACE, "--seccomp", str(contents.seccomp)),
    )


def _environment(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        yield from ("--setenv", name, value)


def _system() -> Iterator[str]:
    yield from ("--ro-bind", SYSTEM, SYSTEM)
    for folder in MERGED:
        path = Path(folder)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), folder)  # noqa: PTH115 -- the text of the link
        elif path.is_dir():
            yield from ("--ro-bind", folder, folder)
    for path in CONFIGURATION:
        yield from ("--ro-bind-try", path, path)


def _kernel(limits: Limits) -> Iterator[str]:
    """`/proc` and `/dev` of its own, without the parts that concern the whole machine."""
    yield from ("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys")
    for path in (*_MASKED_FILES, *_MASKED_FILES_TOO):
        if Path(path).exists():
            yield from ("--ro-bind", "/dev/null", path)
    for path in (*_MASKED_FOLDERS, *_MASKED_FOLDERS_TOO):
        if Path(path).is_dir():
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", path, "--remount-ro", path)
    yield from ("--dev", "/dev")
    for path in ("/dev/shm", "/tmp"):  # noqa: S108 -- inside
        yield from ("--perms", "1777", "--size", str(limits.tmp_bytes), "--tmpfs", path)
    yield from ("--symlink", "/tmp", "/var/tmp", "--dir", "/run")  # noqa: S108 -- inside


def _files(contents: Contents) -> Iterator[str]:
    for path, descriptor in contents.files.items():
        yield from ("--perms", "0444", "--ro-bind-data", str(descriptor), path)
    yield from ("--bind", contents.workspace, WORKSPACE)
    for bind in contents.binds:
        yield from ("--bind" if bind.writable else "--ro-bind", bind.source, bind.target)
    for path, target in contents.links.items():
        yield from ("--symlink", target, path)
