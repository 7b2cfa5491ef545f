"""What a container is made of: the isolation of the Docker backend, as the Docker API takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from skillyard.sandbox.docker import bootstrap
from skillyard.sandbox.place import MIB, WORKSPACE, Limits, Mount

SANDBOX: Final = "skillyard.sandbox"
"""The label that names the sandbox of a container."""
YARD: Final = "skillyard.yard"
"""The label that names the yard to which containers and volumes belong: what others made is never touched."""
CARGO: Final = "skillyard.cargo"
UID: Final = "skillyard.uid"
"""The label of a volume that names the user to whom its files belong."""

HOME: Final = "skillyard.home"
"""The label of the volume that names where the volumes of a yard are."""

_FIRST_UID: Final = 10_000
_UIDS: Final = 50_000
"""Up to here a rootless daemon, which has 65,536 users, has them too."""

_OVERHEAD_PROCESSES: Final = 8
"""The guest and what it needs for itself come on top of what a sandbox may run."""

_GUEST_OPEN_FILES: Final = 256
_GUEST_FILE_BYTES: Final = 16 * MIB
"""What the guest itself needs; for what it starts it sets the bounds of the place, where they are tighter."""

_USUAL: Final = Limits()

_TAKE_OVER: Final = f"import os, sys; os.chown({WORKSPACE!r}, int(sys.argv[1]), int(sys.argv[1]))"

COPIED, TOO_LARGE, NOT_OURS = 0, 64, 65
"""How copying a cargo can end."""
_SOURCE: Final = "/source"

_COPY: Final = f"""
import os, shutil, stat, sys
if not os.access({WORKSPACE!r}, os.W_OK | os.X_OK):
    sys.exit({NOT_OURS})
total = 0
odd = set()
for folder, folders, files in os.walk({_SOURCE!r}):
    for name in files:
        path = os.path.join(folder, name)
        state = os.lstat(path)
        total += state.st_size
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode)):
            odd.add(path)
if total > int(sys.argv[1]):
    sys.exit({TOO_LARGE})
def left_out(folder, names):
    return [name for name in names if os.path.join(folder, name) in odd]
shutil.copytree({_SOURCE!r}, {WORKSPACE!r}, symlinks=True, ignore=left_out, dirs_exist_ok=True)
"""


def uid_of(cargo_id: str) -> int:
    """The unprivileged user of a cargo: nearly always its own, and the same on every start."""
    return _FIRST_UID + crc32(cargo_id.encode()) % _UIDS


@dataclass(frozen=True, kw_only=True)
class ContainerSpec:
    """What differs between containers; what keeps them in is the same for all."""

    image: str
    volume: str
    uid: int
    labels: Mapping[str, str]
    limits: Limits = _USUAL
    cpus: float = 1.0
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    mounts: Sequence[Mount] = ()


def sandbox_config(spec: ContainerSpec, guest: Sequence[str]) -> dict[str, Any]:
    """A container whose main process is the guest on the attached stream: it ends when the stream does.

    The root is read-only, so nothing can be put there beforehand: the guest comes through the stream,
    and is then started with this command.
    """
    config = _config(spec, [_bootstrap(), WORKSPACE, *guest])
    config |= {
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Env": [f"{name}={value}" for name, value in {"HOME": WORKSPACE, **spec.environment}.items()],
    }
    config["HostConfig"] |= {
        "AutoRemove": True,
        "Tmpfs": {
            "/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={spec.limits.tmp_bytes}",  # noqa: S108 - inside
            "/run/skillyard": f"rw,nosuid,nodev,mode=1777,size={8 * MIB}",
        },
    }
    config["HostConfig"]["Mounts"] += [
        {"Type": "bind", "Source": str(mount.source), "Target": mount.target, "ReadOnly": not mount.writable}
        for mount in spec.mounts
    ]
    return config


def take_over_config(spec: ContainerSpec) -> dict[str, Any]:
    """A container that gives a new volume to its user, which is all that it can do; it runs nothing else."""
    config = _config(spec, [_TAKE_OVER, str(spec.uid)])
    config["User"] = "0:0"
    config["HostConfig"]["CapAdd"] = ["CHOWN"]
    return config


def copy_config(spec: ContainerSpec, source: str, *, max_bytes: int) -> dict[str, Any]:
    """A container that copies one volume into another, as the user of both; links are copied, not followed."""
    config = _config(spec, [_COPY, str(max_bytes)])
    config["HostConfig"]["Mounts"].append({**_volume(source, _SOURCE), "ReadOnly": True})
    return config


@cache
def _bootstrap() -> str:
    return Path(bootstrap.__file__).read_text(encoding="utf-8")


def _config(spec: ContainerSpec, code: Sequence[str]) -> dict[str, Any]:
    limits = spec.limits
    return {
        "Image": spec.image,
        "Entrypoint": ["python3", "-I", "-c", *code],
        "Cmd": [],
        "User": f"{spec.uid}:{spec.uid}",
        "WorkingDir": WORKSPACE,
        "Labels": dict(spec.labels),
        "StopTimeout": 0,
        "NetworkDisabled": True,
        "HostConfig": {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            # An init of the daemon's would have the stream, and its memory could be written to from inside.
            "Init": False,
            "IpcMode": "private",
            "ShmSize": limits.tmp_bytes,
            "PidsLimit": limits.processes + _OVERHEAD_PROCESSES,
            "Memory": limits.memory_bytes,
            "MemorySwap": limits.memory_bytes,
            "NanoCpus": int(spec.cpus * 1_000_000_000),
            "Ulimits": [
                _ulimit("nofile", max(limits.open_files, _GUEST_OPEN_FILES)),
                _ulimit("nproc", limits.processes + _OVERHEAD_PROCESSES),
                _ulimit("fsize", max(limits.file_bytes, _GUEST_FILE_BYTES)),
                _ulimit("core", 0),
            ],
            # The stream carries everything that is read and written inside, secrets too: it must not be logged.
            "LogConfig": {"Type": "none"},
            "Mounts": [_volume(spec.volume, WORKSPACE)],
        },
    }


def _volume(name: str, target: str) -> dict[str, Any]:
    return {"Type": "volume", "Source": name, "Target": target, "VolumeOptions": {"NoCopy": True}}


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}
